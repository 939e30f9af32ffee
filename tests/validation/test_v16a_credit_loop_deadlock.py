# SPDX-License-Identifier: Apache-2.0
"""A ring on one VL deadlocks when every host sends far enough around it.

Setup: n switches with a saturated host each, (n, hops) = (4, 3) and (6, 3), all packets clockwise, HOQ
lifetime infinite, input buffers of B packets (virtual output queues). A slot is a packet time.
Expected: no packet moves any more after 2.5 to 3.5 B slots; in a slotted model with 6 seeds 9 to 16 with B
= 4, 39 to 54 with 16, 81 to 106 with 32. The monitor names the n outputs of the ring as the cycle, and the
credit-loop check of the routes reports it too.
Tolerance: with strict turns the slotted model's range. With random arbitration one run says little (time to
deadlock is that of a random walk): the median of 51 seeds lies in 2.5 to 3.5 B, and every one deadlocks.
"""

from __future__ import annotations

import statistics

import pytest

from validation.conftest import Note
from validation.rings import cycle_of_routes, ring, ring_ports, slots_to_deadlock

RINGS = pytest.mark.parametrize(("switches", "hops"), [(4, 3), (6, 3)])


@RINGS
@pytest.mark.parametrize(("packets", "least", "most"), [(4, 9, 16), (16, 39, 54), (32, 81, 106)])
def test_ring_with_turns_deadlocks_in_time(
    switches: int, hops: int, packets: int, least: int, most: int, measured: Note
) -> None:
    slots, simulation = slots_to_deadlock(ring(switches, hops, packets))
    cycle = simulation.result()["deadlock"]["cycle"]
    measured(
        f"{switches} switches, {hops} hops, B = {packets}, turns",
        f"deadlock after {least} to {most} slots",
        f"after {slots:.0f}",
    )
    assert least <= round(slots) <= most
    assert set(cycle) == ring_ports(switches)


@RINGS
@pytest.mark.parametrize("packets", [4, 16, 32])
def test_ring_with_random_arbitration_deadlocks_in_time(
    switches: int, hops: int, packets: int, measured: Note
) -> None:
    slots = [
        slots_to_deadlock(ring(switches, hops, packets, arbitration="random", seed=seed))[0]
        for seed in range(1, 52)
    ]
    median = statistics.median(slots)
    measured(
        f"{switches} switches, {hops} hops, B = {packets}, random",
        f"median {2.5 * packets:g} to {3.5 * packets:g} slots",
        f"{median:.0f} ({min(slots):.0f} to {max(slots):.0f})",
    )
    assert max(slots) < float("inf")
    assert 2.5 * packets <= median <= 3.5 * packets


@RINGS
def test_check_of_the_routes_reports_the_loop(switches: int, hops: int, measured: Note) -> None:
    cycle = cycle_of_routes(ring(switches, hops, 4))
    measured(f"{switches} switches, check of the routes", f"cycle of {switches}", f"cycle of {len(cycle)}")
    assert set(cycle) == ring_ports(switches)
