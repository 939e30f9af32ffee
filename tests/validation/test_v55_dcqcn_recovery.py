# SPDX-License-Identifier: Apache-2.0
"""After one CNP, DCQCN halves the rate and recovers by timer and byte counter.

Setup: one queue pair at 40 Gb/s with the parameters of the paper, alpha 1; a CNP at t = 0.
Expected: 20 Gb/s, then 30 (55 us), 35 (110), 37.5 (165), 38.75 (220), 39.375 (275), 39.69 (330 us). With a
timer of 1.5 ms: 30 at 1.5 ms, 35 at 3.0 ms, and 37.5 when 10 MB have been sent since the cut, at 3.14 ms.
Tolerance: one timer phase, here none: the timer starts with the CNP; 1 % of time for the byte counter.
"""

from __future__ import annotations

import pytest

from fabrictwin.engine.cc.dcqcn import on_cnp
from fabrictwin.engine.cc.rate import sending_time
from fabrictwin.engine.simulation import Simulation
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, state_of, wire_bytes
from validation.setups import star

RATES_GBPS = ((1, 20.0), (56, 30.0), (111, 35.0), (166, 37.5), (221, 38.75), (276, 39.375), (331, 39.69))


def queue_pair(**parameters: str) -> Simulation:
    scenario = build_roce(
        star(2),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "1MiB"}],
        rate="40Gb/s",
        congestion_control={"algorithm": "dcqcn", "profile": "paper"} | parameters,
    )
    return open_simulation(scenario)


def test_rate_recovers_with_the_timer(measured: Note) -> None:
    state = state_of(queue_pair())
    on_cnp(state, 0, 0)
    for at_us, expected in RATES_GBPS:
        sending_time(state, 0, 1, at_us * PS_PER_US)
        rate = int(state.rate[0].rate_bps) / 1e9
        measured(f"{at_us} us", f"{expected} Gb/s", f"{rate:.2f} Gb/s")
        assert rate == pytest.approx(expected, abs=0.006)


def test_rate_recovers_with_the_byte_counter(measured: Note) -> None:
    state = state_of(queue_pair(rate_timer="1.5ms"))
    on_cnp(state, 0, 0)
    now_ps, times_ps, rates = 0, [], [20.0]
    while len(times_ps) < 3:
        now_ps += int(sending_time(state, 0, wire_bytes(4096), now_ps))
        rate = int(state.rate[0].rate_bps) / 1e9
        if rate != rates[-1]:
            rates.append(rate)
            times_ps.append(now_ps)
    times_ms = [time_ps / 1e9 for time_ps in times_ps]
    measured(
        "timer 1.5 ms",
        "30 at 1.5 ms, 35 at 3.0 ms, 37.5 at 3.14 ms",
        ", ".join(f"{rate:g} at {at:.2f} ms" for rate, at in zip(rates[1:], times_ms, strict=True)),
    )
    assert rates[1:] == pytest.approx([30, 35, 37.5], abs=0.01)
    assert times_ms == pytest.approx([1.5, 3.0, 3.14], rel=0.01)
