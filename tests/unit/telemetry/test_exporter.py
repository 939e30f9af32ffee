# SPDX-License-Identifier: Apache-2.0
"""The page of a shard against the engine's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fabrictwin.engine.result import describe_flows, describe_ports
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.fabric import NodeKind, Technology
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.telemetry import Exporter, Health, Service
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import TECHNOLOGY, Rows
from fabrictwin.telemetry.stepped import SteppedSimulation
from fabrictwin.units import PS_PER_NS
from unit.telemetry.page import SERVICES, Scraped, read_page, scrape

SCENARIO = """
version: 1
name: page
duration: 200us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 3, spines: 2}
  switch_model: quantum2
  hca_model: {base: connectx7, ack_timeout: 20us}
  link: {rate: 400Gb/s, length: 10m}
  mtu: 4096
routing: {engine: ftree}
congestion_control: {algorithm: ib_cca}
workload:
  - {kind: incast, name: hot, senders: [h0, h1, h3], receiver: h5, message: 64KiB, count: forever, qps: 2}
  - {kind: all_reduce, name: ring, algorithm: ring, ranks: [h0, h1, h2, h3], bytes: 64KiB, iterations: 2}
faults:
  - {kind: link_down, link: [leaf1/3, h5/1], at: 80us, duration: 10us}
  - {kind: symbol_errors, link: [leaf0/1, h0/1], ber: 1e-6, at: 0us, duration: 200us}
  - {kind: link_degraded, link: [leaf0/2, h1/1], rate: 100Gb/s, at: 50us, duration: 200us}
"""


@pytest.fixture(scope="module")
def scraped() -> Scraped:
    return scrape(SCENARIO, (30, 85, 123))


def _ports(scraped: Scraped) -> Iterator[tuple[NodeKind, dict[str, Any]]]:
    fabric = scraped.simulation.plan.scenario.fabric
    for row in describe_ports(scraped.simulation.readout()):
        if row["peer"] is not None:
            yield fabric.nodes[fabric.index_of[row["node"]]].kind, row


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        ("transmit_data_bytes", "port_xmit_data"),
        ("receive_data_bytes", "port_rcv_data"),
        ("transmit_packets", "port_xmit_pkts"),
        ("receive_packets", "port_rcv_pkts"),
        ("unicast_receive_packets", "port_rcv_pkts"),
        ("symbol_error", "symbol_error_counter"),
        ("link_downed", "link_downed_counter"),
        ("receive_errors", "port_rcv_errors"),
        ("receive_switch_relay_errors", "port_rcv_switch_relay_errors"),
        ("transmit_discards", "port_xmit_discards"),
        ("local_link_integrity_errors", "local_link_integrity_errors"),
        ("vl15_dropped", "vl15_dropped"),
    ],
)
def test_exporter_gives_the_ibta_counters_of_the_result(scraped: Scraped, name: str, counter: str) -> None:
    checked = 0
    for kind, row in _ports(scraped):
        metric = f"infiniband_{kind}_port_{name}_total"
        value = scraped.value(kind, metric, guid=row["guid"], port=str(row["port"]))
        assert value == row[counter], f"{row['node']}/{row['port']}"
        checked += 1
    assert checked == 20


def test_exporter_run_has_something_to_tell(scraped: Scraped) -> None:
    rows = [row for _, row in _ports(scraped)]
    for counter in ("symbol_error_counter", "link_downed_counter", "port_mark_fecn", "port_pkt_rcv_becn"):
        assert sum(row[counter] for row in rows) > 0, counter
    assert sum(row["port_xmit_wait"] for row in rows) > 0


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        ("fecn_marked_packets_total", "port_mark_fecn"),
        ("fecn_received_packets_total", "port_pkt_rcv_fecn"),
        ("becn_received_packets_total", "port_pkt_rcv_becn"),
        ("flow_control_packets_total", "flow_control_packets"),
    ],
)
def test_exporter_gives_our_own_counters_of_the_result(scraped: Scraped, name: str, counter: str) -> None:
    for kind, row in _ports(scraped):
        value = scraped.value(kind, f"fabrictwin_port_{name}", guid=row["guid"], port=str(row["port"]))
        assert value == row[counter], f"{row['node']}/{row['port']}"


def test_exporter_counts_waits_in_ticks_of_one_picosecond(scraped: Scraped) -> None:
    for kind, row in _ports(scraped):
        metric = f"infiniband_{kind}_port_transmit_wait_total"
        ticks = scraped.value(kind, metric, guid=row["guid"], port=str(row["port"]))
        assert ticks // PS_PER_NS == row["port_xmit_wait"]


def test_exporter_gives_state_and_rate_of_links(scraped: Scraped) -> None:
    for kind, row in _ports(scraped):
        labels = {"guid": row["guid"], "port": str(row["port"])}
        assert scraped.value(kind, "fabrictwin_port_up", **labels) == (row["state"] == "active")
        rate = scraped.value(kind, "fabrictwin_port_rate_bytes_per_second", **labels)
        assert rate == row["rate_bps"] // 8
        enabled = scraped.value(kind, "fabrictwin_port_enabled_rate_bytes_per_second", **labels)
        assert enabled == 400 * 10**9 // 8
    assert {row["rate_bps"] for _, row in _ports(scraped)} == {400 * 10**9, 100 * 10**9}


def test_exporter_gives_flows_as_the_result_does(scraped: Scraped) -> None:
    flows = describe_flows(scraped.simulation.readout())
    for flow in flows:
        labels = {"flow": flow["name"], "src": flow["src"], "dst": flow["dst"]}
        for metric, field in (
            ("fabrictwin_flow_received_bytes_total", "bytes"),
            ("fabrictwin_flow_received_messages_total", "messages"),
            ("fabrictwin_flow_retransmitted_packets_total", "retransmitted_packets"),
        ):
            assert scraped.value(NodeKind.HCA, metric, **labels) == flow[field]
    assert sum(flow["retransmitted_packets"] for flow in flows) > 0


def test_exporter_sums_queue_pairs_to_their_hcas(scraped: Scraped) -> None:
    flows = describe_flows(scraped.simulation.readout())
    page = scraped.pages[NodeKind.HCA]
    for metric, expected in (
        ("fabrictwin_hca_received_payload_bytes_total", sum(flow["bytes"] for flow in flows)),
        ("fabrictwin_hca_retransmitted_packets_total", sum(flow["retransmitted_packets"] for flow in flows)),
        ("fabrictwin_hca_rate_limited_seconds_total", sum(flow["rate_limited_ns"] for flow in flows) / 1e9),
    ):
        assert sum(page[metric].values()) == pytest.approx(expected, rel=1e-9)
        assert expected > 0
    assert sum(page["fabrictwin_hca_queue_pairs"].values()) == int(scraped.simulation.plan.first_qp[-1])
    assert max(page["fabrictwin_hca_ccti_max"].values()) > 0
    assert sum(page["fabrictwin_hca_queue_pairs_throttled"].values()) > 0


def test_exporter_counts_the_event_log_across_scrapes(scraped: Scraped) -> None:
    log = scraped.simulation.result()["events"]
    for kind in ("link_down", "link_up", "link_error", "link_rate", "lft_write"):
        logged = sum(event["kind"] == kind for event in log)
        labels = (("kind", kind),)
        page = [scraped.pages[node]["fabrictwin_fabric_events_total"][labels] for node in NodeKind]
        assert page == [logged, logged], kind
    assert [event for event in log if event["kind"] == "link_up"]


def test_exporter_gives_iterations_that_all_ranks_have_ended(scraped: Scraped) -> None:
    jobs = {job["name"]: job for job in scraped.simulation.result()["jobs"]}
    value = scraped.value(
        NodeKind.HCA, "fabrictwin_workload_iterations_total", workload="ring", kind="all_reduce"
    )
    assert value == jobs["ring"]["iterations"]


def test_exporter_gives_the_fabric_time_of_its_arrays(scraped: Scraped) -> None:
    for kind in NodeKind:
        assert scraped.value(kind, "fabrictwin_fabric_seconds_total") == 123e-6


def test_exporter_tells_queues_credits_and_blocked_ports(scraped: Scraped) -> None:
    page = scraped.pages[NodeKind.SWITCH]
    assert max(page["fabrictwin_port_vl_queued_bytes"].values()) > 0
    assert min(page["fabrictwin_port_vl_blocked_seconds"].values()) >= 0
    assert max(page["fabrictwin_port_vl_blocked_seconds"].values()) <= 123e-6
    assert max(page["fabrictwin_port_vl_credit_bytes"].values()) > 4096


def test_exporter_names_ports_as_infiniband_exporter_does(scraped: Scraped) -> None:
    fabric = scraped.simulation.plan.scenario.fabric
    leaf, host = (fabric.nodes[fabric.index_of[name]] for name in ("leaf0", "h0"))
    lids = scraped.simulation.plan.forwarding.lid_of
    host_lid = next(lid for end, lid in lids.items() if fabric.nodes[end.node] is host)
    leaf_guid, host_guid = (f"0x{node.port_guid(1):016x}" for node in (leaf, host))
    uplink = scraped.value(
        NodeKind.SWITCH,
        "infiniband_switch_uplink_info",
        guid=leaf_guid,
        port="1",
        switch="leaf0",
        uplink="h0",
        uplink_guid=host_guid,
        uplink_type="CA",
        uplink_port="1",
        uplink_lid=str(host_lid),
    )
    assert uplink == 1
    assert (
        scraped.value(NodeKind.HCA, "infiniband_hca_info", guid=host_guid, hca="h0", lid=str(host_lid)) == 1
    )
    assert scraped.value(NodeKind.SWITCH, "infiniband_switch_rate_bytes_per_second", guid=leaf_guid) == 50e9


@pytest.mark.parametrize("kind", NodeKind)
def test_exporter_gives_every_metric_of_its_service(scraped: Scraped, kind: NodeKind) -> None:
    catalogued = {
        metric.name
        for metric in CATALOGUE
        if SERVICES[kind] in metric.services
        and metric.rows is not Rows.HEALTH
        and TECHNOLOGY.get(metric.rows, Technology.INFINIBAND) is Technology.INFINIBAND
    }
    exported = {name for name in scraped.pages[kind] if name.startswith("infiniband_")}
    exported |= {name for name in scraped.pages[kind] if name in catalogued}
    assert exported == catalogued


def test_exporter_scraped_twice_at_one_fabric_time_says_the_same(scraped: Scraped) -> None:
    again = read_page(scraped.exporters[NodeKind.SWITCH])
    assert {name: again[name] for name in again if name.startswith("infiniband_")} == {
        name: series
        for name, series in scraped.pages[NodeKind.SWITCH].items()
        if name.startswith("infiniband_")
    }


class Changing:
    """A shard whose rows change: one simulation, and then another of the same fabric with more work."""

    def __init__(self, *simulations: Simulation) -> None:
        healths = [Health("page", Service.HCA_ENDPOINT, "hca0", "page")]
        self._views = [SteppedSimulation(one, healths).nodes_of(NodeKind.HCA) for one in simulations]
        self.now = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._views[self.now], name)


def test_exporter_follows_workloads_that_are_started() -> None:
    more = "  - {kind: stream, name: late, src: h2, dst: h4, message: 1MiB, count: 1}\nfaults:\n"
    texts = (SCENARIO, SCENARIO.replace("faults:\n", more))
    source = Changing(*(open_simulation(parse_scenario(text, file="page")) for text in texts))
    exporter = Exporter(Health("page", Service.HCA_ENDPOINT, "hca0", "page"), source)
    flows = "fabrictwin_flow_received_bytes_total"
    before = read_page(exporter)
    source.now = 1
    after = read_page(exporter)
    assert after[flows].keys() - before[flows].keys() == {(("dst", "h4"), ("flow", "late"), ("src", "h2"))}
    assert after["fabrictwin_flows"][()] == before["fabrictwin_flows"][()] + 1
