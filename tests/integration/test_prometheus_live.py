# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus watches a live twin: separate services over a real Redis server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.runtime.local_twins import LocalTwin
from fabrictwin.telemetry import Service
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Kind
from integration.dashboards import DASHBOARDS, LIVE_INFINIBAND, is_fed, queries
from integration.live_twin import LONGEST_RUN_S
from integration.patience import wait_until
from integration.real_prometheus import Prometheus, running_prometheus, skip_without_prometheus
from integration.watched_twin import fabrictwin, running_twin, targets_of

NAME = "live-metrics"
SHARDS = {"switch0": Service.SWITCH_NODE, "switch1": Service.SWITCH_NODE, "hca0": Service.HCA_ENDPOINT}
SCENARIO = f"""
version: 1
name: {NAME}
duration: 60s
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 1}}
  switch_model: quantum2
  hca_model: connectx7
  link: {{rate: 400Gb/s, length: 10m}}
  mtu: 4096
routing: {{engine: ftree}}
workload:
  - {{kind: stream, name: near, src: h0, dst: h1, message: 1MiB, count: forever}}
  - {{kind: stream, name: far, src: h2, dst: h1, message: 1MiB, count: forever}}
faults:
  - {{kind: link_degraded, link: [leaf1/2, h3/1], rate: 100Gb/s, at: 1us}}
deployment: {{switch_shards: 2, hca_shards: 1}}
"""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTwin]:
    skip_without_prometheus()
    with running_twin(NAME, SCENARIO, tmp_path_factory.mktemp("live")) as running:
        yield running


@pytest.fixture(scope="module")
def prometheus(twin: LocalTwin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with running_prometheus(tmp_path_factory.mktemp("prometheus"), NAME, targets_of(twin)) as server:
        server.wait_for("fabrictwin:twin_received_payload_bytes:per_fabric_second > 0")
        # The beginning does not count any more, and in the window is enough to tell a rate from.
        server.wait_for("min(fabrictwin_fabric_seconds_total) > 3e-4", LONGEST_RUN_S)
        server.wait_for("min(fabrictwin:fabric_seconds:delta15s) > 5e-5", LONGEST_RUN_S)
        yield server


@pytest.fixture(scope="module")
def rates(prometheus: Prometheus) -> dict[str, float]:
    """Payload of each flow per second of fabric time, while the twin runs."""
    found: dict[str, float] = {}

    def are_found() -> bool:
        samples = prometheus.query("fabrictwin:flow_received_bytes:per_fabric_second")
        found.update({sample.labels["flow"]: sample.value for sample in samples})
        return found.keys() == {"near", "far"}

    wait_until(are_found, lambda: found)
    return found


@pytest.fixture(scope="module")
def result(
    rates: dict[str, float],
    prometheus: Prometheus,
    twin: LocalTwin,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """The engine's own numbers, from the twin, which stands still from now on."""
    file = tmp_path_factory.mktemp("result") / "result.json"
    fabrictwin("pause", "--twin", twin.name)
    fabrictwin("result", "--twin", twin.name, "--json", file)
    prometheus.wait_for_scrapes()
    return dict(json.loads(file.read_text()))


def test_every_service_is_scraped(prometheus: Prometheus, twin: LocalTwin) -> None:
    prometheus.wait_for_scrapes()
    assert {target["labels"]["shard"] for target in prometheus.targets()} == set(twin.services)


@pytest.mark.parametrize("shard", SHARDS)
def test_shards_export_the_whole_catalogue(prometheus: Prometheus, shard: str) -> None:
    """But for checkpoints, of which there may be none yet."""
    catalogued = {
        metric.name + ("_count" if metric.kind is Kind.HISTOGRAM else "")
        for metric in CATALOGUE
        if SHARDS[shard] in metric.services
        and not metric.name.startswith("fabrictwin_checkpoint")
        and is_fed(metric.name, LIVE_INFINIBAND)
    }
    prometheus.wait_for_scrapes()
    assert catalogued - prometheus.names_of(f'{{shard="{shard}"}}') == set()


def test_shards_export_each_port_once(prometheus: Prometheus) -> None:
    prometheus.wait_for_scrapes()
    assert prometheus.query("count by (guid, port) (fabrictwin_port_info) > 1") == []
    (ports,) = prometheus.query("count(fabrictwin_port_info)")
    assert ports.value == 2 * 6


def test_director_says_its_state_and_the_fabric_time(prometheus: Prometheus) -> None:
    prometheus.wait_for('fabrictwin_twin_state{state="running"} == 1')
    prometheus.wait_for('fabrictwin_fabric_seconds_total{service="director"} > 0')


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_return_data(prometheus: Prometheus, path: Path) -> None:
    """The scenario has a link that runs slow, so that there is a fault and an alert to show."""
    for query in queries(path, NAME):
        if is_fed(query, LIVE_INFINIBAND):
            prometheus.wait_for(query)


def test_rates_are_those_of_the_result(rates: dict[str, float], result: dict[str, Any]) -> None:
    for flow in result["flows"]:
        assert 8 * rates[flow["name"]] == pytest.approx(flow["goodput_bps"], rel=0.01)


@pytest.mark.parametrize(
    ("metric", "counter"),
    [
        ("transmit_data_bytes", "port_xmit_data"),
        ("receive_data_bytes", "port_rcv_data"),
        ("transmit_packets", "port_xmit_pkts"),
    ],
)
def test_counters_are_those_of_the_result(
    prometheus: Prometheus, result: dict[str, Any], metric: str, counter: str
) -> None:
    samples = prometheus.query(f'{{__name__=~"infiniband_(switch|hca)_port_{metric}_total"}}')
    values = {(sample.labels["guid"], sample.labels["port"]): sample.value for sample in samples}
    ports = {(row["guid"], str(row["port"])): row[counter] for row in result["ports"] if row["peer"]}
    assert values == ports
    assert sum(ports.values()) > 0


def test_shards_stand_at_the_fabric_time_of_the_result(
    prometheus: Prometheus, result: dict[str, Any]
) -> None:
    samples = prometheus.query('fabrictwin_fabric_seconds_total{service=~"switch_node|hca_endpoint"}')
    assert {round(sample.value * 1e9) for sample in samples} == {round(result["fabric_time_ns"])}
