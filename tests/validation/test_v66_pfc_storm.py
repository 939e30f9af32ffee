# SPDX-License-Identifier: Apache-2.0
"""An adapter that pauses without end stops all that shares an ingress with it; the watchdog ends that.

Setup: two leaves of two hosts and one spine at 100 Gb/s, flows of 1 Gb/s: h2 and h3 to h0,
and h2 to h1. h0 begins a PFC storm at 1 ms. Without a watchdog; then
 with SONiC's of 200 ms detection, 200 ms restoration, 200 ms poll.
Expected: without it every flow that shares an ingress with the tree of h0 gets nothing, h1's too. With it the
flow to h1 goes on, and what is meant for h0 is dropped.
Tolerance: the poll: the storm is found at the first look after 200 ms of pause. Queues further up, which are
paused for as long, drop as well until the next poll; the flow is measured from 100 ms after that. Timeouts
are of code 20, so that no queue pair gives up.
"""

from __future__ import annotations

import pytest

from fabrictwin.engine.simulation import Simulation
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_NS
from validation.conftest import Note
from validation.ethernet import build_roce
from validation.setups import events, rates_bps

STORM_MS = 1
PACED = {"message": "64KiB", "rate": "1Gb/s", "count": "forever"}


def storm(watchdog: object) -> Simulation:
    return open_simulation(
        build_roce(
            {"generator": "fat_tree", "levels": 2, "leaves": 2, "hosts_per_leaf": 2, "spines": 1},
            [
                {"kind": "stream", "name": name, "src": src, "dst": dst} | PACED
                for name, src, dst in (("a", "h2", "h0"), ("b", "h3", "h0"), ("victim", "h2", "h1"))
            ],
            switch={"shared_buffer": "1MB", "pfc_watchdog": watchdog},
            hca={"ack_timeout": "4.294967296s"},
            rate="100Gb/s",
            faults=[{"kind": "pfc_storm", "node": "h0", "priority": 3, "at": f"{STORM_MS}ms"}],
            duration="900ms",
        )
    )


def test_storm_stops_what_shares_an_ingress(measured: Note) -> None:
    rates = rates_bps(storm("none"), 700 * PS_PER_MS, 900 * PS_PER_MS)
    measured("no watchdog", "0 Gb/s", f"{rates['victim'] / 1e9:.3f} Gb/s")
    assert all(rate == 0 for rate in rates.values())


def test_watchdog_ends_the_storm(measured: Note) -> None:
    simulation = storm({"detection": "200ms", "restoration": "200ms", "poll": "200ms"})
    rates = rates_bps(simulation, 700 * PS_PER_MS, 900 * PS_PER_MS)
    first = events(simulation, "pfc_storm")[0]
    found_ms = first["fabric_ns"] * PS_PER_NS / PS_PER_MS - STORM_MS
    measured("watchdog: found after", "200 to 400 ms", f"{found_ms:.0f} ms")
    measured("watchdog: victim", "1 Gb/s", f"{rates['victim'] / 1e9:.3f} Gb/s")
    assert 200 <= found_ms <= 400
    assert rates["victim"] == pytest.approx(1e9, rel=0.02)
    assert rates["a"] == 0
    assert simulation.result()["totals"]["dropped_packets"] > 0
