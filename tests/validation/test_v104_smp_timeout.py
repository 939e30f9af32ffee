# SPDX-License-Identifier: Apache-2.0
"""A node that does not answer costs 0.8 s a request, four requests at a time, and is routed around.

Setup: the agent of a spine stops answering, with 200 ms and 3 retries; its data plane goes on.
Expected: the light sweep gives up its one request after 4 x 200 ms. The heavy sweep then asks over each of
the four cables of the spine, all at once, so it lasts 0.8 s longer than with everything up; with one SMP at a
time it is 3.2 s. Then the spine carries nothing any more, and no packet has been lost.
Tolerance: none.
"""

from __future__ import annotations

from math import ceil

import pytest

from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US, show_time
from validation.conftest import Note
from validation.setups import counter
from validation.subnets import LEAVES, SPINES, sweep_mads, times, watch

REQUEST_PS = 800 * PS_PER_MS
TICK_PS = 10 * PS_PER_S


@pytest.mark.parametrize(("wire", "rounds"), [(4, 1), (1, LEAVES)])
def test_silent_spine_costs_its_timeouts_and_is_routed_around(wire: int, rounds: int, measured: Note) -> None:
    silent = {"kind": "sma_unresponsive", "node": "spine1", "at": "2s"}
    simulation = watch({"h0": 0}, [silent], 20, max_wire_smps=wire)
    (noticed_ps,) = times(simulation, "light_sweep", "spine1 does not answer")
    (begun_ps,), (ended_ps,) = times(simulation, "sweep"), times(simulation, "swept")
    answered_ps = ceil(sweep_mads(simulation, "spine1") / wire) * 20 * PS_PER_US
    waited_ps = ended_ps - begun_ps - answered_ps
    measured(
        f"{LEAVES} requests, {wire} at a time",
        f"0.8 s, then {rounds * 0.8:.1f} s",
        f"{show_time(noticed_ps - TICK_PS)}, then {show_time(waited_ps)}",
    )
    assert (noticed_ps, begun_ps) == (TICK_PS + REQUEST_PS, TICK_PS + REQUEST_PS)
    assert waited_ps == rounds * REQUEST_PS
    totals = simulation.result()["totals"]
    assert (totals["dropped_packets"], totals["messages"]) == (0, 2000)


def test_silent_spine_forwards_until_the_tables_change() -> None:
    calm = watch({"h0": 0}, [], 1)
    used = next(n for n in range(SPINES) if counter(calm, f"spine{n}/4", "port_xmit_pkts"))
    silent = {"kind": "sma_unresponsive", "node": f"spine{used}", "at": "2s"}
    simulation = watch({"h0": 0}, [silent], 20)
    (written_ps,) = times(simulation, "subnet_up")
    carried = counter(simulation, f"spine{used}/4", "port_xmit_pkts")
    assert carried == pytest.approx(100 * written_ps / PS_PER_S, abs=2)
    assert simulation.result()["totals"]["messages"] == 2000
