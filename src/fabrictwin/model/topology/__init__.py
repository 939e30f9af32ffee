# SPDX-License-Identifier: Apache-2.0
"""Topologies: one file each, one row each. A scenario's ``topology`` names the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.topology.chain import Chain, build_chain, size_chain
from fabrictwin.model.topology.equipment import DEFAULT_LENGTH_MM, Equipment, LinkDefaults
from fabrictwin.model.topology.explicit import Explicit, build_explicit, size_explicit
from fabrictwin.model.topology.fat_tree import FatTree, build_fat_tree, size_fat_tree
from fabrictwin.model.topology.parameters import RATE_FIELD, TOPOLOGY_FIELD, TopologyParameters
from fabrictwin.model.topology.rail_optimized import RailOptimized, build_rail_optimized, size_rail_optimized
from fabrictwin.model.topology.ring import Ring, build_ring, size_ring
from fabrictwin.model.topology.single_switch import SingleSwitch, build_single_switch, size_single_switch
from fabrictwin.model.topology.size import FabricSize, check_size


@dataclass(frozen=True, slots=True)
class Topology:
    """A row of the table.

    Attributes:
        name: The ``generator`` of a scenario; an explicit topology has none and is the row ``explicit``.
        title: What it is, for lists of choices.
        parameters: Its parameters.
        size: Counts what would be built from its parameters.
        build: Builds the fabric from its parameters, the equipment and the ports of a switch.
    """

    name: str
    title: str
    parameters: type[TopologyParameters]
    size: Callable[[Any], FabricSize]
    build: Callable[[Any, Equipment, int], Fabric]


TOPOLOGIES: dict[str, Topology] = {
    row.name: row
    for row in (
        Topology(
            "single_switch", "hosts on one switch", SingleSwitch, size_single_switch, build_single_switch
        ),
        Topology("chain", "switches in an open line", Chain, size_chain, build_chain),
        Topology("ring", "switches in a closed line", Ring, size_ring, build_ring),
        Topology("fat_tree", "fat tree of 2 or 3 levels", FatTree, size_fat_tree, build_fat_tree),
        Topology(
            "rail_optimized",
            "GPU servers, one leaf per rail of a scalable unit",
            RailOptimized,
            size_rail_optimized,
            build_rail_optimized,
        ),
        Topology("explicit", "nodes and links written out", Explicit, size_explicit, build_explicit),
    )
}


def build_topology(name: str, parameters: TopologyParameters, equipment: Equipment) -> Fabric:
    """Builds a fabric, after its size has been checked.

    Args:
        name: Row of ``TOPOLOGIES``.
        parameters: Parameters of that row's type.
        equipment: What it is built of.

    Returns:
        The fabric.

    Raises:
        InputError: It would be too large, or need more ports than the switch model has, or what is written
            out is wrong.
    """
    row = TOPOLOGIES[name]
    size = row.size(parameters)
    switch = equipment.switch
    ports_per_switch = size.radix if switch.any_radix else switch.ports
    problems = check_size(size, ports_per_switch, TOPOLOGY_FIELD)
    if size.radix > switch.ports:
        message = (
            f"{name} needs switches of {size.radix} ports, but the model {switch.name} has {switch.ports}"
        )
        problems.append(Problem(message, field=TOPOLOGY_FIELD))
    # Every generated fabric has cables between HCAs and switches; one that is written out checks each cable.
    too_fast = (
        "" if row.build is build_explicit else equipment.rate_problem(equipment.link.rate_bps, *NodeKind)
    )
    if too_fast:
        problems.append(Problem(too_fast, field=RATE_FIELD))
    if problems:
        raise InputError(problems)
    return row.build(parameters, equipment, ports_per_switch)


__all__ = [
    "DEFAULT_LENGTH_MM",
    "TOPOLOGIES",
    "Equipment",
    "LinkDefaults",
    "Topology",
    "TopologyParameters",
    "build_topology",
]
