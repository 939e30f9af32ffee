# SPDX-License-Identifier: Apache-2.0
"""The ring that deadlocks: every host sends without end to the one some switches ahead, over one VL."""

from __future__ import annotations

from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.routing import route_fabric
from validation.setups import Keys, build, run, wire_bytes, wire_ps

RATE_BPS = 10_000_000_000
PAYLOAD = 2048
PACKET_BLOCKS = -(-wire_bytes(PAYLOAD) // 64)
SLOT_PS = wire_ps(wire_bytes(PAYLOAD), RATE_BPS)
"""One packet time; cables of 1 m and 10 ns in a switch are next to nothing beside it."""


def ring(
    switches: int,
    hops: int,
    packets: int,
    *,
    arbitration: str = "round_robin",
    hoq_life: str = "infinite",
    routing: Keys | None = None,
    stop: str | None = None,
    seed: int = 1,
    duration: str = "10s",
) -> Scenario:
    """A ring of switches with a host on each.

    Args:
        switches: Number of switches.
        hops: Each host sends to the host of the switch that is so many further on, clockwise.
        packets: Packets that an input buffer holds.
        arbitration: Choice between what comes along the ring and what the host injects.
        hoq_life: Lifetime at the head of a queue.
        routing: The ``routing`` section; every packet goes clockwise if left out.
        stop: Hosts send single packets, and none from here on; if left out, messages without end.
        seed: Seed of the arbitration.
        duration: End of the run.
    """
    shift = {"kind": "permutation", "name": "s", "pattern": "shift", "shift": hops, "count": "forever"}
    endless = {"message": "64MiB"} if stop is None else {"message": f"{PAYLOAD}B", "stop": stop}
    return build(
        {"generator": "ring", "switches": switches, "hosts_per_switch": 1},
        [shift | endless],
        switch={
            "data_vls": 1,
            "buffer_per_vl": f"{packets * PACKET_BLOCKS * 64}B",
            "forwarding_latency": "10ns",
            "arbitration": arbitration,
            "hoq_life": hoq_life,
        },
        # The ring alone is looked at: hardly an acknowledgement crosses it, no retry comes.
        hca={"tx_latency": "0ns", "rx_latency": "0ns", "ack_every": 65536, "ack_timeout": "100s"},
        rate="10Gb/s",
        length="1m",
        mtu=PAYLOAD,
        routing=routing or {"engine": "explicit", "tables": clockwise_tables(switches)},
        seed=seed,
        duration=duration,
    )


def clockwise_tables(switches: int) -> Keys:
    """Forwarding tables by which a packet goes on by port 2 until it is at its host's switch."""
    return {
        f"sw{switch}": {f"h{host}": 1 if host == switch else 2 for host in range(switches)}
        for switch in range(switches)
    }


def ring_ports(switches: int) -> set[str]:
    """The outputs that wait for each other in a deadlock."""
    return {f"sw{switch}/2 vl0" for switch in range(switches)}


def slots_to_deadlock(scenario: Scenario) -> tuple[float, Simulation]:
    """Packet times until the start of the last packet that moved; infinite where there is no deadlock."""
    simulation = run(scenario, trace=True)
    if simulation.stopped != "deadlock":
        return float("inf"), simulation
    packets, _ = simulation.trace()
    return float(packets.start_ps.max() / SLOT_PS), simulation


def cycle_of_routes(scenario: Scenario) -> tuple[str, ...]:
    """The credit loop that the check of the routes reports; empty where there is none."""
    routes = route_fabric(scenario.fabric, scenario.routing, scenario.data_vls)
    return check_credit_loops(routes).cycle
