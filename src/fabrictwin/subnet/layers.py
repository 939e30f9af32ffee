# SPDX-License-Identifier: Apache-2.0
"""Virtual-lane layering: paths are put on as many VLs as it takes for no VL to have a dependency cycle.

All paths start on VL 0. While a VL has a cycle, the dependency of the cycle that fewest paths make is broken:
those paths move to the next VL. A path is what goes from one switch to one LID, whoever of the switch's HCAs
sends it.

Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies" (DFSSSP), offline
variant.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.dependencies import Pairs, drop_broken, find_cycle, pairs_of, start_search
from fabrictwin.subnet.graph import Array, Channels
from fabrictwin.subnet.trees import PathTrees


def layer_paths(trees: PathTrees, channels: Channels, lanes: Array) -> list[Array]:
    """Moves paths to higher VLs until no VL has a cycle.

    Args:
        trees: The paths.
        channels: The channels.
        lanes: [targets, switches] uint8, the lowest VL that each path may be on; changed in place.

    Returns:
        For each VL that is needed, [pairs] int32: how many of its paths take both channels.
    """
    pairs = pairs_of(channels)
    weights: list[Array] = []
    top = int(lanes.max(initial=0))
    while len(weights) <= top:
        vl = len(weights)
        weights.append(count_dependencies(trees, pairs, lanes, vl))
        if _clear_vl(trees, channels, lanes, vl, weights[vl]):
            top = max(top, vl + 1)
    return weights


def _clear_vl(trees: PathTrees, channels: Channels, lanes: Array, vl: int, weight: Array) -> bool:
    """Moves paths off a VL until it has no cycle; whether any moved."""
    pairs = pairs_of(channels)
    search = start_search(pairs)
    moved = False
    while len(cycle := find_cycle(pairs, weight, search)):
        first, second = _weakest(pairs, weight, cycle)
        through = int(channels.source[first])
        targets = np.flatnonzero(
            (trees.onward[:, through] == first) & (trees.onward[:, channels.peer[first]] == second)
        )
        _move_paths(trees, pairs, lanes, (vl, through), targets, weight)
        drop_broken(pairs, weight, search)
        moved = True
    return moved


def _weakest(pairs: Pairs, weight: Array, cycle: Array) -> tuple[int, int]:
    """The two channels of the dependency in a cycle that fewest paths make; the first of equals."""
    following = np.roll(cycle, -1)
    numbers = pairs.first[cycle] + following - pairs.begin[cycle]
    at = int(np.argmin(weight[numbers]))
    return int(cycle[at]), int(following[at])


@kernel
def count_dependencies(trees: PathTrees, pairs: Pairs, lanes: Array, vl: int) -> Array:
    """[pairs] int32: paths of a VL that take both channels."""
    weight = np.zeros(pairs.first[-1], np.int32)
    for target in range(len(trees.lid)):
        onward = trees.onward[target]
        for source in range(len(trees.sources)):
            if trees.sources[source] > 0 and lanes[target, source] == vl:
                _add_path(trees, pairs, onward, source, weight, 1)
    return weight


@inline_kernel
def _add_path(trees: PathTrees, pairs: Pairs, onward: Array, source: int, weight: Array, change: int) -> None:
    channel = onward[source]
    while channel >= 0:
        following = onward[trees.peer[channel]]
        if following >= 0:
            weight[pairs.first[channel] + following - pairs.begin[channel]] += change
        channel = following


@kernel
def _move_paths(
    trees: PathTrees, pairs: Pairs, lanes: Array, place: tuple[int, int], targets: Array, weight: Array
) -> None:
    """Moves the paths to some targets that pass a switch from one VL to the next."""
    vl, through = place
    for target in targets:
        onward = trees.onward[target]
        for source in range(len(trees.sources)):
            if trees.sources[source] == 0 or lanes[target, source] != vl:
                continue
            switch = source
            while switch != through and onward[switch] >= 0:
                switch = trees.peer[onward[switch]]
            if switch == through:
                _add_path(trees, pairs, onward, source, weight, -1)
                lanes[target, source] = vl + 1
