# SPDX-License-Identifier: Apache-2.0
"""How panels of this project look: one function a kind, so that every dashboard looks alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, TypeVar

from grafana_foundation_sdk.builders import (
    common,
    dashboard,
    prometheus,
    stat,
    statetimeline,
    statushistory,
    timeseries,
)
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, VisibilityMode
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
TWIN = 'twin=~"$twin"'
NODE = 'twin=~"$twin", node=~"$node"'
PORT = 'twin=~"$twin", node=~"$node", port=~"$port"'
PER_PORT = "{{node}}/{{port}} to {{peer}}"
PORT_PAGE = (
    "/d/fabrictwin-port?${datasource:queryparam}&${twin:queryparam}"
    "&var-node=${__field.labels.node}&var-port=${__field.labels.port}&${__url_time_range}"
)
"""Where a click on a series of a port leads."""

Limits = Sequence[tuple[float, str]]
"""(value, colour from there on); below the first it is green."""
Queries = Sequence[tuple[str, str]]
"""(PromQL, legend) each."""
Texts = Mapping[int, tuple[str, str]]
"""(text, colour) of a value."""

_Panel = TypeVar("_Panel", bound=Any)


def named(series: str, which: str = NODE) -> str:
    """Series of ports with the names of node and peer; only those of the nodes, or ports, looked at."""
    names = f"fabrictwin_port_info{{{which}}}"
    return f"({series} * on (job, instance, guid, port) group_left (node, peer, peer_port) {names})"


def number(title: str, unit: str, expression: str, description: str, limits: Limits = ()) -> stat.Panel:
    """One number, the last one, over its course."""
    panel = stat.Panel().span(4).height(4)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    return _finish(panel, title, unit, ((expression, ""),), description, limits)


def course(
    title: str, unit: str, queries: Queries, description: str, limits: Limits = (), link: str = ""
) -> timeseries.Panel:
    """Lines over time, and where a click on one leads."""
    panel = (
        timeseries.Panel()
        .min(0)
        .span(12)
        .height(8)
        .line_width(1)
        .fill_opacity(8)
        .legend(
            common.VizLegendOptions()
            .display_mode(LegendDisplayMode.TABLE)
            .placement(LegendPlacement.RIGHT)
            .show_legend(True)
            .calcs(["lastNotNull", "max"])
        )
    )
    if link:
        panel = panel.data_links([dashboard.DashboardLink("Look at ${__field.displayName}").url(link)])
    return _finish(panel, title, unit, queries, description, limits)


def states(title: str, queries: Queries, description: str, texts: Texts) -> statetimeline.Panel:
    """A bar for each series, which shows when it was in which state."""
    panel = (
        statetimeline.Panel()
        .span(24)
        .height(6)
        .merge_values(True)
        .show_value(VisibilityMode.NEVER)
        .mappings([ValueMap({str(value): ValueMappingResult(*text) for value, text in texts.items()})])
    )
    return _finish(panel, title, "short", queries, description, ())


def heat(title: str, unit: str, queries: Queries, description: str) -> statushistory.Panel:
    """A row of cells for each series, the redder the larger the value."""
    panel = (
        statushistory.Panel()
        .span(24)
        .height(9)
        .show_value(VisibilityMode.NEVER)
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.CONTINUOUS_GR_YL_RD))
        .min(0)
    )
    return _finish(panel, title, unit, queries, description, ())


def _finish(
    panel: _Panel, title: str, unit: str, queries: Queries, description: str, limits: Limits
) -> _Panel:
    panel = panel.title(title).description(description).datasource(SOURCE).unit(unit)
    steps = [Threshold(value=None, color="green"), *(Threshold(value, colour) for value, colour in limits)]
    panel = panel.thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
    for (expression, legend), reference in zip(queries, ascii_uppercase, strict=False):
        query = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(reference)
        panel = panel.with_target(query)
    return panel
