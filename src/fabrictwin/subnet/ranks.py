# SPDX-License-Identifier: Apache-2.0
"""Where the top of a fabric is: roots, and the rank of every switch below them.

Roots are found as the middle of the fabric: the switches that have most HCAs nearest. In a fat tree those are
the top switches, also when some cables are missing, and when a few HCAs (a management node, an aggregation
node) are cabled to a spine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabrictwin.jit import kernel
from fabrictwin.subnet.graph import Array, Channels, SubnetGraph
from fabrictwin.subnet.hops import FAR, count_hops, undirected

NEAR_SHARE_PERCENT = 60
"""A switch is as central as the distance within which it has this share of the HCAs.

Above one half, so that a leaf of a two-leaf tree does not look nearer than a spine; below three quarters, so
that a core switch of a small tree keeps its place after losing one of four pods.
"""


def rank_from_roots(graph: SubnetGraph, roots: Sequence[int] = ()) -> Array:
    """Ranks every switch by its distance from the nearest root.

    Args:
        graph: The fabric.
        roots: Switch numbers of rank 0; found by centrality if there are none.

    Returns:
        [switches] int32. A switch that ends up below every switch with HCAs (a spine that is cabled to leaves
        only, in a tree of three levels) is ranked above its neighbours, where it is of use.
    """
    starts = np.array(sorted(roots), np.int32) if roots else _find_roots(graph)
    rank = _spread_ranks(graph.channels, starts, 0)
    _lift_bare_switches(graph.channels, graph.served, rank)
    return rank


def rank_with_apex(graph: SubnetGraph, rank: Array) -> Array:
    """Lifts one leaf above the roots, and what lies between, so that the roots have a switch above them all.

    A packet between HCAs on two spines has to go down and up again. With one leaf on top it goes up to that
    leaf and down, while the paths between all other leaves stay as they are.

    Args:
        graph: The fabric.
        rank: Ranks with several roots.

    Returns:
        [switches] int32 ranks.
    """
    lifted = rank.copy()
    for apex in _central_switches(graph, rank > 0):
        distance = _spread_ranks(graph.channels, np.array([apex], np.int32), FAR)
        lifted = np.minimum(lifted, distance - rank[apex])
    return lifted


def rank_from_apex(graph: SubnetGraph, rank: Array) -> Array:
    """Ranks every switch by its distance from one leaf of its piece.

    Every other switch then has a neighbour above it, so up*/down* paths connect whatever is connected. The
    root is a leaf because the ranks of a tree seen from a leaf still allow its shortest paths; seen from a
    spine they do not.
    """
    return _spread_ranks(graph.channels, _central_switches(graph, rank > 0), 0)


def _central_switches(graph: SubnetGraph, wanted: Array) -> Array:
    """In each piece, the switch nearest to all HCAs; one of the wanted ones, where there is any."""
    left = count_hops(graph.channels, undirected(graph.channels)).left.astype(np.int64)
    left[left == FAR] = 0
    distance = left @ graph.served
    order = np.lexsort((np.arange(graph.switch_count), distance, ~wanted))
    _, first = np.unique(graph.pieces[order], return_index=True)
    chosen: Array = np.sort(order[first]).astype(np.int32)
    return chosen


def _find_roots(graph: SubnetGraph) -> Array:
    """The most central switches of each connected piece, in switch order."""
    weight = graph.served.copy()
    bare = np.bincount(graph.pieces, weights=weight, minlength=graph.switch_count) == 0
    weight[bare[graph.pieces]] = 1
    reach = _central_distance(count_hops(graph.channels, undirected(graph.channels)).left, weight)
    nearest = np.full(graph.switch_count, FAR)
    np.minimum.at(nearest, graph.pieces, reach)
    return np.flatnonzero(reach == nearest[graph.pieces]).astype(np.int32)


@kernel
def _central_distance(left: Array, weight: Array) -> Array:
    """[switches] hops within which a switch has NEAR_SHARE_PERCENT of all weight that it can reach."""
    switches = len(weight)
    reach = np.zeros(switches, np.int64)
    within = np.zeros(switches + 1, np.int64)
    for switch in range(switches):
        within[:] = 0
        total = 0
        for other in range(switches):
            if left[switch, other] != FAR:
                within[left[switch, other]] += weight[other]
                total += weight[other]
        seen = within[0]
        while seen * 100 < total * NEAR_SHARE_PERCENT:
            reach[switch] += 1
            seen += within[reach[switch]]
    return reach


@kernel
def _spread_ranks(channels: Channels, roots: Array, elsewhere: int) -> Array:
    """[switches] int32: breadth-first distance from the nearest root, and where no root is connected."""
    switches = len(channels.first) - 1
    rank = np.full(switches, -1, np.int32)
    queue = np.empty(switches, np.int32)
    tail = len(roots)
    queue[:tail] = roots
    rank[roots] = 0
    head = 0
    while head < tail:
        switch = queue[head]
        head += 1
        for channel in range(channels.first[switch], channels.first[switch + 1]):
            peer = channels.peer[channel]
            if channels.alive[channel] and rank[peer] < 0:
                rank[peer] = rank[switch] + 1
                queue[tail] = peer
                tail += 1
    rank[rank < 0] = elsewhere
    return rank


@kernel
def _lift_bare_switches(channels: Channels, served: Array, rank: Array) -> None:
    deepest = -1
    for switch in range(len(served)):
        if served[switch] > 0:
            deepest = max(deepest, rank[switch])
    for switch in range(len(served)):
        if rank[switch] > deepest >= 0:
            highest = rank[switch]
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                if channels.alive[channel]:
                    highest = min(highest, rank[channels.peer[channel]])
            rank[switch] = highest - 1
