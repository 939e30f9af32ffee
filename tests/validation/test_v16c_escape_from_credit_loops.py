# SPDX-License-Identifier: Apache-2.0
"""Routes without a credit loop do not deadlock; with one, a finite HOQ lifetime ends the deadlock.

Setup: the rings of V16a, B = 16, routed by up_down; and clockwise, with HOQ lifetimes of 4.096 us * 2^n, n
= 0x10 and 0x12, where hosts post nothing more after 300 us.
Expected: up_down has no cycle and every flow moves. With a lifetime everything stands still until 0.268 s
or 1.074 s after the deadlock; then the packets at the heads are dropped (port_xmit_discards) and others
move on.
Tolerance: none. A packet is at the head of a ring output since the one before it started; until the
lifetime of the first of them nothing is dropped and nothing moves. Progress is slow, for what a drop has
emptied is filled at once by what waits in the hosts: it is counted in packets that move, and that reach
hosts, within 20 lifetimes.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.engine.simulation import Simulation
from fabrictwin.units import PS_PER_MS, PS_PER_S
from validation.conftest import Note
from validation.rings import cycle_of_routes, ring
from validation.setups import counter, delivered_bytes, open_simulation, packets_sent, port_index, run

RINGS = pytest.mark.parametrize(("switches", "hops"), [(4, 3), (6, 3)])


@RINGS
def test_up_down_routes_do_not_deadlock(switches: int, hops: int, measured: Note) -> None:
    scenario = ring(switches, hops, 16, routing={"engine": "up_down"}, duration="20ms")
    simulation = run(scenario)
    least = min(delivered_bytes(simulation).values())
    measured(
        f"{switches} switches, up_down",
        "no cycle, every flow above 0",
        f"stopped: {simulation.stopped}, least {least / 2**20:.1f} MiB in 20 ms",
    )
    assert cycle_of_routes(scenario) == ()
    assert simulation.stopped == "duration"
    assert least > 0


@RINGS
@pytest.mark.parametrize("code", [0x10, 0x12])
def test_lifetime_ends_the_deadlock(switches: int, hops: int, code: int, measured: Note) -> None:
    life_ps = 4_096_000 << code
    scenario = ring(switches, hops, 16, hoq_life=f"{life_ps}ps", stop="300us", duration="100s")
    simulation = open_simulation(scenario, trace=True)
    simulation.run(PS_PER_MS)
    before = len(simulation.trace()[0])
    drop_ps = life_ps + min(last_start(simulation, f"sw{switch}/2") for switch in range(switches))
    simulation.run(drop_ps)
    standing = (len(simulation.trace()[0]), dropped(simulation))
    simulation.run(drop_ps + 1)
    first_drops = dropped(simulation)
    simulation.run(drop_ps + 19 * life_ps)
    moved = simulation.trace()[0][before:]
    to_hosts = [port_index(simulation, f"sw{switch}/1") for switch in range(switches)]
    reached = int(np.isin(moved.port, to_hosts).sum())
    measured(
        f"{switches} switches, n = 0x{code:x}",
        f"still for {life_ps / PS_PER_S:.3f} s, then drops and progress",
        f"first drop after {life_ps / PS_PER_S:.3f} s; in 20 lifetimes {dropped(simulation)} dropped, "
        f"{len(moved)} moved on, {reached} to hosts",
    )
    assert standing == (before, 0)
    assert first_drops >= 1
    assert dropped(simulation) == sum(discards(simulation, switches))
    assert len(moved) > dropped(simulation)
    assert reached > 10 * switches


def last_start(simulation: Simulation, port: str) -> int:
    """Start of the last packet that has left a port: the next one is at the head since then."""
    return int(packets_sent(simulation, port).start_ps[-1])


def discards(simulation: Simulation, switches: int) -> list[int]:
    return [counter(simulation, f"sw{switch}/2", "port_xmit_discards") for switch in range(switches)]


def dropped(simulation: Simulation) -> int:
    return int(simulation.result()["totals"]["dropped_packets"])
