# SPDX-License-Identifier: Apache-2.0
"""What every dashboard of this project has: variables, faults as annotations, links to the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import (
    AnnotationQuery,
    DashboardLinkType,
    VariableHide,
    VariableRefresh,
)
from panels import NODE, SOURCE, TWIN

TAG = "fabrictwin"


class _FaultAnnotation(AnnotationQuery):
    """An annotation with the keys of Prometheus' data source, which the SDK's own class does not know."""

    def to_json(self) -> dict[str, object]:
        return super().to_json() | {
            "titleFormat": "{{kind}}",
            "textFormat": "{{fault}}: {{target}}",
            "step": "2s",
        }


def board(title: str, uid: str, description: str, panels: Iterable[Any]) -> dashboard.Dashboard:
    """A dashboard of some panels."""
    result = (
        dashboard.Dashboard(f"FabricTwin / {title}")
        .uid(f"{TAG}-{uid}")
        .description(description)
        .tags([TAG])
        .readonly()
        .refresh("5s")
        .time("now-5m", "now")
        .link(_other_boards())
        .annotation(_faults())
        .with_variable(
            dashboard.DatasourceVariable("datasource")
            .label("Prometheus")
            .type("prometheus")
            .hide(VariableHide.DONT_HIDE)
        )
        .with_variable(choice("twin", "Twin", "label_values(fabrictwin_fabric_seconds_total, twin)"))
        .with_variable(choice("node", "Node", f"label_values(fabrictwin_port_info{{{TWIN}}}, node)"))
    )
    for panel in panels:
        result = result.with_panel(panel)
    return result


def with_port(of: dashboard.Dashboard) -> dashboard.Dashboard:
    """A dashboard on which a port can be chosen too."""
    return of.with_variable(choice("port", "Port", f"label_values(fabrictwin_port_info{{{NODE}}}, port)"))


def choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """A variable of several values or all."""
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


def _other_boards() -> dashboard.DashboardLink:
    """A menu of all dashboards, which keeps what was chosen."""
    return (
        dashboard.DashboardLink("FabricTwin")
        .type(DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(True)
        .include_vars(True)
        .keep_time(True)
    )


class _Ready:
    """A builder of what is built already."""

    def __init__(self, what: Any) -> None:
        self._what = what

    def build(self) -> Any:
        return self._what


def _faults() -> Any:
    """A region over every panel for as long as a fault is active."""
    return _Ready(
        _FaultAnnotation(
            name="Faults",
            datasource=SOURCE,
            enable=True,
            icon_color="red",
            expr=f"fabrictwin_fault_active{{{TWIN}}} == 1",
        )
    )
