# SPDX-License-Identifier: Apache-2.0
"""The link of the oracle against sections 2, 3 and 7 of docs/models/infiniband.md, worked out by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace

from fabrictwin.engine.rng import Stream
from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import PortRef
from fabrictwin.units import PS_PER_MS
from reference.fabric import OracleFabric
from reference.packet import PacketKind
from reference.small_fabric import HCA, SWITCH, build_case, stream

WIRE = 1050 * 20
DELAY = 50_000
PAIR = (("h0/1", "h1/1"),)
STAR = (("h0/1", "sw0/1"), ("h1/1", "sw0/2"))
PATIENT = replace(HCA, ack_timeout_ps=PS_PER_MS // 2)


def test_flow_control_packets_of_a_vl_keep_the_minimum_gap() -> None:
    gap = 100_000
    fabric = OracleFabric(build_case(STAR, [stream(0, 1, 8 * 1024)], replace(SWITCH, fcp_min_gap_ps=gap)))
    fabric.run(PS_PER_MS)
    starts = [row.start_ps for row in fabric.world.fcps if (row.node, row.port) == (2, 1)]
    assert len(starts) < 8, "one carries what several packets have freed"
    assert min(later - earlier for earlier, later in itertools.pairwise(starts)) == gap


def test_a_retry_on_the_link_costs_the_packet_and_a_round_trip() -> None:
    """Every packet is hit until the errors end: the eighth hit in a row loses it."""
    errors = [Action(0, ActionKind.LINK_ERROR, PortRef(0, 1), 2**31)]
    case = build_case(PAIR, [stream(0, 1, 16 * 1024)], hca=replace(PATIENT, llr=True), actions=errors)
    fabric = OracleFabric(case)
    fabric.run(PS_PER_MS // 4)
    draws = [
        [fabric.world.draw(Stream.PACKET_ERROR, 0, packet * 8 + attempt) >> 63 for attempt in range(8)]
        for packet in range(4)
    ]
    hits = [attempts.index(1) if 1 in attempts else 7 for attempts in draws]
    starts = [row.start_ps for row in fabric.world.packets if (row.node, row.kind) == (0, PacketKind.DATA)]
    expected = HCA.tx_latency_ps
    for start, tries in zip(starts, hits, strict=False):
        assert start == expected, "the trace shows the first try"
        expected += tries * (WIRE + 2 * DELAY) + WIRE
    assert fabric.ports[PortRef(1, 1)].counters["local_link_integrity_errors"] >= sum(hits) > 0


def test_fec_jitter_stays_within_a_codeword_and_keeps_packets_in_order() -> None:
    fec = 30_000
    case = build_case(PAIR, [stream(0, 1, 64 * 1024)], hca=replace(PATIENT, fec_latency_ps=fec))
    fabric = OracleFabric(case)
    arrivals = []
    port = fabric.ports[PortRef(1, 1)]
    port.owner.arrive, arrive = lambda arrival: (arrivals.append(arrival), arrive(arrival)), port.owner.arrive
    fabric.run(PS_PER_MS)
    assert len(arrivals) == 64
    starts = [row.start_ps for row in fabric.world.packets if (row.node, row.kind) == (0, PacketKind.DATA)]
    delays = [
        arrival.head_in_ps - start - DELAY - fec for arrival, start in zip(arrivals, starts, strict=True)
    ]
    assert all(0 <= delay < 640 * 20 for delay in delays)
    assert len(set(delays)) > 10
    for earlier, later in itertools.pairwise(arrivals):
        assert later.head_in_ps >= earlier.tail_in_ps


def test_link_rate_counts_for_packets_that_start_later() -> None:
    slower = [Action(HCA.tx_latency_ps + WIRE // 2, ActionKind.LINK_RATE, PortRef(0, 1), 100_000_000_000)]
    fabric = OracleFabric(build_case(PAIR, [stream(0, 1, 3 * 1024)], hca=PATIENT, actions=slower))
    fabric.run(PS_PER_MS)
    starts = [row.start_ps for row in fabric.world.packets if row.node == 0]
    assert [later - earlier for earlier, later in itertools.pairwise(starts)] == [WIRE, 4 * WIRE]
