# SPDX-License-Identifier: Apache-2.0
"""Fat trees: leaves and spines, or the three-level tree of k-port switches."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.builder import FabricBuilder
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.parameters import Count, TopologyParameters
from fabrictwin.model.topology.size import FabricSize
from fabrictwin.model.topology.tiers import connect_tiers

_TWO_LEVELS = ("leaves", "hosts_per_leaf", "spines")
_OPTIONAL_WITH_TWO = ("links_per_spine",)
_THREE_LEVELS = ("k",)


class FatTree(TopologyParameters):
    """Parameters of ``fat_tree``: ``levels: 2`` with leaves, hosts and spines, or ``levels: 3`` with k.

    Attributes:
        generator: Name of the topology.
        levels: Tiers of switches.
        leaves: Two levels: leaf switches.
        hosts_per_leaf: Two levels: HCAs on each leaf.
        spines: Two levels: spine switches.
        links_per_spine: Two levels: parallel cables between a leaf and a spine; 1 where it is not given.
        k: Three levels: ports of every switch, an even number; the tree has k³/4 hosts.
    """

    generator: Literal["fat_tree"] = "fat_tree"
    levels: Literal[2, 3]
    leaves: Count | None = None
    hosts_per_leaf: Count | None = None
    spines: Count | None = None
    links_per_spine: Count | None = None
    k: Count | None = None

    @model_validator(mode="after")
    def _check_levels(self) -> Self:
        needed, optional = (_TWO_LEVELS, _OPTIONAL_WITH_TWO) if self.levels == 2 else (_THREE_LEVELS, ())
        missing = [name for name in needed if getattr(self, name) is None]
        every = (*_TWO_LEVELS, *_OPTIONAL_WITH_TWO, *_THREE_LEVELS)
        foreign = [
            name for name in every if name not in needed + optional and getattr(self, name) is not None
        ]
        takes = f"a fat_tree of {self.levels} levels takes {', '.join(needed + optional)}"
        if missing:
            raise ValueError(f"{takes}; missing: {', '.join(missing)}")
        if foreign:
            raise ValueError(f"{takes}; not: {', '.join(foreign)}")
        if self.k is not None and self.k % 2:
            raise ValueError(f"k must be even, got {self.k}")
        return self

    @property
    def two_levels(self) -> tuple[int, int, int, int]:
        """(leaves, hosts_per_leaf, spines, links_per_spine) of a tree of two levels."""
        return self.leaves or 0, self.hosts_per_leaf or 0, self.spines or 0, self.links_per_spine or 1

    @property
    def half(self) -> int:
        """k / 2 of a tree of three levels."""
        return (self.k or 0) // 2


def size_fat_tree(parameters: FatTree) -> FabricSize:
    """What will be built."""
    if parameters.levels == 2:
        leaves, hosts_per_leaf, spines, links_per_spine = parameters.two_levels
        hcas = leaves * hosts_per_leaf
        return FabricSize(
            switches=leaves + spines,
            hcas=hcas,
            links=hcas + leaves * spines * links_per_spine,
            radix=max(hosts_per_leaf + spines * links_per_spine, leaves * links_per_spine),
        )
    half = parameters.half
    return FabricSize(switches=5 * half * half, hcas=2 * half**3, links=6 * half**3, radix=2 * half)


def build_fat_tree(parameters: FatTree, equipment: Equipment, radix: int) -> Fabric:
    """The fabric; every switch has ``radix`` ports."""
    builder = FabricBuilder(equipment)
    if parameters.levels == 2:
        _add_two_levels(builder, parameters, radix)
    else:
        _add_three_levels(builder, parameters.half, radix)
    return builder.build()


def _add_leaves(builder: FabricBuilder, leaves: int, hosts_per_leaf: int, radix: int) -> list[int]:
    hosts = [builder.add_hca(f"h{index}") for index in range(leaves * hosts_per_leaf)]
    switches = [builder.add_switch(f"leaf{index}", radix) for index in range(leaves)]
    for index, host in enumerate(hosts):
        builder.connect((host, 1), (switches[index // hosts_per_leaf], index % hosts_per_leaf + 1))
    return switches


def _add_two_levels(builder: FabricBuilder, parameters: FatTree, radix: int) -> None:
    leaves, hosts_per_leaf, spines, links_per_spine = parameters.two_levels
    lower = _add_leaves(builder, leaves, hosts_per_leaf, radix)
    upper = [builder.add_switch(f"spine{index}", radix) for index in range(spines)]
    connect_tiers(builder, lower, upper, links_per_spine, hosts_per_leaf + 1)


def _add_three_levels(builder: FabricBuilder, half: int, radix: int) -> None:
    """k pods of k/2 leaves and k/2 spines; spine j of every pod meets the cores j·k/2 to (j + 1)·k/2 − 1."""
    pods = 2 * half
    leaves = _add_leaves(builder, pods * half, half, radix)
    spines = [builder.add_switch(f"spine{index}", radix) for index in range(pods * half)]
    cores = [builder.add_switch(f"core{index}", radix) for index in range(half * half)]
    for pod in range(pods):
        in_pod = slice(pod * half, (pod + 1) * half)
        connect_tiers(builder, leaves[in_pod], spines[in_pod], 1, half + 1)
    for position in range(half):
        same_position = spines[position::half]
        connect_tiers(builder, same_position, cores[position * half : (position + 1) * half], 1, half + 1)
