# SPDX-License-Identifier: Apache-2.0
"""A subnet manager of higher priority that joins is handed over to by the sweep that its trap causes.

Setup: a manager of priority 9 starts while one of priority 1 is master.
Expected: trap 144 makes the master sweep at once, and that sweep ends with a HANDOVER, which is acknowledged;
all before the next light sweep would be due. The new master sweeps, and changes no table.
Tolerance: none.
"""

from __future__ import annotations

from fabrictwin.units import PS_PER_MS, PS_PER_S
from validation.conftest import Note
from validation.setups import delivered_bytes, events
from validation.subnets import entered, final_states, times, watch

DEATH_S, JOIN_S = 1, 63


def test_higher_priority_that_joins_is_master_after_one_sweep(measured: Note) -> None:
    fault = {"kind": "sm_down", "node": "h8", "at": f"{DEATH_S}s", "duration": f"{JOIN_S - DEATH_S}s"}
    simulation = watch({"h0": 1, "h8": 9}, [fault], 64)
    (ready_ps,) = (at_ps for at_ps in entered(simulation, "h8", "STANDBY"))
    (sent_ps,) = times(simulation, "handover", "HANDOVER sent to h8")
    (trap_ps,) = (at_ps for at_ps in times(simulation, "trap", "trap 144 from h8") if at_ps > ready_ps)
    sweeps = [at_ps for at_ps in times(simulation, "sweep", "SM on h0") if trap_ps <= at_ps < sent_ps]
    joined_ps = JOIN_S * PS_PER_S
    measured(
        "priority 9 joins priority 1",
        "HANDOVER in one sweep, no LFT block changes",
        f"HANDOVER in {len(sweeps)} sweep, {(sent_ps - joined_ps) / PS_PER_MS:.2f} ms after it has started, "
        f"{len(events(simulation, 'lft_write'))} LFT blocks change",
    )
    assert len(sweeps) == 1
    assert joined_ps < ready_ps < trap_ps < sent_ps < joined_ps + 10 * PS_PER_MS
    (acknowledged_ps,) = times(simulation, "handover", "ACKNOWLEDGE from h8")
    assert acknowledged_ps > entered(simulation, "h8", "MASTER")[-1] > sent_ps
    assert final_states(simulation) == {"h0": "STANDBY", "h8": "MASTER"}
    assert events(simulation, "lft_write") == []
    assert delivered_bytes(simulation) == {"stream0": 6400 * 4096}
