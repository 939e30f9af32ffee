# SPDX-License-Identifier: Apache-2.0
"""The panels of Grafana's dashboards, and which twin can feed them.

What a query needs follows from the metrics that it reads, through the recording rules: the services that
export them, the technology that has them, a bus.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from fabrictwin.model.fabric import Technology
from fabrictwin.telemetry import Service
from fabrictwin.telemetry.catalogue import METRIC_OF
from fabrictwin.telemetry.metric import TECHNOLOGY, Metric

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
_NAME = re.compile(
    r"\b(?:fabrictwin[_:][\w:]+|node_infiniband_\w+|infiniband_(?:switch|hca|\(switch\|hca\))_\w+)"
)


class Twin(NamedTuple):
    """What a twin has that can feed a panel.

    Attributes:
        technology: Of its fabric.
        services: Those that are scraped.
        is_live: Whether they talk over a bus and take checkpoints.
    """

    technology: Technology
    services: frozenset[Service]
    is_live: bool


_SIMULATED = frozenset({Service.SWITCH_NODE, Service.HCA_ENDPOINT})
SIMULATED_INFINIBAND = Twin(Technology.INFINIBAND, _SIMULATED, is_live=False)
SIMULATED_ROCE = Twin(Technology.ROCE, _SIMULATED, is_live=False)
LIVE_INFINIBAND = Twin(Technology.INFINIBAND, frozenset(Service), is_live=True)
LIVE_ROCE = Twin(Technology.ROCE, frozenset(Service) - {Service.CONGESTION_CONTROL}, is_live=True)
TWINS = (SIMULATED_INFINIBAND, SIMULATED_ROCE, LIVE_INFINIBAND, LIVE_ROCE)
"""The twins on which tests run every query that they can feed."""


def panels(dashboard: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every panel that asks something, those of folded rows too."""
    for panel in dashboard["panels"]:
        if "targets" in panel:
            yield panel
        yield from panels(panel) if panel.get("panels") else ()


def queries(path: Path, twin: str) -> list[str]:
    """Every query of a dashboard, with the twin's name and all nodes and ports put in."""
    asked = [
        target["expr"]
        for panel in panels(json.loads(path.read_text(encoding="utf-8")))
        for target in panel["targets"]
    ]
    for name, value in (("$twin", twin), ("$node", ".*"), ("$port", ".*")):
        asked = [query.replace(name, value) for query in asked]
    assert not [query for query in asked if "$" in query]
    return asked


@cache
def _rules() -> dict[str, str]:
    files = (DEPLOY / "prometheus" / "rules").glob("*.yml")
    groups = [group for file in files for group in YAML(typ="safe").load(file)["groups"]]
    return {rule["record"]: rule["expr"] for group in groups for rule in group["rules"] if "record" in rule}


def metrics_of(query: str) -> set[Metric]:
    """The metrics of the catalogue that a query reads, directly or by way of rules."""
    found: set[Metric] = set()
    for name in _NAME.findall(query):
        if name in _rules():
            found |= metrics_of(_rules()[name])
        else:
            plain = re.sub(r"_(bucket|sum|count)$", "", name.replace("(switch|hca)", "switch"))
            found.add(METRIC_OF[plain])
    return found


def is_fed(query: str, twin: Twin) -> bool:
    """Whether a twin exports all that a query reads."""
    return all(
        twin.services & set(metric.services)
        and TECHNOLOGY.get(metric.rows, twin.technology) is twin.technology
        and (twin.is_live or (metric.labels != ("peer",) and "checkpoint" not in metric.name))
        for metric in metrics_of(query)
    )
