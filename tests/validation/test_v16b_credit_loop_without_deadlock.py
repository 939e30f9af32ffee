# SPDX-License-Identifier: Apache-2.0
"""A credit loop is necessary for a deadlock, not sufficient: arbitration decides.

Setup: the ring of V16a with (n, hops) = (4, 2), buffers of B packets with virtual output queues.
Expected: the check reports the cycle. With strict turns between transit and injection nothing has stopped
after 20 000 slots. With random arbitration it deadlocks: in a slotted model with 6 seeds after 224 to 1005
slots with B = 16, 714 to 4659 with 32.
Tolerance: time to deadlock is that of a random walk, with a spread as large as its mean: the median of 11
seeds must lie in the slotted model's range, and all of them deadlock within 20 000 slots.
"""

from __future__ import annotations

import statistics

import pytest

from validation.conftest import Note
from validation.rings import SLOT_PS, cycle_of_routes, ring, ring_ports, slots_to_deadlock
from validation.setups import delivered_bytes, open_simulation

LONG = f"{20_000 * SLOT_PS}ps"


def test_check_of_the_routes_reports_the_loop() -> None:
    assert set(cycle_of_routes(ring(4, 2, 16))) == ring_ports(4)


@pytest.mark.parametrize("packets", [4, 16, 32])
def test_ring_with_turns_moves_for_ever(packets: int, measured: Note) -> None:
    simulation = open_simulation(ring(4, 2, packets, duration=LONG))
    simulation.run(19_000 * SLOT_PS)
    before = delivered_bytes(simulation)
    simulation.run()
    after = delivered_bytes(simulation)
    measured(f"B = {packets}, turns", "no deadlock in 20000 slots", f"stopped: {simulation.stopped}")
    assert simulation.stopped == "duration"
    assert all(after[name] > before[name] for name in before)


@pytest.mark.parametrize(("packets", "least", "most"), [(16, 224, 1005), (32, 714, 4659)])
def test_ring_with_random_arbitration_deadlocks(packets: int, least: int, most: int, measured: Note) -> None:
    slots = [
        slots_to_deadlock(ring(4, 2, packets, arbitration="random", seed=seed, duration=LONG))[0]
        for seed in range(1, 12)
    ]
    median = statistics.median(slots)
    measured(
        f"B = {packets}, random",
        f"median {least} to {most} slots",
        f"{median:.0f} ({min(slots):.0f} to {max(slots):.0f})",
    )
    assert max(slots) < float("inf")
    assert least <= median <= most
