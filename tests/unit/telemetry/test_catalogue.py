# SPDX-License-Identifier: Apache-2.0
"""The catalogue of metrics."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from fabrictwin.engine.port_counters import PORT_COUNTERS
from fabrictwin.telemetry.catalogue import CATALOGUE, METRIC_OF
from fabrictwin.telemetry.columns import COLUMNS, CONSTANTS
from fabrictwin.telemetry.health import Health
from fabrictwin.telemetry.metric import Kind, Metric, Rows, Service

RESERVED_LABELS = {"job", "instance", "twin", "service", "shard"}
"""What Prometheus and our own configuration add to every series."""


def test_catalogue_has_every_name_once() -> None:
    assert [name for name, times in Counter(metric.name for metric in CATALOGUE).items() if times > 1] == []


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_metric_follows_the_conventions_of_names(metric: Metric) -> None:
    assert re.fullmatch(r"(infiniband|node_infiniband|fabrictwin)_[a-z0-9_]+", metric.name)
    assert metric.kind is not Kind.COUNTER or metric.name.endswith("_total")
    assert not re.search(r"_(ms|us|ns|ps|bits|milli\w+|micro\w+)(_|$)", metric.name)
    for unit in ("bytes", "seconds"):
        assert unit not in metric.unit.split()[0] or unit in metric.name
    assert metric.help.endswith(".")


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_metric_has_no_label_that_prometheus_sets(metric: Metric) -> None:
    if metric.name != "fabrictwin_build_info":
        assert not RESERVED_LABELS & set(metric.labels)


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_metric_has_a_source(metric: Metric) -> None:
    if metric.rows is Rows.HEALTH and metric.source not in ("fabric_seconds", "speed", "steps"):
        assert isinstance(Health("t", metric.services[0], "s", "s").read(metric), dict)
    elif metric.rows not in (Rows.HEALTH, Rows.EVENT):
        assert metric.source in {*PORT_COUNTERS, *COLUMNS, *CONSTANTS}


def test_catalogue_uses_every_column() -> None:
    sources = {metric.source for metric in CATALOGUE}
    assert {*PORT_COUNTERS, *COLUMNS, *CONSTANTS} - sources == set()


def test_catalogue_gives_every_service_its_health() -> None:
    for service in Service:
        assert service in METRIC_OF["fabrictwin_fabric_seconds_total"].services
