# SPDX-License-Identifier: Apache-2.0
"""A standby takes over five to six polling timeouts after the master's death, and traffic goes on.

Setup: two managers; the master dies at ten times spread over a polling timeout of 10 s (OpenSM) or 5 s (UFM),
four retries. Traffic crosses the fabric all the time.
Expected: the standby begins to take over 50 to 60 s after the death (25 to 30 s), uniformly over the phase
between death and poll; no packet is lost and no table changes.
Tolerance: none for the range; uniform means that the delays of evenly spread deaths are evenly spread.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_MS, PS_PER_S
from validation.conftest import Note
from validation.setups import delivered_bytes, events
from validation.subnets import entered, times, watch

PHASES = 10


@pytest.mark.parametrize("timeout_s", [pytest.param(10, marks=pytest.mark.slow), 5])
def test_takeover_begins_five_to_six_polling_timeouts_after_the_death(timeout_s: int, measured: Note) -> None:
    delays = []
    for phase in range(PHASES):
        death_ms = 1_000 * timeout_s * phase // PHASES + 137
        fault = {"kind": "sm_down", "node": "h0", "at": f"{death_ms}ms"}
        simulation = watch({"h0": 5, "h8": 1}, [fault], 7 * timeout_s, sminfo_polling_timeout=f"{timeout_s}s")
        (takeover_ps,) = times(simulation, "takeover")
        (master_ps,) = entered(simulation, "h8", "MASTER")
        assert takeover_ps < master_ps < takeover_ps + 10 * PS_PER_MS
        delays.append(takeover_ps - death_ms * PS_PER_MS)
        assert delivered_bytes(simulation) == {"stream0": 700 * timeout_s * 4096}
        assert simulation.result()["totals"]["dropped_packets"] == 0
        assert events(simulation, "lft_write") == []
    delays.sort()
    measured(
        f"polling timeout {timeout_s} s",
        f"{5 * timeout_s} to {6 * timeout_s} s",
        f"{delays[0] / PS_PER_S:.2f} to {delays[-1] / PS_PER_S:.2f} s",
    )
    step_ps = timeout_s * PS_PER_S // PHASES
    for number, delay_ps in enumerate(delays):
        low_ps = 5 * timeout_s * PS_PER_S + number * step_ps
        assert low_ps <= delay_ps <= low_ps + step_ps
