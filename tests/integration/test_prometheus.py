# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus scrapes a simulation that runs: metrics, rates, alerts and dashboards."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.engine.result import describe_flows, describe_ports
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Kind
from fabrictwin.units import PS_PER_MS, PS_PER_NS, PS_PER_S
from integration.dashboards import DASHBOARDS, SIMULATED_INFINIBAND, is_fed, panels, queries
from integration.patience import wait_until
from integration.real_prometheus import Prometheus, Sample, running_prometheus, skip_without_prometheus
from integration.scraped_simulation import SERVICES, Running, running_simulation

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
PACE_PS_PER_S = 6 * PS_PER_MS
"""Fabric time a second of wall time."""
BETWEEN_SWITCHES = 'uplink_type="SW"'
"""What marks queries about links between switches, of which one switch has none."""
LATE_S = 6
"""How late a rule may be evaluated on a busy machine."""
NOT_SIMULATED = {
    "IB switch unhealthy PSUs": "no power supplies",
    "IB switch unhealthy fans": "no fans",
    "IB switch port BER": "its panel holds no query",
    "IB switch port receive remote physical errors": "no packets marked bad on their way",
}
"""Panels of infiniband_exporter that no simulated fabric feeds."""

_BLOCKED = "\n".join(
    f"  - {{kind: stream, name: blocked{i}, src: h{i}, dst: h{28 + i}, message: 1MiB, count: forever}}"
    for i in range(28)
)
_STOPPED = "\n".join(f"  - {{kind: slow_receiver, node: h{28 + i}, rate: 0Gb/s, at: 1us}}" for i in range(28))
_RING = "[h60, h61]"
SCENARIO = f"""
version: 1
name: scraped
duration: 10s
fabric:
  technology: infiniband
  topology: {{generator: single_switch, hosts: 64}}
  switch_model: quantum2
  hca_model: {{base: connectx7, ack_timeout: 2ms}}
  link: {{rate: 400Gb/s, length: 10m}}
  mtu: 4096
routing: {{engine: min_hop}}
congestion_control: {{algorithm: ib_cca}}
workload:
  - {{kind: incast, name: hot, senders: [h56, h57, h58], receiver: h59, message: 256KiB, count: forever}}
  - {{kind: all_reduce, name: ring, algorithm: ring, ranks: {_RING}, bytes: 1MiB, iterations: 1000000}}
{_BLOCKED}
faults:
  - {{kind: link_flap, link: [sw0/60, h59/1], at: 20ms, count: 100, down: 5ms, up: 40ms}}
  - {{kind: symbol_errors, link: [sw0/61, h60/1], probability: 0.3, at: 10ms}}
{_STOPPED}
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    skip_without_prometheus()
    simulation = open_simulation(parse_scenario(SCENARIO, file="scraped"))
    with running_simulation(simulation, PACE_PS_PER_S) as started:
        yield started


@pytest.fixture(scope="module")
def prometheus(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus after its warm-up, the simulation moving."""
    public = REPOSITORY.parent / "shared" / "data" / "infiniband_exporter" / "infiniband.rules"
    folder = tmp_path_factory.mktemp("prometheus")
    more_rules = [public] if public.is_file() else []
    with running_prometheus(folder, "scraped", running.targets, more_rules) as server:
        server.wait_for("fabrictwin:twin_received_payload_bytes:per_fabric_second")
        yield server


@pytest.fixture
def standing(running: Running, prometheus: Prometheus) -> Iterator[Prometheus]:
    """Prometheus, with the simulation standing still and scraped since."""
    running.halt()
    prometheus.wait_for_scrapes()
    yield prometheus
    running.moving.set()


def _by_port(samples: list[Sample]) -> dict[tuple[str, str], float]:
    return {(sample.labels["guid"], sample.labels["port"]): sample.value for sample in samples}


def _scaled_wait(row: dict[str, Any], ticks: float) -> bool:
    return bool(ticks // PS_PER_NS == row["port_xmit_wait"])


def _same(counter: str) -> Callable[[dict[str, Any], float], bool]:
    return lambda row, value: bool(row[counter] == value)


def test_prometheus_scrapes_every_target_without_an_error(prometheus: Prometheus, running: Running) -> None:
    prometheus.wait_for_scrapes()
    targets = prometheus.targets()
    assert len(targets) == len(running.targets)
    assert {target["labels"]["shard"] for target in targets} == {"switch0", "hca0"}


def test_prometheus_evaluates_every_rule_without_an_error(prometheus: Prometheus) -> None:
    assert {
        rule["name"]: rule.get("lastError") for rule in prometheus.rules() if rule["health"] == "err"
    } == {}


def test_rates_are_those_of_the_engine_per_second_of_fabric_time(
    prometheus: Prometheus, running: Running
) -> None:
    prometheus.wait_for("count(fabrictwin:fabric_seconds:delta15s) == 2")
    at_s = time.time()
    # What was being scraped then has come by now.
    prometheus.wait_for_scrapes()
    for target in running.targets:
        of_target = f'{{instance="{target.address}"}}'
        (end,) = prometheus.query(f"fabrictwin_fabric_seconds_total{of_target}", at_s)
        recorded = prometheus.query(f"fabrictwin:port_transmit_bytes:per_fabric_second{of_target}", at_s)
        (window,) = prometheus.query(f"fabrictwin:fabric_seconds:delta15s{of_target}", at_s)
        _compare_with_history(running, end.value, window.value, recorded)


def _compare_with_history(running: Running, end_s: float, window_s: float, recorded: list[Sample]) -> None:
    """Looks for the steps that a rule has seen: it is evaluated up to some scrapes before ``end_s``."""
    plan = running.stepped.simulation.plan
    fabric = plan.scenario.fabric
    window_ps = round(window_s * PS_PER_S)
    last_ps = round(end_s * PS_PER_S)
    ends = [ps for ps in running.history if last_ps - LATE_S * PACE_PS_PER_S < ps <= last_ps]
    ends = [ps for ps in ends if ps - window_ps in running.history]
    busy = 0
    for sample in recorded:
        node = fabric.index_of[sample.labels["node"]]
        port = int(plan.ports.first[node]) + int(sample.labels["port"]) - 1
        rates = [
            (running.history[ps][port] - running.history[ps - window_ps][port]) / window_s for ps in ends
        ]
        assert any(sample.value == pytest.approx(rate, rel=0.01) for rate in rates), sample
        busy += sample.value > 1e9
    assert busy >= 2


def test_speed_is_fabric_time_per_wall_time(prometheus: Prometheus, running: Running) -> None:
    at_s = time.time()
    passed = [(wall_s, ps) for ps, wall_s in list(running.walls.items()) if at_s - 25 < wall_s <= at_s]
    # On a busy machine the speed changes, and scrapes and rules may be late by seconds.
    speeds = [
        (last_ps - first_ps) / PS_PER_S / (last_s - first_s)
        for first_s, first_ps in passed
        for last_s, last_ps in passed
        if 13 < last_s - first_s < 17
    ]
    for sample in prometheus.query("fabrictwin:speed:rate15s", at_s):
        assert 0.9 * min(speeds) < sample.value < 1.1 * max(speeds)


def test_alerts_fire_for_the_faults_of_the_scenario(prometheus: Prometheus) -> None:
    for alert in ("SymbolErrors", "XmitWaitCongestion"):
        prometheus.wait_for(f'ALERTS{{alertname="{alert}", alertstate=~"firing|pending"}}')
    prometheus.wait_for('count_over_time(ALERTS{alertname="LinkDown", node="sw0", port="60"}[5m])')


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_of_our_dashboards_return_data(prometheus: Prometheus, path: Path) -> None:
    fed = [query for query in queries(path, "scraped") if is_fed(query, SIMULATED_INFINIBAND)]
    assert fed
    for query in fed:
        if BETWEEN_SWITCHES in query:
            assert prometheus.query(query) == []
        else:
            prometheus.wait_for(query)


@pytest.mark.parametrize("name", ["health", "perf"])
def test_panels_of_infiniband_exporter_return_data(
    prometheus: Prometheus, shared_data: Path, name: str
) -> None:
    path = shared_data / "infiniband_exporter" / f"grafana-ib-fabric-{name}.json"
    asked = {
        panel["title"]: [target["expr"] for target in panel["targets"] if target.get("expr")]
        for panel in panels(json.loads(path.read_text()))
    }
    for title, of_panel in asked.items():
        if title in NOT_SIMULATED:
            assert not any(map(prometheus.query, of_panel)), title
        else:
            for query in of_panel:
                prometheus.wait_for(query)


def test_prometheus_holds_what_the_engine_counts(standing: Prometheus, running: Running) -> None:
    simulation = running.stepped.simulation
    fabric = simulation.plan.scenario.fabric
    checks = {
        "transmit_data_bytes": _same("port_xmit_data"),
        "receive_data_bytes": _same("port_rcv_data"),
        "transmit_packets": _same("port_xmit_pkts"),
        "symbol_error": _same("symbol_error_counter"),
        "local_link_integrity_errors": _same("local_link_integrity_errors"),
        "link_downed": _same("link_downed_counter"),
        "transmit_discards": _same("port_xmit_discards"),
        "transmit_wait": _scaled_wait,
    }
    rows = [row for row in describe_ports(simulation.readout()) if row["peer"] is not None]
    for name, agrees in checks.items():
        values = _by_port(standing.query(f'{{__name__=~"infiniband_(switch|hca)_port_{name}_total"}}'))
        assert len(values) == len(rows) == 2 * len(fabric.links)
        assert [row["node"] for row in rows if not agrees(row, values[row["guid"], str(row["port"])])] == []
        assert sum(values.values()) > 0, f"{name} tells nothing in this scenario"


def test_prometheus_holds_flows_and_fabric_time_of_the_engine(standing: Prometheus, running: Running) -> None:
    simulation = running.stepped.simulation
    delivered = {flow["name"]: flow["bytes"] for flow in describe_flows(simulation.readout())}
    samples = standing.query("fabrictwin_flow_received_bytes_total")
    assert {sample.labels["flow"]: sample.value for sample in samples} == delivered
    times = {sample.value for sample in standing.query("fabrictwin_fabric_seconds_total")}
    assert times == {simulation.now_ps / PS_PER_S}


def test_rates_have_no_value_when_fabric_time_stands_still(standing: Prometheus) -> None:
    def speeds() -> set[float]:
        return {sample.value for sample in standing.query("fabrictwin:speed:rate15s")}

    def rates() -> list[Sample]:
        return standing.query("fabrictwin:port_transmit_bytes:per_fabric_second")

    wait_until(lambda: (speeds(), rates()) == ({0.0}, []), lambda: (speeds(), rates()))


@pytest.mark.parametrize("kind", NodeKind)
def test_prometheus_holds_every_metric_that_a_simulation_feeds(
    prometheus: Prometheus, kind: NodeKind
) -> None:
    """Those of the bus and of checkpoints need a live twin."""
    service = SERVICES[kind]
    catalogued = {
        metric.name + ("_count" if metric.kind is Kind.HISTOGRAM else "")
        for metric in CATALOGUE
        if service in metric.services and is_fed(metric.name, SIMULATED_INFINIBAND)
    }
    prometheus.wait_for_scrapes()
    assert catalogued - prometheus.names_of(f'{{service="{service}"}}') == set()
