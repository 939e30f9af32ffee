# SPDX-License-Identifier: Apache-2.0
"""``ftree``: d-mod-k routing of fat trees, whole or damaged.

Every HCA port has an index, its place when the leaves are read from left to right. At each level the index
picks the port upwards: at a leaf ``index mod k``, one level higher ``(index div k) mod k'`` and so on, where
k is the number of parents. The way down uses the cables of the way up. In a whole tree whose leaves have no
more HCAs than uplinks, any shift permutation then loads every cable with at most one flow.

Where the cable that d-mod-k asks for is missing, or leads to a switch that cannot reach the destination, the
path takes the legal port with the fewest paths ahead, as in ``up_down``. So a tree with missing cables,
spines or leaves keeps d-mod-k wherever it applies, and a fabric that is no fat tree at all is routed as
up*/down*.

Source: Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
trees".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.fat_tree import FatTree, divide_indices, read_fat_tree
from fabrictwin.subnet.graph import Array, Channels
from fabrictwin.subnet.hops import DETOUR, Approach, Paths, approach, next_channels
from fabrictwin.subnet.lids import Targets
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes, empty_lft
from fabrictwin.subnet.routing.spread import fill_tables
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
    found = find_directions(graph, request.roots)
    tree = read_fat_tree(graph, found.tree, request.lids.targets)
    lft = empty_lft(request.lids)
    paths = Paths(graph.channels, found.directions, found.hops)
    _route_by_digits(paths, tree, request.lids.targets, lft)
    fill_tables(paths, request, lft, rounds=3)
    return Routes("ftree", request, lft, True, hops=found.hops, directions=found.directions)


class _Options(NamedTuple):
    """Legal next hops.

    Attributes:
        channels: [options] int32, the channels in port order.
        legal: [channels] bool, whether a channel is among them.
    """

    channels: Array
    legal: Array


@kernel
def _route_by_digits(paths: Paths, tree: FatTree, targets: Targets, lft: Array) -> None:
    found = np.empty(len(paths.channels.port), np.int32)
    legal = np.zeros(len(found), np.bool_)
    for at in range(len(lft)):
        way = approach(paths, at)
        lids = targets.lid[targets.first[at] : targets.first[at + 1]]
        quotients = divide_indices(tree, at, tree.place[targets.first[at] : targets.first[at + 1]])
        for switch in range(len(lft)):
            n = next_channels(way, switch, found)
            if n == 1:
                for lid in lids:
                    lft[switch, lid] = way.channels.port[found[0]]
            elif n > 1:
                for i in range(n):
                    legal[found[i]] = True
                _choose(way, tree, quotients, _Options(found[:n], legal), lids, lft[switch])
                for i in range(n):
                    legal[found[i]] = False


@inline_kernel
def _choose(
    way: Approach, tree: FatTree, quotients: Array, options: _Options, lids: Array, table: Array
) -> None:
    """The port upwards that each index asks for, else the same cable downwards, else none.

    What no HCA's packets pass (the switch's own LID comes first, and detours) gets some port all the same.
    """
    switch = way.channels.source[options.channels[0]]
    level, radix = tree.level[switch], np.uint32(tree.radix[switch])
    for i in range(len(lids)):
        quotient = quotients[level, i]
        channel = -1
        if radix > 0:
            channel = tree.slot[tree.slot_first[switch] + quotient % radix]
        if channel < 0 or not options.legal[channel]:
            channel = _cable_down(way.channels, tree, quotients[:, i], options.channels)
        if channel < 0 and (i == 0 or way.kind[switch] == DETOUR):
            channel = options.channels[quotient % np.uint32(len(options.channels))]
        if channel >= 0:
            table[lids[i]] = way.channels.port[channel]


@inline_kernel
def _cable_down(channels: Channels, tree: FatTree, quotient: Array, found: Array) -> int:
    """The first of some channels that is the cable by which an index comes up from below; -1 if none is."""
    for channel in found:
        below = channels.peer[channel]
        radix = np.uint32(tree.radix[below])
        if radix > 0:
            slot = tree.slot_first[below] + quotient[tree.level[below]] % radix
            if tree.slot[slot] == channels.reverse[channel]:
                return int(channel)
    return -1
