# SPDX-License-Identifier: Apache-2.0
"""A host that drains slowly pauses its switch, and that the senders; a larger alpha pauses them less.

Setup: h1 sends 20 bursts of 2 MiB, one every 400 us, through two switches at 100 Gb/s to h0, which takes 50
Gb/s.
Expected: pauses reach the sender; with the larger share of the buffer that alpha 4 gives a queue than 1/16
there are fewer of them.
Tolerance: none.
"""

from __future__ import annotations

from fabrictwin.runtime.offline import open_simulation
from validation.conftest import Note
from validation.ethernet import build_roce, lane, state_of


def pauses(alpha: str) -> tuple[int, int]:
    """Pauses that (the leaf of h0, the sender) have heard."""
    simulation = open_simulation(
        build_roce(
            {"generator": "chain", "switches": 2, "hosts_per_switch": 1},
            [{"kind": "stream", "src": "h1", "dst": "h0", "message": "2MiB", "count": 20, "rate": "42Gb/s"}],
            switch={"shared_buffer": "2MB", "alpha": alpha},
            hca={"receive_buffer": "128KiB"},
            rate="100Gb/s",
            faults=[{"kind": "slow_receiver", "node": "h0", "rate": "50Gb/s", "at": "0us"}],
        )
    )
    simulation.run()
    more = state_of(simulation).lane_more
    return int(more[lane(simulation, "sw0/1")].pauses_heard), int(more[lane(simulation, "h1/1")].pauses_heard)


def test_pauses_spread_upstream_and_less_with_more_buffer(measured: Note) -> None:
    leaf, sender = pauses("1/16")
    _, sender_of_more = pauses("4")
    measured("alpha 1/16", "pauses reach the sender", f"{leaf} at the leaf, {sender} at the sender")
    measured("alpha 4", "fewer", f"{sender_of_more} at the sender")
    assert leaf > 0
    assert sender > 0
    assert sender_of_more < sender
