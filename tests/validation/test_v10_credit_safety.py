# SPDX-License-Identifier: Apache-2.0
"""Credits never let a receive buffer overflow, and VL15 does without them.

Setup: two switches with three hosts each, 15 data VLs, buffers of three packets. On every VL each host
sends messages of two random sizes up to the MTU to random hosts, at Poisson times and together more than
the cables carry; four hosts drain at rates drawn anew every few microseconds, from standstill to line rate.
More than 100,000 packets, so that every counter of 12 bits wraps.
Expected: the blocks in every switch buffer, worked out from the trace of both hops of each packet, never
exceed it, nor do those that HCAs hold; nothing is dropped. Datagrams on VL15 pass while no data VL has
credits.
Tolerance: none.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import (
    Keys,
    build,
    counter,
    latency_ps,
    line,
    open_simulation,
    run,
    wire_bytes,
    wire_ps,
)

MTU = 1024
DATA_VLS = 15
BUFFER_BLOCKS = 3 * 17 + 2
RATE_BPS = 100_000_000_000
END_US = 400


def random_drains(draws: random.Random) -> list[Keys]:
    """Four hosts change their drain rate again and again."""
    faults = []
    for host in range(4):
        at_ns = draws.randrange(10_000)
        while at_ns < END_US * 1000:
            length_ns = draws.randrange(500, 10_000)
            faults.append(
                {
                    "kind": "slow_receiver",
                    "node": f"h{host}",
                    "rate": f"{draws.choice([0, 1, 10, 50, 90])}Gb/s",
                    "at": f"{at_ns}ns",
                    "duration": f"{length_ns}ns",
                }
            )
            at_ns += length_ns + draws.randrange(1, 5000)
    return faults


def crowded(seed: int) -> Scenario:
    draws = random.Random(seed)
    workload = [
        {
            "kind": "uniform_random",
            "name": f"vl{vl}-{number}",
            "load": 0.05,
            "message": f"{draws.randrange(1, MTU)}B",
            "sl": vl,
            "stop": f"{END_US}us",
        }
        for vl in range(DATA_VLS)
        for number in range(2)
    ]
    return build(
        {"generator": "chain", "switches": 2, "hosts_per_switch": 3},
        workload,
        switch={"data_vls": DATA_VLS, "buffer_per_vl": f"{BUFFER_BLOCKS * 64}B", "hoq_life": "infinite"},
        hca={"receive_buffer": f"{BUFFER_BLOCKS * 64}B", "ack_timeout": "10s"},
        rate="100Gb/s",
        mtu=MTU,
        seed=seed,
        duration="100ms",
        qos={"data_vls": DATA_VLS},
        faults=random_drains(draws),
    )


def fullest_switch_buffer(simulation: Simulation) -> tuple[int, int]:
    """(most blocks that a switch's input buffer of one VL ever held, least blocks sent into one), from the
    trace."""
    packets, _ = simulation.trace()
    port = simulation.readout().by_port("port")
    switch = np.isin(port.node, simulation.plan.scenario.fabric.switches)
    order = np.lexsort([packets.start_ps, packets.kind, packets.psn, packets.qp])
    here, onward = packets[order[:-1]], packets[order[1:]]
    same = (here.qp == onward.qp) & (here.psn == onward.psn) & (here.kind == onward.kind)
    into_switch = switch[port.peer[here.port]]
    assert (same >= into_switch).all()
    here, onward = here[into_switch], onward[into_switch]
    buffer = port.peer[here.port].astype(np.int64) * DATA_VLS + here.vl
    blocks = -(-here.wire.astype(np.int64) // 64)
    enters_ps = here.start_ps + port.delay_ps[here.port]
    leaves_ps = onward.start_ps + np.array([wire_ps(int(wire), RATE_BPS) for wire in onward.wire])
    # A packet that leaves makes room for one that comes at the same time.
    times = np.concatenate([enters_ps, leaves_ps])
    change = np.concatenate([blocks, -blocks])
    of = np.concatenate([buffer, buffer])
    order = np.lexsort([change, times, of])
    held = np.cumsum(change[order])
    sent = np.bincount(buffer, blocks)
    return int(held.max()), int(sent[sent > 0].min())


@pytest.mark.parametrize("seed", [1, 2])
def test_no_buffer_overflows_and_nothing_is_lost(seed: int, measured: Note) -> None:
    simulation = open_simulation(crowded(seed), trace=True)
    most_held_by_hca = 0
    hca = np.isin(simulation.readout().by_port("port").node, simulation.plan.scenario.fabric.hcas)
    for time_us in range(1, END_US, 3):
        simulation.run(time_us * PS_PER_US)
        held = simulation.readout().by_port_vl("pv_input").held_blocks.reshape(-1, simulation.plan.vls)
        most_held_by_hca = max(most_held_by_hca, int(held[hca, :DATA_VLS].max()))
    simulation.run()
    totals = simulation.result()["totals"]
    fullest, least_sent = fullest_switch_buffer(simulation)
    measured(
        f"seed {seed}",
        f"at most {BUFFER_BLOCKS} blocks in a buffer, none of 100000 packets lost",
        f"{fullest} blocks in a switch, {most_held_by_hca} in an HCA; {totals['dropped_packets']} lost",
    )
    assert simulation.stopped == "idle"
    assert totals["packets"] >= 100_000
    assert least_sent > 4096
    assert fullest <= BUFFER_BLOCKS
    assert most_held_by_hca <= BUFFER_BLOCKS
    assert totals["dropped_packets"] == totals["retransmitted_packets"] == totals["failed_messages"] == 0
    assert totals["xmit_wait_ns"] > 0


def test_vl15_is_not_limited_by_credits(measured: Note) -> None:
    """The receiver stops; data stand still, and each datagram takes as long as on an idle fabric."""
    data = {"kind": "stream", "name": "data", "src": "h0", "dst": "h1", "message": "1MiB", "count": "forever"}
    datagrams = {
        "kind": "stream",
        "name": "smp",
        "src": "h0",
        "dst": "h1",
        "message": "256B",
        "count": 20,
        "rate": "1Gb/s",
        "start": "100us",
    }
    stopped = [{"kind": "slow_receiver", "node": "h1", "rate": "0Gb/s", "at": "0us"}]
    scenario = build(line(1), [data, datagrams], duration="200us", faults=stopped)
    jobs = tuple(
        replace(job, flows=tuple(replace(flow, management=flow.name == "smp") for flow in job.flows))
        for job in scenario.jobs
    )
    simulation = run(replace(scenario, jobs=jobs))
    idle = build(line(1), [{"kind": "stream", "src": "h0", "dst": "h1", "message": "256B"}])
    flows = {flow["name"]: flow for flow in simulation.result()["flows"]}
    measured(
        "VL15 while data wait for credits",
        "20 datagrams, none late",
        f"{flows['smp']['messages']} datagrams, latency {flows['smp']['latency_ns']['max']:.2f} ns",
    )
    assert flows["data"]["bytes"] == 0
    assert counter(simulation, "h0/1", "port_xmit_wait") > 90_000
    assert flows["smp"]["messages"] == 20
    assert flows["smp"]["latency_ns"]["max"] * 1000 == latency_ps(run(idle))


def test_vl15_drops_what_its_buffer_does_not_hold() -> None:
    """Three hosts send 40 datagrams each at once to one: the port carries a third of them, the buffers 16 for
    each input."""
    bursts = [
        {"kind": "stream", "name": f"s{host}", "src": f"h{host}", "dst": "h0", "message": f"{40 * 256}B"}
        for host in (1, 2, 3)
    ]
    scenario = build({"generator": "single_switch", "hosts": 4}, bursts, mtu=256)
    jobs = tuple(
        replace(job, flows=tuple(replace(flow, management=True) for flow in job.flows))
        for job in scenario.jobs
    )
    totals = run(replace(scenario, jobs=jobs)).result()["totals"]
    assert wire_bytes(256) <= 5 * 64
    assert 0 < totals["dropped_packets"] < 80
