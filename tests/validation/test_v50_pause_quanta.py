# SPDX-License-Identifier: Apache-2.0
"""A PFC frame pauses a priority for its quanta of 512 bit times, and one of zero quanta lets it go on.

Setup: h0 streams to h1 at line rate; one PFC frame of 65 535 quanta comes in at h0's port, and is not
refreshed; then the same with a frame of 0 quanta 5 us later.
Expected: nothing starts for 65 535 * 512 bit times: 335.5 us at 100 Gb/s, 83.9 at 400, 41.9 at 800. With the
second frame, nothing starts for 5 us.
Tolerance: one frame: what is being sent when the pause begins is finished.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.engine.ethernet.pfc import hear_later
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, lane, state_of, wire_bytes
from validation.setups import packets_sent, star, wire_ps

PAUSED_AT_PS = 20 * PS_PER_US


def longest_gap_ps(gbps: int, resumed_after_ps: int | None = None) -> int:
    scenario = build_roce(
        star(2),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "1MiB", "count": "forever"}],
        hca={"pfc_response": "0ns"},
        rate=f"{gbps}Gb/s",
        duration="400us",
    )
    simulation = open_simulation(scenario, trace=True)
    state = state_of(simulation)
    hear_later(state, lane(simulation, "h0/1"), PAUSED_AT_PS, 65_535)
    if resumed_after_ps is not None:
        hear_later(state, lane(simulation, "h0/1"), PAUSED_AT_PS + resumed_after_ps, 0)
    simulation.run()
    return int(np.diff(packets_sent(simulation, "h0/1").start_ps).max())


@pytest.mark.parametrize(("gbps", "paused_us"), [(100, 335.5), (400, 83.9), (800, 41.9)])
def test_priority_is_paused_for_the_quanta_of_the_frame(gbps: int, paused_us: float, measured: Note) -> None:
    frame_us = wire_ps(wire_bytes(4096), gbps * 10**9) / PS_PER_US
    gap_us = longest_gap_ps(gbps) / PS_PER_US
    measured(f"{gbps} Gb/s", f"{paused_us} us ± 1 frame", f"{gap_us:.2f} us")
    assert paused_us - 0.05 <= gap_us <= paused_us + 0.05 + frame_us


def test_frame_of_no_quanta_resumes_at_once(measured: Note) -> None:
    frame_us = wire_ps(wire_bytes(4096), 400 * 10**9) / PS_PER_US
    gap_us = longest_gap_ps(400, resumed_after_ps=5 * PS_PER_US) / PS_PER_US
    measured("400 Gb/s, resumed after 5 us", "5 us ± 1 frame", f"{gap_us:.2f} us")
    assert gap_us == pytest.approx(5, abs=frame_us)
