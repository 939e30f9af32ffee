# SPDX-License-Identifier: Apache-2.0
"""Directions for the engines that route up, then down."""

from __future__ import annotations

from collections.abc import Sequence

from fabrictwin.subnet.graph import SubnetGraph
from fabrictwin.subnet.hops import DETOUR, Directions, Hops, count_hops, directed
from fabrictwin.subnet.ranks import rank_from_one_root, rank_from_roots


def find_directions(graph: SubnetGraph, roots: Sequence[int] = ()) -> tuple[Directions, Hops]:
    """Directions under which every connected pair of HCAs has an up*/down* path, and the hops along them.

    With several roots two HCAs can be connected and yet have no common switch above them, in a tree that has
    lost many cables. Then the whole fabric is ranked from one root, where that cannot happen.

    Args:
        graph: The fabric.
        roots: Switch numbers to use as roots; found if empty.

    Returns:
        Directions and hops.
    """
    directions = directed(graph.channels, rank_from_roots(graph, roots))
    hops = count_hops(graph.channels, directions)
    if not pairs_need_detours(graph, hops):
        return directions, hops
    directions = directed(graph.channels, rank_from_one_root(graph))
    return directions, count_hops(graph.channels, directions)


def pairs_need_detours(graph: SubnetGraph, hops: Hops) -> bool:
    """Whether some connected pair of HCAs has no path that keeps to the directions."""
    serving = graph.served > 0
    return bool((hops.kind[serving][:, serving] == DETOUR).any())
