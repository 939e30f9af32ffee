# SPDX-License-Identifier: Apache-2.0
"""Fabrics to measure on, and how to read a run: every validation test is written with these."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fabrictwin.engine.codes import PacketKind
from fabrictwin.engine.simulation import Simulation
from fabrictwin.engine.state import Records
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_S

Keys = dict[str, Any]

HEADERS_BYTES = 26
"""LRH 8, BTH 12, ICRC 4, VCRC 2."""
PROPAGATION_PS_PER_M = 5_000
FCP_BYTES = 8


def wire_bytes(payload_bytes: int) -> int:
    """Bytes on the wire of a packet with a payload."""
    return -(-payload_bytes // 4) * 4 + HEADERS_BYTES


def wire_ps(size_bytes: int, rate_bps: int) -> int:
    """Time of so many bytes on the wire, rounded up."""
    return -(-size_bytes * 8 * PS_PER_S // rate_bps)


def build(
    topology: Keys,
    workload: list[Keys],
    *,
    switch: Keys | None = None,
    hca: Keys | None = None,
    rate: str = "400Gb/s",
    length: str = "10m",
    mtu: int = 4096,
    **sections: Any,
) -> Scenario:
    """A scenario, through the same door as a file.

    Args:
        topology: The ``topology`` section.
        workload: The ``workload`` section.
        switch: What differs from the generic switch.
        hca: What differs from the generic HCA.
        rate: Rate of every cable.
        length: Length of every cable.
        mtu: Largest payload.
        sections: Further sections, by name.
    """
    text = {
        "version": 1,
        "name": "validation",
        "fabric": {
            "topology": topology,
            "switch_model": {"base": "native_ib"} | (switch or {}),
            "hca_model": {"base": "native_hca"} | (hca or {}),
            "link": {"rate": rate, "length": length},
            "mtu": mtu,
        },
        "workload": workload,
    }
    return parse_scenario(json.dumps(text | sections, indent=1))


def star(hosts: int) -> Keys:
    """Hosts on one switch: ``h<i>`` on port i + 1 of ``sw0``."""
    return {"generator": "single_switch", "hosts": hosts}


def line(switches: int) -> Keys:
    """``h0``, so many switches in a row, and ``h1``; a switch's port 1 looks towards ``h0``."""
    nodes: Keys = {"h0": "hca", "h1": "hca"} | {f"sw{number}": {"switch": 2} for number in range(switches)}
    left = ["h0/1", *(f"sw{number}/2" for number in range(switches))]
    right = [*(f"sw{number}/1" for number in range(switches)), "h1/1"]
    return {"nodes": nodes, "links": [list(ends) for ends in zip(left, right, strict=True)]}


def run(scenario: Scenario, until_ps: int | None = None, *, trace: bool = False) -> Simulation:
    """Runs a scenario to its end, or until a fabric time."""
    simulation = open_simulation(scenario, trace=trace)
    simulation.run(until_ps)
    return simulation


def delivered_bytes(simulation: Simulation) -> dict[str, int]:
    """Payload delivered so far, by flow."""
    return {flow["name"]: flow["bytes"] for flow in simulation.result()["flows"]}


def rates_bps(simulation: Simulation, from_ps: int, to_ps: int) -> dict[str, float]:
    """Payload delivered a second in a window of fabric time, by flow; runs the simulation on to its end."""
    simulation.run(from_ps)
    before = delivered_bytes(simulation)
    simulation.run(to_ps)
    after = delivered_bytes(simulation)
    return {name: 8 * (after[name] - before[name]) * PS_PER_S / (to_ps - from_ps) for name in before}


def latency_ps(simulation: Simulation) -> int:
    """Latency of the only message of a run."""
    (latency,) = simulation.message_latencies_ps.tolist()
    return int(latency)


def port_index(simulation: Simulation, port: str) -> int:
    """Index of ``node/number`` in the engine's arrays."""
    node, _, number = port.partition("/")
    plan = simulation.plan
    return plan.ports.of(PortRef(plan.scenario.fabric.index_of[node], int(number)))


def counter(simulation: Simulation, port: str, name: str) -> int:
    """A counter of a port."""
    node, _, number = port.partition("/")
    for row in simulation.result()["ports"]:
        if (row["node"], row["port"]) == (node, int(number)):
            return int(row[name])
    raise KeyError(port)


def packets_sent(simulation: Simulation, port: str, kind: PacketKind = PacketKind.DATA) -> Records:
    """Traced packets of a kind that left a port, in order."""
    packets, _ = simulation.trace()
    return packets[(packets.port == port_index(simulation, port)) & (packets.kind == kind)]


def fcps_sent(simulation: Simulation, port: str) -> Records:
    """Traced flow-control packets that left a port, in order."""
    _, fcps = simulation.trace()
    return fcps[fcps.port == port_index(simulation, port)]


def events(simulation: Simulation, kind: str) -> list[Keys]:
    """Events of the result of a kind, in order."""
    return [event for event in simulation.result()["events"] if event["kind"] == kind]


def jain(rates: np.ndarray) -> float:
    """Jain's index of fairness: 1 when all are equal, 1/n when one has all."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))
