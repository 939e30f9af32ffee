# SPDX-License-Identifier: Apache-2.0
"""The page of a shard of a RoCE fabric against the engine's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabrictwin.engine.result import describe_ports
from fabrictwin.model.fabric import NodeKind, PortRef, Technology
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import TECHNOLOGY, Rows
from fabrictwin.units import PS_PER_US
from unit.telemetry.page import SERVICES, Scraped, scrape

PRIORITY = 3
NOW_US = 400
"""A storm is over, and a pause lasts."""
SCENARIO = """
version: 1
name: page
duration: 500us
fabric:
  technology: roce
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 4, spines: 2}
  switch_model:
    base: spectrum4
    shared_buffer: 1MB
    alpha: 1/8
    pfc_headroom: 60KB
    ecn: {kmin: 20KB, kmax: 80KB, pmax: 0.5}
    pfc_watchdog: {detection: 20us, restoration: 40us, poll: 10us}
  hca_model: {base: connectx7_roce, ack_timeout: 100us}
  link: {rate: 400Gb/s, length: 10m}
  mtu: 4096
routing: {engine: ecmp}
congestion_control: {algorithm: dcqcn, profile: hpcc}
qos: {lossless_priorities: [3]}
workload:
  - {kind: incast, name: hot, senders: [h0, h1, h2, h4], receiver: h7, message: 256KiB, count: forever}
  - {kind: stream, name: stopped, src: h5, dst: h6, message: 256KiB, count: forever}
  - {kind: stream, name: lossy, src: h3, dst: h6, message: 256KiB, count: forever, sl: 1}
faults:
  - {kind: pfc_storm, node: h6, at: 50us, duration: 100us}
  - {kind: slow_receiver, node: h6, rate: 1Gb/s, at: 200us}
  - {kind: receiver_not_ready, node: h7, at: 380us, duration: 10us}
"""


@pytest.fixture(scope="module")
def scraped() -> Scraped:
    return scrape(SCENARIO, (100, NOW_US))


def _lanes(scraped: Scraped, array: str, field: str) -> dict[tuple[str, str], int]:
    """A field of the lossless priority of each cabled port, by GUID and port."""
    simulation = scraped.simulation
    fabric, ports = simulation.plan.scenario.fabric, simulation.plan.ports
    values = getattr(scraped.stepped.state, array)[field]
    return {
        (f"0x{fabric.nodes[end.node].port_guid(end.port):016x}", str(end.port)): int(
            values[PRIORITY * ports.total + ports.of(end)]
        )
        for end in fabric.link_at
    }


def _series(scraped: Scraped, name: str) -> dict[tuple[str, str], float]:
    """A metric of both services, which has one priority, by GUID and port."""
    found: dict[tuple[str, str], float] = {}
    for kind in NodeKind:
        for labels, value in scraped.pages[kind].get(name, {}).items():
            texts = dict(labels)
            assert texts.get("priority", str(PRIORITY)) == str(PRIORITY)
            found[texts["guid"], texts["port"]] = value
    return found


@pytest.mark.parametrize(
    ("name", "array", "field"),
    [
        ("pause_sent_frames_total", "lane_more", "pauses_sent"),
        ("pause_received_frames_total", "lane_more", "pauses_heard"),
        ("pausing", "lane", "pausing"),
        ("headroom_bytes", "lane", "headroom_bytes"),
        ("headroom_size_bytes", "lane", "headroom_size_bytes"),
        ("headroom_watermark_bytes", "lane_more", "peak_headroom_bytes"),
        ("headroom_drops_total", "lane_more", "lossless_drops"),
        ("watchdog_stormed", "lane", "drops"),
        ("watchdog_detected_total", "lane_more", "storms_found"),
        ("watchdog_dropped_packets_total", "lane_more", "storm_drops"),
    ],
)
def test_exporter_gives_pfc_of_each_lossless_priority(
    scraped: Scraped, name: str, array: str, field: str
) -> None:
    expected = _lanes(scraped, array, field)
    assert _series(scraped, f"fabrictwin_pfc_{name}") == expected
    assert sum(expected.values()) > 0, "the scenario tells nothing"


def test_exporter_gives_pfc_totals_of_the_result(scraped: Scraped) -> None:
    totals = scraped.simulation.result()["totals"]
    for name, field in (
        ("fabrictwin_pfc_pause_sent_frames_total", "pfc_pause_sent"),
        ("fabrictwin_pfc_pause_received_frames_total", "pfc_pause_received"),
        ("fabrictwin_port_ecn_marked_packets_total", "ecn_marked"),
        ("fabrictwin_port_pfc_frames_sent_total", "flow_control_packets"),
        ("node_infiniband_np_cnp_packets_sent_total", "cnp_sent"),
        ("node_infiniband_rp_cnp_packets_handled_total", "cnp_received"),
    ):
        assert sum(_series(scraped, name).values()) == totals[field], name
        assert totals[field] > 0, field


def test_exporter_counts_a_pause_that_goes_on(scraped: Scraped) -> None:
    since_ps = _lanes(scraped, "lane", "paused_at_ps")
    past_ps = _lanes(scraped, "lane", "paused_ps")
    paused = _series(scraped, "fabrictwin_pfc_paused")
    seconds = _series(scraped, "fabrictwin_pfc_paused_seconds_total")
    assert {port for port, value in paused.items() if value} == {
        port for port, until_ps in _lanes(scraped, "lane", "until_ps").items() if until_ps
    }
    for port, value in seconds.items():
        now_ps = NOW_US * PS_PER_US - since_ps[port] if paused[port] else 0
        assert value == pytest.approx((past_ps[port] + now_ps) / 1e12, abs=1e-12)
    assert sum(paused.values()) > 0
    assert len([port for port, value in seconds.items() if value and not paused[port]]) > 0


def test_exporter_counts_storms_that_are_over_as_restored(scraped: Scraped) -> None:
    events = [event["kind"] for event in scraped.simulation.result()["events"]]
    restored = _series(scraped, "fabrictwin_pfc_watchdog_restored_total")
    assert sum(restored.values()) == events.count("pfc_restored") > 0


def test_exporter_gives_buffers_of_switches(scraped: Scraped) -> None:
    fabric = scraped.simulation.plan.scenario.fabric
    for index in fabric.switches:
        buffer = scraped.stepped.state.buffer[index]
        guid = f"0x{fabric.nodes[index].port_guid(1):016x}"
        for name, value in (
            ("bytes", buffer.used_bytes),
            ("watermark_bytes", buffer.peak_bytes),
            ("size_bytes", 1_000_000),
        ):
            assert scraped.value(NodeKind.SWITCH, f"fabrictwin_switch_buffer_{name}", guid=guid) == value
    assert max(scraped.pages[NodeKind.SWITCH]["fabrictwin_switch_buffer_watermark_bytes"].values()) > 0


def test_exporter_gives_queue_watermarks_of_every_priority(scraped: Scraped) -> None:
    peaks = scraped.pages[NodeKind.SWITCH]["fabrictwin_priority_queue_watermark_bytes"]
    by_priority = {str(priority): 0.0 for priority in range(8)}
    for labels, value in peaks.items():
        by_priority[dict(labels)["priority"]] += value
    assert {priority for priority, value in by_priority.items() if value} == {"1", "3", "6"}
    assert sum(peaks.values()) == int(scraped.stepped.state.lane.peak_bytes.sum())


def _rates_of(scraped: Scraped, host: str) -> Any:
    """RATE of the queue pairs of a host."""
    plan = scraped.simulation.plan
    node = plan.scenario.fabric.index_of[host]
    sources = np.repeat([flow.src.node for _, flow in plan.flows], np.diff(plan.first_qp))
    return scraped.stepped.state.rate[: len(sources)][sources == node]


@pytest.mark.parametrize("host", ["h0", "h4"])
def test_exporter_gives_rates_and_alpha_of_dcqcn(scraped: Scraped, host: str) -> None:
    fabric = scraped.simulation.plan.scenario.fabric
    guid = f"0x{fabric.nodes[fabric.index_of[host]].port_guid(1):016x}"
    rates = _rates_of(scraped, host)
    labels = {"guid": guid, "port": "1"}
    least = scraped.value(NodeKind.HCA, "fabrictwin_hca_least_rate_bytes_per_second", **labels)
    assert least == rates.rate_bps.min() // 8
    mean = scraped.value(NodeKind.HCA, "fabrictwin_hca_mean_rate_bytes_per_second", **labels)
    assert mean == rates.rate_bps.sum() // len(rates) // 8
    limited = rates[rates.limited == 1]
    alpha = scraped.value(NodeKind.HCA, "fabrictwin_hca_alpha_max", **labels)
    assert alpha == pytest.approx(max(limited.alpha_q30, default=0) / 2**30, abs=1e-6)
    assert scraped.value(NodeKind.HCA, "fabrictwin_hca_queue_pairs_throttled", **labels) == len(limited)
    assert len(limited) > 0
    assert least < rates.line_bps[0] // 8


def test_exporter_tells_how_long_a_paused_port_has_had_packets() -> None:
    """Without a watchdog the storm holds h6's switch port up, from a moment after it has begun."""
    at_us = 140
    scraped = scrape(
        SCENARIO.replace(
            "pfc_watchdog: {detection: 20us, restoration: 40us, poll: 10us}", "pfc_watchdog: none"
        ),
        (at_us,),
    )
    fabric = scraped.simulation.plan.scenario.fabric
    (link,) = (link for end, link in fabric.link_at.items() if fabric.nodes[end.node].name == "h6")
    end = link.other(PortRef(fabric.index_of["h6"], 1))
    labels = {
        "guid": f"0x{fabric.nodes[end.node].port_guid(end.port):016x}",
        "port": str(end.port),
        "vl": str(PRIORITY),
    }
    blocked = scraped.value(NodeKind.SWITCH, "fabrictwin_port_vl_blocked_seconds", **labels)
    assert 85e-6 < blocked < 90e-6
    assert scraped.value(NodeKind.SWITCH, "fabrictwin_port_vl_queued_bytes", **labels) > 4096


def test_exporter_names_hosts_as_node_exporter_does(scraped: Scraped) -> None:
    info = {"device": "h0", "board_id": "", "firmware_version": "", "hca_type": "connectx7_roce+"}
    assert scraped.value(NodeKind.HCA, "node_infiniband_info", **info) == 1
    fabric = scraped.simulation.plan.scenario.fabric
    for row in describe_ports(scraped.simulation.readout()):
        if fabric.nodes[fabric.index_of[row["node"]]].kind is not NodeKind.HCA:
            continue
        labels = {"device": row["node"], "port": str(row["port"]), "guid": row["guid"]}
        for name, value in (
            ("port_data_transmitted_bytes_total", row["port_xmit_data"]),
            ("port_data_received_bytes_total", row["port_rcv_data"]),
            ("port_packets_received_total", row["port_rcv_pkts"]),
            ("state_id", 4),
            ("physical_state_id", 5),
        ):
            assert scraped.value(NodeKind.HCA, f"node_infiniband_{name}", **labels) == value


@pytest.mark.parametrize("kind", NodeKind)
def test_exporter_gives_every_metric_of_roce_and_none_of_infiniband(scraped: Scraped, kind: NodeKind) -> None:
    of_service = [metric for metric in CATALOGUE if SERVICES[kind] in metric.services]
    other = {metric.name for metric in of_service if TECHNOLOGY.get(metric.rows) is Technology.INFINIBAND}
    expected = {metric.name for metric in of_service if metric.rows is not Rows.HEALTH} - other
    assert expected - scraped.pages[kind].keys() == set()
    assert other & scraped.pages[kind].keys() == set()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("np_ecn_marked_roce_packets_received", "ecn_received"),
        ("out_of_sequence_packets_received", "out_of_sequence"),
        ("duplicate_requests_packets", "duplicates"),
        ("packet_sequence_errors", "sequence_naks"),
        ("local_ack_timeout_errors", "ack_timeouts"),
        ("rnr_nak_retry_packets_received", "rnr_naks"),
    ],
)
def test_exporter_counts_what_happens_to_transport(scraped: Scraped, name: str, field: str) -> None:
    values = scraped.pages[NodeKind.HCA][f"node_infiniband_{name}_total"]
    counted = scraped.stepped.state.port_more[field]
    assert len(values) == len(scraped.simulation.plan.scenario.fabric.hcas)
    assert sum(values.values()) == int(counted.sum()) > 0


def test_exporter_counts_drops_of_lossy_priorities(scraped: Scraped) -> None:
    dropped = {
        dict(labels)["priority"]: value
        for kind in NodeKind
        for labels, value in scraped.pages[kind]["fabrictwin_priority_lossy_drops_total"].items()
        if value
    }
    assert dropped.keys() == {"1"}
