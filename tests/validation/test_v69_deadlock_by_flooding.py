# SPDX-License-Identifier: Apache-2.0
"""Flooding lossless packets for dead hosts closes a circle of paused switches that up-down routing has not.

Setup: the published one: ToRs t0 (s1, s2) and t1 (s3 to s7), leaves la and lb, 40 Gb/s. s1 sends to s3 and,
less, to s5 by t0, la, t1; s4 sends to s2 by t1, lb, t0; s6 and s7 congest the port of s5. s2 and s3 are dead,
and their ToRs, which have forgotten their MAC addresses, flood what comes for them to every port; the leaf
that gets a copy drops it.
Expected: four outputs wait for each other, t0 for la, la for t1, t1 for lb, lb for t0; the monitor names
them. With a watchdog that waits for 200 ms they still do 98 ms after the last message was posted, and nothing
moves; the watchdog ends it. Where the ToRs drop lossless packets of incomplete ARP entries, no output is
blocked at the end and s5 gets its messages.
Tolerance: none.
"""

from __future__ import annotations

from typing import Any

from fabrictwin.engine.simulation import Simulation
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS
from validation.conftest import Note
from validation.ethernet import PRIORITY, build_roce, lane, state_of
from validation.setups import counter, delivered_bytes, events

LINKS = ["t0/1 s1/1", "t0/2 s2/1", "t0/3 la/1", "t0/4 lb/1"]
LINKS += ["t1/1 s3/1", "t1/2 s4/1", "t1/3 s5/1", "t1/4 la/2", "t1/5 lb/2", "t1/6 s6/1", "t1/7 s7/1"]
FLOWS = [(*pair, "40Gb/s") for pair in (("s1", "s3"), ("s4", "s2"), ("s6", "s5"), ("s7", "s5"))]
FLOWS += [("s1", "s5", "2Gb/s")]
CYCLE = {"t0/3", "la/2", "t1/5", "lb/1"}


def tables() -> dict[str, dict[str, int]]:
    """From t0 to t1 by la, from t1 to t0 by lb."""
    near, far = {"s1": 1, "s2": 2}, {"s3": 1, "s4": 2, "s5": 3, "s6": 6, "s7": 7}
    return {
        "t0": near | dict.fromkeys(far, 3),
        "t1": far | dict.fromkeys(near, 5),
        "la": dict.fromkeys(near, 1) | dict.fromkeys(far, 2),
        "lb": dict.fromkeys(near, 1) | dict.fromkeys(far, 2),
    }


def two_tiers(*, flooding: bool, watchdog: Any = "none") -> Simulation:
    nodes: dict[str, Any] = {f"s{number}": "hca" for number in range(1, 8)}
    nodes |= {"t0": {"switch": 4}, "t1": {"switch": 7}, "la": {"switch": 2}, "lb": {"switch": 2}}
    posted = {"kind": "stream", "message": "64KiB", "count": "forever", "stop": "2ms"}
    return open_simulation(
        build_roce(
            {"nodes": nodes, "links": [ends.split() for ends in LINKS]},
            [
                posted | {"name": f"{src}-{dst}", "src": src, "dst": dst, "rate": rate}
                for src, dst, rate in FLOWS
            ],
            switch={"shared_buffer": "2MB", "alpha": "1/8", "pfc_watchdog": watchdog},
            hca={"ack_timeout": "4.294967296s"},
            rate="40Gb/s",
            routing={"engine": "explicit", "tables": tables()},
            faults=[
                {"kind": "dead_host", "node": node, "at": "0us", "flooding": flooding}
                for node in ("s2", "s3")
            ],
            duration="500ms",
        )
    )


def is_paused(simulation: Simulation, port: str) -> bool:
    """Whether packets of the lossless priority wait at an output for the end of a pause."""
    state, row = state_of(simulation), lane(simulation, port)
    return bool(state.lane.until_ps[row] != 0 and state.pv.ring_count[row] > 0)


def test_flooding_makes_a_cycle_that_is_named(measured: Note) -> None:
    simulation = two_tiers(flooding=True)
    simulation.run()
    result = simulation.result()
    cycle = result["deadlock"]["cycle"] if result["deadlock"] else []
    measured("flooding", "t0/3, la/2, t1/5, lb/1 wait for each other", ", ".join(cycle))
    assert simulation.stopped == "deadlock"
    assert set(cycle) == {f"{port} vl{PRIORITY}" for port in CYCLE}


def test_cycle_lasts_when_the_flows_have_stopped_until_the_watchdog_ends_it(measured: Note) -> None:
    simulation = two_tiers(
        flooding=True, watchdog={"detection": "200ms", "restoration": "200ms", "poll": "200ms"}
    )
    simulation.run(90 * PS_PER_MS)
    before = {port: counter(simulation, port, "port_xmit_data") for port in CYCLE}
    simulation.run(100 * PS_PER_MS)
    moved = sum(counter(simulation, port, "port_xmit_data") - before[port] for port in CYCLE)
    paused = sum(is_paused(simulation, port) for port in CYCLE)
    simulation.run(500 * PS_PER_MS)
    after = sum(is_paused(simulation, port) for port in CYCLE)
    measured(
        "98 ms after the last message; after the watchdog",
        "4 queues paused, 0 B moved; 0 paused",
        f"{paused} queues paused, {moved} B moved; {after} paused",
    )
    assert (paused, moved, after) == (4, 0, 0)
    assert {event["kind"] for event in events(simulation, "pfc_storm")} == {"pfc_storm"}


def test_dropping_packets_of_incomplete_arp_entries_leaves_no_cycle(measured: Note) -> None:
    simulation = two_tiers(flooding=False)
    simulation.run(100 * PS_PER_MS)
    paused = sum(is_paused(simulation, port) for port in CYCLE)
    delivered = delivered_bytes(simulation)
    measured("dropped instead", "0 queues paused", f"{paused} queues paused")
    assert paused == 0
    assert simulation.stopped != "deadlock"
    assert delivered["s1-s5"] > 0
    assert delivered["s1-s3"] == delivered["s4-s2"] == 0
