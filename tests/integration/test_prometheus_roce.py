# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus scrapes a RoCE fabric that runs: rates, dashboards and alerts of PFC, ECN and DCQCN."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Kind
from fabrictwin.units import PS_PER_MS
from integration.dashboards import DASHBOARDS, LIVE_ROCE, SIMULATED_ROCE, is_fed, queries
from integration.live_twin import LONGEST_RUN_S
from integration.real_prometheus import Prometheus, running_prometheus, skip_without_prometheus
from integration.scraped_simulation import Running, running_simulation
from integration.watched_twin import running_twin, targets_of

pytestmark = pytest.mark.slow

PACE_PS_PER_S = 2 * PS_PER_MS
"""Fabric time a second of wall time."""
SCENARIO = """
version: 1
name: roce
duration: 10s
fabric:
  technology: roce
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 5, spines: 2}
  switch_model:
    {base: spectrum4, shared_buffer: 1MB, pfc_headroom: 60KB, ecn: {kmin: 20KB, kmax: 80KB, pmax: 0.5}}
  hca_model: {base: connectx7_roce, ack_timeout: 2ms}
  link: {rate: 100Gb/s, length: 10m}
  mtu: 4096
routing: {engine: ecmp}
congestion_control: {algorithm: dcqcn, profile: hpcc}
qos: {lossless_priorities: [3]}
workload:
  - {kind: incast, name: hot, senders: [h0, h1, h5], receiver: h6, message: 256KiB, count: forever}
  - {kind: all_reduce, name: ring, algorithm: ring, ranks: [h2, h7], bytes: 1MiB, iterations: 1000000}
  - {kind: stream, name: stormed, src: h9, dst: h8, message: 256KiB, count: forever}
faults:
  - {kind: pfc_storm, node: h8, at: 100us}
"""


LIVE = "live-roce"
LIVE_SCENARIO = (
    f"{SCENARIO.replace('name: roce', f'name: {LIVE}')}deployment: {{switch_shards: 2, hca_shards: 2}}\n"
)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    skip_without_prometheus()
    with running_simulation(open_simulation(parse_scenario(SCENARIO, file="roce")), PACE_PS_PER_S) as started:
        yield started


@pytest.fixture(scope="module")
def prometheus(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus after its warm-up, the simulation moving."""
    with running_prometheus(tmp_path_factory.mktemp("prometheus"), "roce", running.targets) as server:
        server.wait_for("fabrictwin:twin_received_payload_bytes:per_fabric_second")
        yield server


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_return_data(prometheus: Prometheus, path: Path) -> None:
    fed = [query for query in queries(path, "roce") if is_fed(query, SIMULATED_ROCE)]
    assert fed
    for query in fed:
        prometheus.wait_for(query)


def test_rates_of_congestion_are_not_zero(prometheus: Prometheus) -> None:
    for rate in (
        "port_ecn_marked_packets:per_fabric_second",
        "hca_cnp_sent_packets:per_fabric_second",
        "hca_cnp_handled_packets:per_fabric_second",
        "pfc_paused:ratio",
        "hca_rate_limited:ratio",
    ):
        prometheus.wait_for(f"sum(fabrictwin:{rate}) > 0")


def test_a_storm_is_told_at_the_port_that_it_pauses(prometheus: Prometheus) -> None:
    prometheus.wait_for('ALERTS{alertname="PfcStorm", peer="h8", priority="3", alertstate="firing"}')
    prometheus.wait_for('fabrictwin:pfc_paused:ratio{peer="h8"} > 0.99')
    assert prometheus.query('ALERTS{alertname="FlowControlDeadlock"}') == []


def test_prometheus_holds_what_the_engine_counts(prometheus: Prometheus, running: Running) -> None:
    running.halt()
    prometheus.wait_for_scrapes()
    totals = running.stepped.simulation.result()["totals"]
    for metric, field in (
        ("fabrictwin_port_ecn_marked_packets_total", "ecn_marked"),
        ("fabrictwin_pfc_pause_sent_frames_total", "pfc_pause_sent"),
        ("fabrictwin_pfc_pause_received_frames_total", "pfc_pause_received"),
        ("node_infiniband_np_cnp_packets_sent_total", "cnp_sent"),
        ("node_infiniband_rp_cnp_packets_handled_total", "cnp_received"),
    ):
        (total,) = prometheus.query(f"sum({metric})")
        assert total.value == totals[field] > 0, metric


def test_prometheus_holds_every_metric_that_a_simulation_feeds(prometheus: Prometheus) -> None:
    catalogued = {
        metric.name + ("_count" if metric.kind is Kind.HISTOGRAM else "")
        for metric in CATALOGUE
        if is_fed(metric.name, SIMULATED_ROCE)
    }
    prometheus.wait_for_scrapes()
    assert catalogued - prometheus.names_of('{__name__!=""}') == set()


def test_panels_of_a_live_twin_return_data(tmp_path: Path) -> None:
    """The same fabric, split over four shards."""
    with (
        running_twin(LIVE, LIVE_SCENARIO, tmp_path) as twin,
        running_prometheus(tmp_path, LIVE, targets_of(twin)) as prometheus,
    ):
        prometheus.wait_for("min(fabrictwin:fabric_seconds:delta15s) > 5e-5", LONGEST_RUN_S)
        for path in DASHBOARDS:
            for query in queries(path, LIVE):
                if is_fed(query, LIVE_ROCE):
                    prometheus.wait_for(query)
        assert prometheus.query("count by (guid, port, priority) (fabrictwin_pfc_paused) > 1") == []
