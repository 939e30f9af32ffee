# SPDX-License-Identifier: Apache-2.0
"""``ftree``: d-mod-k routing of fat trees, whole or damaged.

Every HCA port has an index, its place when the leaves are read from left to right. At each level the index
picks the port upwards: at a leaf ``index mod k``, one level higher ``(index div k) mod k'`` and so on, where
k is the number of parents. The way down uses the cables of the way up. In a whole tree whose leaves have no
more HCAs than uplinks, any shift permutation then loads every cable with at most one flow.

Where the cable that d-mod-k asks for is missing or leads nowhere, the path takes another legal port, chosen
by the next digit of the index; everything else stays as it is. So a lost cable moves the paths that used it
and no others, and a fabric that is only nearly a fat tree is routed as up*/down* with d-mod-k choice. The
digits come from the cabling plan, links that are down included, so the same faults give the same tables in
whatever order they came.

Source: Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
trees".
"""

from __future__ import annotations

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.fat_tree import FatTree, divide_indices, read_fat_tree
from fabrictwin.subnet.graph import Array
from fabrictwin.subnet.hops import UP, Approach, Paths, approach, leads_nearer, next_channels
from fabrictwin.subnet.lids import Targets
from fabrictwin.subnet.routes import Routes, empty_lft
from fabrictwin.subnet.routing.request import RoutingRequest
from fabrictwin.subnet.routing.updown import find_directions


def route_ftree(request: RoutingRequest) -> Routes:
    """Routes a fat tree.

    Raises:
        InputError: The LMC is not 0: d-mod-k has one path per HCA port.
    """
    if request.lids.lmc:
        raise InputError.of(
            f"engine 'ftree' needs LMC 0, got {request.lids.lmc}; use LMC 0 or another engine",
            field="routing.lmc",
        )
    graph = request.graph
    directions, hops = find_directions(graph, request.roots)
    tree = read_fat_tree(graph, directions, request.lids.targets)
    lft = empty_lft(request.lids)
    every = np.arange(graph.switch_count, dtype=np.int32)
    route_by_digits(Paths(graph.channels, directions, hops), tree, request.lids.targets, every, every, lft)
    return Routes("ftree", graph, request.lids, lft, True, hops=hops, directions=directions)


@kernel
def route_by_digits(
    paths: Paths, tree: FatTree, targets: Targets, destinations: Array, switches: Array, lft: Array
) -> None:
    """Chooses the ports of some switches towards the LIDs that some destination switches deliver."""
    found = np.empty(len(paths.channels.port), np.int32)
    for at in destinations:
        way = approach(paths, at)
        lids = targets.lid[targets.first[at] : targets.first[at + 1]]
        quotients = divide_indices(tree, at, tree.place[targets.first[at] : targets.first[at + 1]])
        for switch in switches:
            n = next_channels(way, switch, found)
            if n == 1:
                for lid in lids:
                    lft[switch, lid] = way.channels.port[found[0]]
            elif n > 1 and way.kind[switch] == UP:
                _go_up(way, tree, quotients, found[:n], lids, lft[switch])
            elif n > 1:
                _go_down(way, tree, quotients, found[:n], lids, lft[switch])


@inline_kernel
def _go_up(way: Approach, tree: FatTree, quotients: Array, found: Array, lids: Array, table: Array) -> None:
    """The port that each index asks for; another one by its next digit where that is not legal."""
    switch = way.channels.source[found[0]]
    level, radix = tree.level[switch], np.uint32(tree.radix[switch])
    whole = len(found) == radix
    for i in range(len(lids)):
        quotient = quotients[level, i]
        channel = np.int32(-1)
        if radix > 0:
            channel = tree.slot[tree.slot_first[switch] + quotient % radix]
        if not whole and (channel < 0 or not leads_nearer(way, int(channel))):
            spare = quotient // max(radix, np.uint32(1))
            channel = found[spare % np.uint32(len(found))]
        table[lids[i]] = way.channels.port[channel]


@inline_kernel
def _go_down(way: Approach, tree: FatTree, quotients: Array, found: Array, lids: Array, table: Array) -> None:
    """The cable by which the index would come up from the switch below, else any by the index."""
    for i in range(len(lids)):
        channel = np.int32(-1)
        for candidate in found:
            below = way.channels.peer[candidate]
            radix = np.uint32(tree.radix[below])
            if radix > 0 and channel < 0:
                digit = quotients[tree.level[below], i] % radix
                if tree.slot[tree.slot_first[below] + digit] == way.channels.reverse[candidate]:
                    channel = candidate
        if channel < 0:
            channel = found[quotients[-1, i] % np.uint32(len(found))]
        table[lids[i]] = way.channels.port[channel]
