# SPDX-License-Identifier: Apache-2.0
"""A small fat tree with subnet managers, and how to read what they did."""

from __future__ import annotations

from typing import Any

from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.fabric import NodeKind
from fabrictwin.units import PS_PER_NS
from validation.setups import Keys, build, events, run

LEAVES, HOSTS_PER_LEAF, SPINES = 4, 4, 4
TREE = {
    "generator": "fat_tree",
    "levels": 2,
    "leaves": LEAVES,
    "hosts_per_leaf": HOSTS_PER_LEAF,
    "spines": SPINES,
}
"""``h0`` to ``h15``, four a leaf; ports 5 to 8 of a leaf go to spines, port n + 1 of a spine to leaf n."""


def sweep_mads(simulation: Simulation, *silent: str) -> int:
    """MADs of a heavy sweep that finds all nodes but some: NodeInfo, SwitchInfo, PortInfo (models.md 1.9)."""
    nodes = [node for node in simulation.plan.scenario.fabric.nodes if node.name not in silent]
    switches = [node for node in nodes if node.kind is NodeKind.SWITCH]
    ports = sum(node.ports + 1 for node in switches) + len(nodes) - len(switches)
    return len(nodes) + len(switches) + ports


def watch(priorities: dict[str, int], faults: list[Keys], seconds: float, **timing: Any) -> Simulation:
    """Runs a message of 4 KiB every 10 ms through the tree for some seconds.

    Args:
        priorities: Where managers run, with their priorities.
        faults: What goes wrong.
        seconds: How long.
        timing: Further keys of ``subnet_manager``.
    """
    managers = [{"node": node, "priority": priority} for node, priority in priorities.items()]
    traffic = {"kind": "stream", "src": "h1", "dst": "h13", "message": "4KiB", "rate": "3.2768Mb/s"}
    work = [traffic | {"count": round(seconds * 100)}]
    return run(build(TREE, work, subnet_manager={"managers": managers, **timing}, faults=faults))


def entered(simulation: Simulation, host: str, state: str) -> list[int]:
    """Times in ps at which the manager on a host came into a state."""
    begin = f"SM on {host}: {state} "
    return [time_of(event) for event in events(simulation, "sm_state") if event["text"].startswith(begin)]


def time_of(event: Keys) -> int:
    """Time of an event in ps."""
    return round(event["fabric_ns"] * PS_PER_NS)


def times(simulation: Simulation, kind: str, containing: str = "") -> list[int]:
    """Times in ps of events of a kind whose text contains something."""
    return [time_of(event) for event in events(simulation, kind) if containing in event["text"]]


def final_states(simulation: Simulation) -> dict[str, str]:
    """The last state that each manager came into, by host."""
    states = {}
    for event in events(simulation, "sm_state"):
        host, _, rest = event["text"].removeprefix("SM on ").partition(": ")
        states[host] = rest.partition(" ")[0]
    return states
