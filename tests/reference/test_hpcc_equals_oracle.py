# SPDX-License-Identifier: Apache-2.0
"""Every packet of an HPCC sender leaves when the oracle says, from what switches send and adapters hear."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from fabrictwin.engine.codes import PacketKind
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.hpcc import Hpcc
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_NS, PS_PER_S, PS_PER_US
from reference.hpcc import LinkUse, Sender
from validation.ethernet import build_roce, state_of
from validation.setups import packets_sent, port_index, star, wire_ps

SENDERS, LINE_BPS, MTU = 3, 100_000_000_000, 1024
GAP_BYTES, LATENCY_PS, DURATION_PS = 20, 300 * PS_PER_NS, 300 * PS_PER_US


def simulate() -> Simulation:
    """Hosts that send to one without end, one queue pair each."""
    simulation = open_simulation(
        build_roce(
            star(SENDERS + 1),
            [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
            switch={"forwarding_latency": f"{LATENCY_PS}ps"},
            rate="100Gb/s",
            length="100m",
            mtu=MTU,
            congestion_control={"algorithm": "hpcc", "profile": "paper", "base_rtt": "4us", "max_stage": 2},
            duration="1s",
        ),
        trace=True,
    )
    simulation.run(DURATION_PS)
    assert simulation.result()["totals"]["pfc_pause_sent"] == 0
    return simulation


def rules_of(simulation: Simulation) -> Hpcc:
    rules = simulation.plan.scenario.congestion_control.rates
    assert isinstance(rules, Hpcc)
    return rules


def delay_of(simulation: Simulation) -> int:
    return int(state_of(simulation).port.delay_ps[port_index(simulation, "sw0/1")])


def echoes(simulation: Simulation, rules: Hpcc) -> dict[int, deque[tuple[int, int, Fraction]]]:
    """(arrival at the sender, PSN, use) of every acknowledgement, by host."""
    delay_ps = delay_of(simulation)
    arrivals = sorted(
        (int(row.start_ps) + delay_ps + LATENCY_PS, int(row.wire) - GAP_BYTES)
        for host in range(1, SENDERS + 1)
        for row in packets_sent(simulation, f"h{host}/1")
    )
    link = LinkUse(LINE_BPS, rules.base_rtt_ps)
    told: dict[int, list[tuple[int, Fraction]]] = {}
    come = gone = 0
    at = 0
    for row in packets_sent(simulation, "sw0/1"):
        while at < len(arrivals) and arrivals[at][0] < row.start_ps:
            come += arrivals[at][1]
            at += 1
        gone += int(row.wire) - GAP_BYTES
        use = link.leave(int(row.wire), max(0, come - gone), int(row.start_ps))
        end_ps = int(row.start_ps) + delay_ps + wire_ps(int(row.wire), LINE_BPS)
        told.setdefault(int(row.qp), []).append((end_ps, use))
    heard: dict[int, deque[tuple[int, int, Fraction]]] = {}
    for qp in range(SENDERS):
        host = qp + 1
        sent = [int(row.start_ps) for row in packets_sent(simulation, "h0/1", PacketKind.ACK) if row.qp == qp]
        back = packets_sent(simulation, f"sw0/{host + 1}", PacketKind.ACK)
        heard[host] = deque()
        for start_ps, row in zip(sent, back, strict=False):
            use = [use for end_ps, use in told[qp] if end_ps <= start_ps][-1]
            arrival_ps = int(row.start_ps) + delay_ps + wire_ps(int(row.wire), LINE_BPS)
            heard[host].append((arrival_ps, int(row.psn), use))
    return heard


def differences(simulation: Simulation, rules: Hpcc) -> tuple[int, int]:
    """(packets that leave at another time than the oracle says, packets that wait for their rate)."""
    full = MTU + 82 + rules.telemetry_bytes
    different = limited = 0
    for host, acks in echoes(simulation, rules).items():
        sender = Sender(rules, LINE_BPS)
        packets = packets_sent(simulation, f"h{host}/1")
        for psn, (row, after) in enumerate(pairwise(packets), 1):
            limited += sender.rate_bps < LINE_BPS
            expected_ps = int(row.start_ps) + int(row.wire) * 8 * PS_PER_S // sender.rate_bps
            while acks and (acks[0][0] <= expected_ps or not sender.may_send(psn, full)):
                at_ps, acknowledged, use = acks.popleft()
                sender.hear(acknowledged, use, psn)
                expected_ps = max(expected_ps, at_ps)
            different += expected_ps != int(after.start_ps)
    return different, limited


def test_every_packet_leaves_when_the_oracle_says() -> None:
    simulation = simulate()
    different, limited = differences(simulation, rules_of(simulation))
    assert different == 0
    assert limited > 1000


@pytest.mark.parametrize(
    "change", [{"eta_q16": 62_000}, {"max_stage": 3}, {"flows": 90}, {"base_rtt_ps": 4_010_000}], ids=str
)
def test_oracle_of_other_parameters_differs(change: dict[str, int]) -> None:
    simulation = simulate()
    assert differences(simulation, replace(rules_of(simulation), **change))[0] > 100
