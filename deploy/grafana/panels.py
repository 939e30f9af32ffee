# SPDX-License-Identifier: Apache-2.0
"""How panels of this project look: one function a kind, so that every dashboard looks alike."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    Threshold,
    ThresholdsMode,
    VariableHide,
    VariableRefresh,
)

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
WIDTH = 24
TWIN = 'twin=~"$twin"'
NODE = 'twin=~"$twin", node=~"$node"'
NAMES = (
    "* on (job, instance, guid, port) group_left (node, peer, peer_port) fabrictwin_port_info{" + NODE + "}"
)
"""Gives series of ports the names of node and peer, and keeps only the nodes looked at."""

Limits = Sequence[tuple[float, str]]
"""(value, colour from there on); below the first it is green."""


def _query(expression: str, legend: str, reference: str = "A") -> prometheus.Dataquery:
    return prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(reference)


def _thresholds(limits: Limits) -> dashboard.ThresholdsConfig:
    steps = [Threshold(value=None, color="green"), *(Threshold(value, colour) for value, colour in limits)]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


def number(title: str, unit: str, expression: str, description: str, limits: Limits = ()) -> stat.Panel:
    """One number, the last one, over its course."""
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .span(4)
        .height(4)
        .thresholds(_thresholds(limits))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(_query(expression, ""))
    )


def course(
    title: str, unit: str, queries: Sequence[tuple[str, str]], description: str, limits: Limits = ()
) -> timeseries.Panel:
    """Lines over time; each query is (PromQL, legend)."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .span(12)
        .height(8)
        .line_width(1)
        .fill_opacity(8)
        .thresholds(_thresholds(limits))
        .legend(
            common.VizLegendOptions()
            .display_mode(LegendDisplayMode.TABLE)
            .placement(LegendPlacement.RIGHT)
            .show_legend(True)
            .calcs(["lastNotNull", "max"])
        )
    )
    for (expression, legend), reference in zip(queries, ascii_uppercase, strict=False):
        panel = panel.with_target(_query(expression, legend, reference))
    return panel


def board(title: str, uid: str, description: str) -> dashboard.Dashboard:
    """An empty dashboard with the variables that all have: data source, twin, node."""
    return (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["fabrictwin"])
        .readonly()
        .refresh("5s")
        .time("now-5m", "now")
        .with_variable(
            dashboard.DatasourceVariable("datasource")
            .label("Prometheus")
            .type("prometheus")
            .hide(VariableHide.DONT_HIDE)
        )
        .with_variable(_choice("twin", "Twin", "label_values(fabrictwin_fabric_seconds_total, twin)"))
        .with_variable(_choice("node", "Node", f"label_values(fabrictwin_port_info{{{TWIN}}}, node)"))
    )


def _choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(True)
        .include_all(True)
        .all_value(".*")
    )
