# SPDX-License-Identifier: Apache-2.0
"""Every packet of a DCQCN sender leaves when the oracle says, and every CNP of a receiver too."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fabrictwin.engine.codes import Flag, PacketKind
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.dcqcn import Dcqcn
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from reference.dcqcn import NotificationPoint, ReactionPoint
from validation.ethernet import build_roce, state_of
from validation.setups import packets_sent, port_index, star, wire_ps

SENDERS = 3
PROFILES = [("paper", "40Gb/s", "dcqcn_paper"), ("connectx", "100Gb/s", "hpcc"), ("hpcc", "100Gb/s", "hpcc")]


def simulate(profile: str, rate: str, ecn: str) -> Simulation:
    """Hosts that send to one without end, one queue pair each."""
    simulation = open_simulation(
        build_roce(
            star(SENDERS + 1),
            [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
            switch={"ecn": {"profile": ecn}},
            rate=rate,
            congestion_control={"algorithm": "dcqcn", "profile": profile},
            duration="1s",
        ),
        trace=True,
    )
    simulation.run(1500 * PS_PER_US)
    assert simulation.result()["totals"]["pfc_pause_sent"] == 0
    return simulation


def rules_of(simulation: Simulation) -> Dcqcn:
    rules = simulation.plan.scenario.congestion_control.rates
    assert isinstance(rules, Dcqcn)
    return rules


def line_of(simulation: Simulation) -> int:
    return int(simulation.plan.scenario.fabric.links[0].rate_bps)


def heard_ps(simulation: Simulation, switch_port: int, kind: PacketKind) -> Any:
    """(when its last byte is in, packet) of each packet that a switch has sent to a host."""
    delay_ps = int(state_of(simulation).port.delay_ps[port_index(simulation, f"sw0/{switch_port}")])
    rows = packets_sent(simulation, f"sw0/{switch_port}", kind)
    return [(int(row.start_ps) + delay_ps + wire_ps(int(row.wire), line_of(simulation)), row) for row in rows]


def worst_gap(simulation: Simulation, rules: Dcqcn, host: int) -> tuple[float, int]:
    """(largest relative error of the time between two packets of a sender, packets while it was limited)."""
    oracle = ReactionPoint(rules, float(line_of(simulation)))
    packets = packets_sent(simulation, f"h{host}/1")
    cnps = [at_ps for at_ps, _ in heard_ps(simulation, host + 1, PacketKind.CNP)]
    worst, limited = 0.0, 0
    for row, after in pairwise(packets):
        while cnps and cnps[0] <= int(row.start_ps):
            oracle.hear_cnp(cnps.pop(0))
        gap_ps = oracle.send(int(row.wire), int(row.start_ps))
        limited += oracle.is_limited
        took_ps = int(after.start_ps) - int(row.start_ps)
        worst = max(worst, abs(took_ps - gap_ps) / gap_ps)
    return worst, limited


@pytest.mark.parametrize(("profile", "rate", "ecn"), PROFILES)
def test_every_packet_leaves_when_the_oracle_says(profile: str, rate: str, ecn: str) -> None:
    simulation = simulate(profile, rate, ecn)
    limited = 0
    for host in range(1, SENDERS + 1):
        worst, packets = worst_gap(simulation, rules_of(simulation), host)
        # Rates are whole bit/s, and a cut counts in 2**-20 of them: far less than one step of anything.
        assert worst < 1e-4
        limited += packets
    assert limited > 1000


@pytest.mark.parametrize(("profile", "rate", "ecn"), PROFILES)
def test_every_cnp_leaves_when_the_oracle_says(profile: str, rate: str, ecn: str) -> None:
    simulation = simulate(profile, rate, ecn)
    points: dict[int, NotificationPoint] = {}
    due: dict[int, list[int]] = {}
    for at_ps, row in heard_ps(simulation, 1, PacketKind.DATA):
        point = points.setdefault(int(row.qp), NotificationPoint(rules_of(simulation).cnp_interval_ps))
        if int(row.bits) & Flag.CE and at_ps < 1500 * PS_PER_US and point.hear_mark(at_ps):
            due.setdefault(int(row.qp), []).append(at_ps)
    sent = packets_sent(simulation, "h0/1", PacketKind.CNP)
    assert len(sent) > 10
    for qp, times_ps in due.items():
        starts_ps = sent.start_ps[sent.qp == qp]
        # What may be in front of it is an acknowledgement, and a CNP of each other queue pair.
        waits_ps = starts_ps - np.array(times_ps[: len(starts_ps)])
        assert len(times_ps) - len(starts_ps) in (0, 1)
        assert ((waits_ps >= 0) & (waits_ps <= wire_ps(84 + 98 * SENDERS, line_of(simulation)))).all()


@pytest.mark.parametrize(
    "change",
    [
        {"g_q30": (1 << 30) // 250},
        {"alpha_timer_ps": 60 * PS_PER_US},
        {"rate_timer_ps": 54 * PS_PER_US},
        {"byte_counter_bytes": 1_000_000},
        {"threshold": 4},
        {"rate_ai_bps": 60_000_000},
        {"initial_alpha_q30": (1 << 30) * 127 // 128},
        {"min_decrease_q16": 40_000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_oracle_of_other_parameters_differs(change: dict[str, int]) -> None:
    simulation = simulate(*PROFILES[0])
    changed = replace(rules_of(simulation), **change)
    assert max(worst_gap(simulation, changed, host)[0] for host in range(1, SENDERS + 1)) > 1e-3
