# SPDX-License-Identifier: Apache-2.0
"""The CCTI rises with each BECN up to its limit, and falls by one with each period of its timer.

Setup: two hosts keep the port of h0 congested; h1 sends k packets through it and then nothing. All are
marked (threshold 15, marking rate 0), every packet is acknowledged, and the table holds no delay, so that
the k BECNs come within one timer period.
Expected: CCTI = min(limit, max(CCTI, min) + k * increase); from the moment it left the minimum, one less
with each ccti_timer * 1.024 us until it is the minimum again: with timer 150 from 127 to 0 in 19.51 ms.
Tolerance: none. Each step is checked 1 ps before and at its time.
"""

from __future__ import annotations

import pytest

from fabrictwin.engine.codes import Flag, PacketKind
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.setups import build, open_simulation, packets_sent, star, wire_ps

TIMER, TIMER_UNIT_PS = 150, 1_024_000
LIMIT = 127
REACTION_PS = PS_PER_US
CABLE_PS = 50_000
ACK_BYTES = 30
OBSERVED = 0
"""Queue pair of h1, which is that of the first flow."""


def congested(packets: int, increase: int, least: int) -> Scenario:
    burst = {"kind": "stream", "name": "burst", "src": "h1", "dst": "h0", "start": "50us"}
    others = {
        "kind": "incast",
        "senders": ["h2", "h3"],
        "receiver": "h0",
        "message": "1MiB",
        "count": "forever",
    }
    # Keeps the run from ending before the timer.
    elsewhere = {
        "kind": "stream",
        "src": "h2",
        "dst": "h3",
        "message": "64B",
        "rate": "1Mb/s",
        "count": "forever",
    }
    return build(
        star(4),
        [burst | {"message": f"{packets * 4096}B"}, others | {"stop": "150us"}, elsewhere],
        hca={"ack_every": 1},
        congestion_control={
            "algorithm": "ib_cca",
            "threshold": 15,
            "packet_size": 0,
            "marking_rate": 0,
            "ccti_increase": increase,
            "ccti_min": least,
            "ccti_limit": LIMIT,
            "ccti_timer": TIMER,
            "cct": [{"shift": 0, "multiplier": 0}] * (LIMIT + 1),
        },
        duration="30ms",
    )


def ccti(simulation: Simulation) -> int:
    return int(simulation.readout().congestion.ccti[OBSERVED])


def first_becn_ps(simulation: Simulation) -> int:
    """When congestion control hears of the first BECN."""
    acknowledgements = packets_sent(simulation, "sw0/2", PacketKind.ACK)
    marked = acknowledgements[acknowledgements["bits"] & Flag.BECN > 0]
    arrival_ps = int(marked.start_ps[0]) + wire_ps(ACK_BYTES, 400_000_000_000) + CABLE_PS
    return arrival_ps + REACTION_PS // 2


@pytest.mark.parametrize(
    ("becns", "increase", "least"), [(1, 1, 0), (5, 1, 0), (127, 1, 0), (300, 1, 0), (20, 3, 0), (7, 2, 10)]
)
def test_ccti_rises_with_becns_and_falls_with_its_timer(
    becns: int, increase: int, least: int, measured: Note
) -> None:
    simulation = open_simulation(congested(becns, increase, least), trace=True)
    simulation.run(150 * PS_PER_US)
    peak = ccti(simulation)
    expected = min(LIMIT, least + becns * increase)
    start_ps, timer_ps = first_becn_ps(simulation), TIMER * TIMER_UNIT_PS
    falls = []
    for step in range(1, peak - least + 2):
        simulation.run(start_ps + step * timer_ps)
        before = ccti(simulation)
        simulation.run(start_ps + step * timer_ps + 1)
        falls.append((before, ccti(simulation)))
    length_ps = sum(before != after for before, after in falls) * timer_ps
    measured(
        f"k = {becns}, increase {increase}, minimum {least}",
        f"CCTI {expected}, {least} after {(expected - least) * timer_ps / PS_PER_MS:.3f} ms",
        f"CCTI {peak}, {falls[-1][1]} after {length_ps / PS_PER_MS:.3f} ms",
    )
    assert simulation.readout().congestion.becns[OBSERVED] == becns
    assert peak == expected
    assert falls[:-1] == [(value, value - 1) for value in range(peak, least, -1)]
    assert falls[-1] == (least, least)
