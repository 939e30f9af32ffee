# SPDX-License-Identifier: Apache-2.0
"""Of several subnet managers the one of highest priority and lowest GUID is master.

Setup: three managers with priorities 5, 5 and 1, the lower GUID of the two 5s in the middle of the list;
all three processes die and start again at the same time, so that they have to elect.
Expected: the master is that of priority 5 with the lower GUID, the two others stand by.
Tolerance: none.
"""

from __future__ import annotations

from validation.conftest import Note
from validation.subnets import entered, final_states, watch

PRIORITIES = {"h8": 5, "h4": 5, "h0": 1}


def test_master_is_the_lower_guid_of_the_two_highest_priorities(measured: Note) -> None:
    faults = [{"kind": "sm_down", "node": host, "at": "1s", "duration": "1s"} for host in PRIORITIES]
    simulation = watch(PRIORITIES, faults, 3)
    guids = {node.name: node.port_guid(1) for node in simulation.plan.scenario.fabric.nodes}
    assert guids["h4"] < guids["h8"]
    states = final_states(simulation)
    masters = [host for host, state in states.items() if state == "MASTER"]
    measured("priorities 5, 5, 1", "master h4", f"master {', '.join(masters)}")
    assert states == {"h8": "STANDBY", "h4": "MASTER", "h0": "STANDBY"}
    assert [entered(simulation, host, "MASTER") for host in ("h8", "h0")] == [[], []]
