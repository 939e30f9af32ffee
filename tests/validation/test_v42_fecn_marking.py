# SPDX-License-Identifier: Apache-2.0
"""A congested port marks one of every R + 1 eligible packets; small ones and those of victims are not.

Setup: four hosts send to h0 without end, so that its port stands above the threshold; the table holds no
delay.
Expected: with marking rate R the mean number of unmarked packets between two marks is R, the marked
fraction 1 / (R + 1); packets of fewer credit blocks than packet_size are never marked. A port that waits
for credits (h0 drains at half its link's rate) is a victim: it marks only if it is in the victim mask.
Tolerance: 5 % of the fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from fabrictwin.engine.codes import Flag
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import Keys, build, open_simulation, packets_sent, run, star

SENDERS = ("h1", "h2", "h3", "h4")


def congested(workload: list[Keys], faults: list[Keys] | None = None, **control: Any) -> Scenario:
    no_delay = [{"shift": 0, "multiplier": 0}] * 128
    tight = {"algorithm": "ib_cca", "threshold": 15, "packet_size": 0, "cct": no_delay}
    return build(star(5), workload, congestion_control=tight | control, duration="300us", faults=faults or [])


def incast(senders: Sequence[str] = SENDERS) -> list[Keys]:
    endless = {"message": "1MiB", "count": "forever"}
    return [{"kind": "incast", "senders": list(senders), "receiver": "h0"} | endless]


def marked_fraction(scenario: Scenario) -> float:
    """Of the data packets that h0's port sends after 50 us."""
    packets = packets_sent(run(scenario, 300 * PS_PER_US, trace=True), "sw0/1")
    flags = packets["bits"][packets.start_ps > 50 * PS_PER_US]
    assert len(flags) > 1000
    return float(((flags & Flag.FECN) > 0).mean())


@pytest.mark.parametrize("rate", [0, 1, 3, 9, 49])
def test_marked_fraction_follows_the_marking_rate(rate: int, measured: Note) -> None:
    fraction = marked_fraction(congested(incast(), marking_rate=rate))
    measured(f"marking rate {rate}", f"{1 / (rate + 1):.4f} ± 5%", f"{fraction:.4f}")
    assert fraction == pytest.approx(1 / (rate + 1), rel=0.05)


@pytest.mark.parametrize(("payload", "blocks"), [(100, 2), (2020, 32), (2048, 33), (4096, 65)])
def test_packets_below_the_packet_size_are_never_marked(payload: int, blocks: int, measured: Note) -> None:
    """Among packets of full size, with packet_size 33."""
    odd = {"kind": "stream", "src": "h1", "dst": "h0", "message": f"{payload}B", "count": "forever"}
    workload = [odd, *incast(SENDERS[1:])]
    simulation = open_simulation(congested(workload, packet_size=33, marking_rate=0), trace=True)
    simulation.run(200 * PS_PER_US)
    packets = packets_sent(simulation, "sw0/1")
    packets = packets[(packets.qp == 0) & (packets.start_ps > 50 * PS_PER_US)]
    fraction = float(((packets["bits"] & Flag.FECN) > 0).mean())
    expected = 1 if blocks >= 33 else 0
    measured(f"packet_size 33, packets of {blocks} blocks", f"{expected}", f"{fraction:g}")
    assert len(packets) > 100
    assert fraction == expected


@pytest.mark.parametrize(("mask", "expected"), [("none", 0), ("hca_facing", 1)])
def test_victim_marks_only_with_the_victim_mask(mask: str, expected: int, measured: Note) -> None:
    slow = [{"kind": "slow_receiver", "node": "h0", "rate": "200Gb/s", "at": "0us"}]
    fraction = marked_fraction(congested(incast(), slow, marking_rate=0, victim_mask=mask))
    measured(f"victim, victim_mask {mask}", f"{expected}", f"{fraction:g}")
    assert fraction == expected
