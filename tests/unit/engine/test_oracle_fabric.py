# SPDX-License-Identifier: Apache-2.0
"""The whole-fabric oracle against times and rates worked out by hand from docs/models/infiniband.md."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.congestion import CongestionControl
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.qos import Qos
from fabrictwin.units import PS_PER_MS, PS_PER_US
from reference.case import Case
from reference.fabric import OracleFabric
from reference.packet import PacketKind
from reference.small_fabric import HCA, SWITCH, build_case, stream

DELAY = 50_000
PACKET = 1024 + 26
BYTE = 20
WIRE = PACKET * BYTE
FCP = 8 * BYTE
TX, FORWARDING, RX = 300_000, 200_000, 200_000
STAR = (("h0/1", "sw0/1"), ("h1/1", "sw0/2"), ("h2/1", "sw0/3"))


def run(case: Case, until_ps: int = PS_PER_MS) -> OracleFabric:
    fabric = OracleFabric(case)
    fabric.run(until_ps)
    return fabric


def data_starts(fabric: OracleFabric, node: int, port: int = 1) -> list[int]:
    return [
        row.start_ps
        for row in fabric.world.packets
        if (row.node, row.port, row.kind) == (node, port, PacketKind.DATA)
    ]


def latency(fabric: OracleFabric) -> int:
    (summary,) = fabric.summaries()
    assert summary.messages == 1
    return summary.latencies_ps[0]


def test_zero_load_latency_of_a_cut_through_switch_has_one_serialisation() -> None:
    assert latency(run(build_case(STAR, [stream(0, 1, 1024)]))) == TX + DELAY + FORWARDING + DELAY + WIRE + RX


def test_zero_load_latency_of_store_and_forward_has_two_serialisations() -> None:
    case = build_case(STAR, [stream(0, 1, 1024)], replace(SWITCH, forwarding="store_and_forward"))
    assert latency(run(case)) == TX + DELAY + WIRE + FORWARDING + DELAY + WIRE + RX


def test_faster_egress_waits_for_the_whole_packet() -> None:
    cables = (("h0/1", "sw0/1", 100_000_000_000), ("h1/1", "sw0/2"))
    assert latency(run(build_case(cables, [stream(0, 1, 1024)]))) == (
        TX + 4 * WIRE + DELAY + FORWARDING + DELAY + WIRE + RX
    )


def test_slower_egress_cuts_through() -> None:
    cables = (("h0/1", "sw0/1"), ("h1/1", "sw0/2", 100_000_000_000))
    assert latency(run(build_case(cables, [stream(0, 1, 1024)]))) == (
        TX + DELAY + FORWARDING + DELAY + 4 * WIRE + RX
    )


def test_message_of_several_packets_is_sent_back_to_back() -> None:
    fabric = run(build_case(STAR, [stream(0, 1, 5 * 1024)]))
    assert data_starts(fabric, 0) == [TX + number * WIRE for number in range(5)]


def test_next_message_is_prefetched_while_the_last_packet_is_on_the_wire() -> None:
    fabric = run(build_case(STAR, [stream(0, 1, 1024, count=3)]))
    assert data_starts(fabric, 0) == [TX, TX + WIRE, TX + 2 * WIRE]


def test_throughput_is_limited_by_the_credit_round_trip() -> None:
    """Two packets fit the receiver: two go out per packet, two propagations and a flow-control packet."""
    hca = replace(HCA, receive_buffer_bytes=2 * 17 * 64, ack_every=1000)
    fabric = run(build_case((("h0/1", "h1/1"),), [stream(0, 1, 6 * 1024)], hca=hca))
    round_trip = WIRE + DELAY + FCP + DELAY
    assert data_starts(fabric, 0) == [
        TX + turn * round_trip + number * WIRE for turn in range(3) for number in range(2)
    ]
    assert [row.fccl for row in fabric.world.fcps if row.node == 1] == [
        34 + 17 * number for number in range(1, 7)
    ]


def test_flow_control_packet_delays_data_of_the_other_direction() -> None:
    """Both HCAs send at once: each arrival makes a flow-control packet that goes ahead of the next packet."""
    hca = replace(HCA, ack_every=1000)
    fabric = run(build_case((("h0/1", "h1/1"),), [stream(0, 1, 6144), stream(1, 0, 6144)], hca=hca))
    first_due = TX + WIRE + DELAY
    starts = data_starts(fabric, 0)
    assert starts[:4] == [TX + number * WIRE for number in range(4)]
    assert first_due == TX + WIRE + 50_000
    assert starts[4] == TX + 4 * WIRE + FCP


def test_two_inputs_share_an_output_in_turns() -> None:
    fabric = run(build_case(STAR, [stream(1, 0, 8 * 1024), stream(2, 0, 8 * 1024)]))
    owners = [
        row.queue_pair
        for row in fabric.world.packets
        if (row.node, row.port, row.kind) == (3, 1, PacketKind.DATA)
    ]
    assert owners[2:14] == [0, 1] * 6


def test_ring_of_full_buffers_stops_for_ever() -> None:
    """Three switches in a ring, each host sends two hops clockwise, room for two packets: a credit loop."""
    cables = [(f"h{number}/1", f"sw{number}/1") for number in range(3)]
    cables += [(f"sw{number}/2", f"sw{(number + 1) % 3}/3") for number in range(3)]
    clockwise = {
        3 + switch: {host + 1: 1 if host == switch else 2 for host in range(3)} for switch in range(3)
    }
    case = build_case(
        cables,
        [stream(host, (host + 2) % 3, 64 * 1024) for host in range(3)],
        replace(SWITCH, buffer_per_vl_bytes=2 * 17 * 64),
        replace(HCA, ack_timeout_ps=PS_PER_MS),
        lft=clockwise,
    )
    fabric = run(case, PS_PER_MS - 1)
    assert max(row.start_ps for row in fabric.world.packets) < 20 * PS_PER_US
    for switch in range(3, 6):
        lane = fabric.ports[PortRef(switch, 2)].lanes[0]
        assert not lane.sender.may_send(17)
    assert [summary.messages for summary in fabric.summaries()] == [0, 0, 0]


def test_slow_receiver_holds_its_credits_back() -> None:
    case = build_case(STAR, [stream(0, 1, 64 * 1024)], hca=replace(HCA, drain_rate_bps=100_000_000_000))
    expected = TX + 2 * DELAY + FORWARDING + WIRE + 64 * 4 * WIRE + RX
    assert latency(run(case)) == expected


def test_receiver_that_is_not_ready_is_tried_again_after_the_rnr_timer() -> None:
    actions = [
        Action(0, ActionKind.RECEIVE_QUEUE, PortRef(1, 1), 0),
        Action(5 * PS_PER_US, ActionKind.RECEIVE_QUEUE, PortRef(1, 1), 1),
    ]
    hca = replace(HCA, rnr_timer_ps=10 * PS_PER_US)
    fabric = run(build_case(STAR, [stream(0, 1, 2048)], hca=hca, actions=actions))
    nak_out = TX + WIRE + 2 * DELAY + FORWARDING + FCP
    again = nak_out + 30 * BYTE + 2 * DELAY + FORWARDING + hca.rnr_timer_ps
    assert data_starts(fabric, 0) == [TX, TX + WIRE, again, again + WIRE]
    assert fabric.summaries()[0].messages == 1


@pytest.mark.parametrize("llr", [False, True])
def test_symbol_errors_lose_no_message(llr: bool) -> None:
    case = build_case(
        STAR,
        [stream(0, 1, 8 * 1024, count=10), stream(2, 1, 8 * 1024, count=10)],
        replace(SWITCH, llr=llr),
        replace(HCA, llr=llr, ack_timeout_ps=20 * PS_PER_US),
        actions=[Action(0, ActionKind.LINK_ERROR, PortRef(1, 1), 2**32 // 10)],
    )
    fabric = run(case, 20 * PS_PER_MS)
    assert [summary.messages for summary in fabric.summaries()] == [10, 10]
    counters = fabric.ports[PortRef(1, 1)].counters
    assert counters["symbol_error_counter"] > 0
    assert (counters["local_link_integrity_errors"] > 0) is llr
    assert (sum(summary.retransmitted for summary in fabric.summaries()) > 0) is not llr


def test_blocks_of_lost_packets_come_back_with_the_next_flow_control_packet() -> None:
    """Both packets that fit the buffer are lost: only the sender's flow-control packet frees their blocks."""
    hca = replace(HCA, receive_buffer_bytes=2 * 17 * 64, ack_timeout_ps=20 * PS_PER_US)
    actions = [
        Action(0, ActionKind.LINK_ERROR, PortRef(0, 1), 2**32 - 1),
        Action(PS_PER_US, ActionKind.LINK_ERROR, PortRef(0, 1), 0),
    ]
    fabric = run(build_case((("h0/1", "h1/1"),), [stream(0, 1, 2048)], hca=hca, actions=actions))
    refresh = 262_144 * BYTE
    answer = refresh + FCP + DELAY
    assert [row[:3] for row in fabric.world.fcps[:2]] == [(refresh, 0, 1), (answer, 1, 1)]
    assert fabric.world.fcps[1].fccl == 68
    timeout = TX + hca.ack_timeout_ps
    assert data_starts(fabric, 0) == [TX, TX + WIRE, timeout, timeout + WIRE]
    assert timeout > answer + FCP + DELAY


def test_messages_survive_a_link_that_goes_down_and_up() -> None:
    actions = [
        Action(2 * PS_PER_US, ActionKind.LINK_STATE, PortRef(0, 1), 0),
        Action(30 * PS_PER_US, ActionKind.LINK_STATE, PortRef(0, 1), 1),
    ]
    hca = replace(HCA, ack_timeout_ps=20 * PS_PER_US)
    fabric = run(build_case(STAR, [stream(0, 1, 16 * 1024, count=10)], hca=hca, actions=actions))
    assert fabric.summaries()[0].messages == 10
    starts = data_starts(fabric, 0)
    assert not [start for start in starts if 2 * PS_PER_US <= start < 30 * PS_PER_US]
    assert min(start for start in starts if start > 2 * PS_PER_US) == 30 * PS_PER_US + FCP + DELAY
    assert fabric.ports[PortRef(0, 1)].counters["link_downed_counter"] == 1


def test_head_of_queue_lifetime_frees_a_fabric_behind_a_dead_receiver() -> None:
    case = build_case(
        STAR,
        [stream(0, 1, 32 * 1024), stream(2, 0, 32 * 1024)],
        replace(SWITCH, leaf_hoq_life_ps=5 * PS_PER_US),
        replace(HCA, retry_count=1),
        actions=[Action(0, ActionKind.DRAIN_RATE, PortRef(1, 1), 0)],
    )
    fabric = run(case)
    assert [summary.messages for summary in fabric.summaries()] == [0, 1]
    assert fabric.summaries()[0].failed
    assert fabric.ports[PortRef(3, 2)].counters["port_xmit_discards"] == len(fabric.world.discards) > 0
    ninth_starts = TX + DELAY + FORWARDING + WIRE + FCP + DELAY
    assert data_starts(fabric, 0)[8] == ninth_starts
    assert fabric.world.discards[0].at_ps == ninth_starts + DELAY + FORWARDING + 5 * PS_PER_US


def test_two_vls_share_a_link_by_their_weights() -> None:
    qos = Qos(2, tuple(sl % 2 for sl in range(16)), (), ((0, 17 * 3), (1, 17)), 0)
    jobs = [stream(0, 1, 64 * 1024, sl=0), stream(2, 1, 64 * 1024, sl=1)]
    deep = 64 * 17 * 64
    case = build_case(
        STAR,
        jobs,
        replace(SWITCH, buffer_per_vl_bytes=deep),
        replace(HCA, receive_buffer_bytes=deep),
        qos=qos,
    )
    fabric = run(case)
    vls = [
        row.vl for row in fabric.world.packets if (row.node, row.port, row.kind) == (3, 2, PacketKind.DATA)
    ]
    assert vls[4:44].count(0) == 30


def test_congestion_control_marks_at_the_root_and_slows_the_senders() -> None:
    control = CongestionControl(
        algorithm="ib_cca",
        threshold=15,
        packet_size_blocks=8,
        victim_ports=(PortRef(3, 1),),
        ccti_increase=1,
        ccti_limit=7,
        ccti_timer=10,
        cct=tuple((0, number) for number in range(8)),
    )
    jobs = [stream(1, 0, 128 * 1024), stream(2, 0, 128 * 1024)]
    plain = run(build_case(STAR, jobs))
    controlled = run(build_case(STAR, jobs, congestion_control=control))
    assert any(row.fecn for row in controlled.world.packets)
    assert any(row.becn for row in controlled.world.packets)
    assert not any(row.fecn for row in plain.world.packets)
    gaps = [
        b - a - WIRE for a, b in zip(data_starts(controlled, 1), data_starts(controlled, 1)[1:], strict=False)
    ]
    assert {gap // WIRE for gap in gaps if gap % WIRE == 0} >= {0, 1, 2}
    assert [summary.messages for summary in controlled.summaries()] == [1, 1]


def test_packet_without_a_route_is_discarded_at_its_input() -> None:
    case = build_case(
        STAR, [stream(0, 1, 1024)], replace(SWITCH), replace(HCA, retry_count=0), lft={3: {1: 1}}
    )
    fabric = run(case)
    assert fabric.ports[PortRef(3, 1)].counters["port_rcv_switch_relay_errors"] == 1
    assert fabric.summaries()[0].failed
