# SPDX-License-Identifier: Apache-2.0
"""Directions for the engines that route up, then down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabrictwin.subnet.graph import Array, SubnetGraph
from fabrictwin.subnet.hops import DETOUR, Directions, Hops, count_hops, directed
from fabrictwin.subnet.ranks import rank_from_apex, rank_from_roots, rank_with_apex


@dataclass(frozen=True, eq=False)
class UpDown:
    """Directions under which every connected pair of HCAs has an up*/down* path.

    Attributes:
        tree: Directions by the roots of the cabling plan.
        directions: Directions that paths obey; mostly the same.
        hops: Distances under ``directions``.
    """

    tree: Directions
    directions: Directions
    hops: Hops


def find_directions(graph: SubnetGraph, roots: Sequence[int] = ()) -> UpDown:
    """Finds directions that connect every pair of HCAs that has a cable path.

    With several roots two HCAs can be connected and yet have no switch above both: HCAs on two spines, or
    leaves of a tree that has lost many cables. Then a leaf is lifted above the roots; if even that does not
    connect all, everything is ranked from that leaf.

    Args:
        graph: The fabric.
        roots: Switch numbers to use as roots; found if empty.

    Returns:
        The directions.
    """
    channels = graph.channels
    rank = rank_from_roots(graph, roots)
    tree = directed(channels, rank)
    directions, hops = tree, count_hops(channels, tree)
    for lift in (rank_with_apex, rank_from_apex):
        if not pairs_need_detours(graph, hops):
            break
        directions = directed(channels, lift(graph, rank))
        hops = count_hops(channels, directions)
    return UpDown(tree, directions, hops)


def pairs_need_detours(graph: SubnetGraph, hops: Hops, among: Array | None = None) -> bool:
    """Whether some connected pair of HCAs has no path that keeps to the directions.

    Args:
        graph: The fabric.
        hops: Distances under the directions.
        among: Destination switches to look at; None for all.
    """
    serving = np.flatnonzero(graph.served > 0)
    destinations = serving if among is None else np.intersect1d(serving, among)
    return bool((hops.kind[destinations][:, serving] == DETOUR).any())
