# SPDX-License-Identifier: Apache-2.0
"""The choice among equally long legal paths that several engines share: the path with the least on it so far.

One destination LID after another, from the nearest switch outwards, every switch takes the legal next hop
whose way carries the fewest paths so far, summed over its channels; the paths of its own HCAs are added to
that way at once, so that the next switch sees them. Looking along the whole way, and counting paths instead
of LIDs, is what keeps the cables down from the top of a tree as even as those up.

Source: Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks" (SSSP), here
restricted to the shortest legal paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import NO_PORT, Array, Channels
from fabrictwin.subnet.hops import UNREACHABLE, Approach, Directions, Hops, Paths, approach, next_channels
from fabrictwin.subnet.lids import Targets
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes, empty_lft


class _Draft(NamedTuple):
    """Working arrays for one destination switch.

    Attributes:
        order: [switches] int32, the switches that have a legal next hop, nearest first.
        first: [switches + 1] int32, first legal next hop by position in ``order``.
        onward: [channels] int32, legal next hops.
        cost: [switches] int64, paths that lie on the way from a switch, summed over its channels.
        choice: [switches] int32, channel taken.
    """

    order: Array
    first: Array
    onward: Array
    cost: Array
    choice: Array


def spread_routes(
    engine: str, request: RoutingRequest, directions: Directions, hops: Hops, *, deadlock_free: bool
) -> Routes:
    """Fills the tables of an engine that balances over all legal paths.

    Args:
        engine: Its name.
        request: What is asked.
        directions: The directions that paths obey.
        hops: Distances under these directions.
        deadlock_free: What the engine promises.

    Returns:
        The routes.
    """
    lft = empty_lft(request.lids)
    fill_tables(Paths(request.graph.channels, directions, hops), request, lft)
    return Routes(engine, request, lft, deadlock_free, hops=hops, directions=directions)


def fill_tables(paths: Paths, request: RoutingRequest, lft: Array, *, rounds: int = 1) -> None:
    """Fills the entries that drop, where there is a legal next hop; the others are kept, and their paths
    count.

    Args:
        paths: The legal paths.
        request: What is asked.
        lft: [switches, width] tables, changed in place.
        rounds: In a second round every choice is made again, knowing the load of all others.
    """
    targets, graph = request.lids.targets, request.graph
    kept = lft.copy()
    unfilled = (lft == NO_PORT).any(axis=0)[targets.lid]
    if not unfilled.any():
        return
    senders = _Senders(graph.served, graph.channel_at, np.zeros(len(graph.channels.port), np.int64))
    _spread(paths, targets, senders, kept, lft)
    for _ in range(1, rounds):
        _respread(paths, targets, senders, unfilled & (targets.end >= 0), kept, lft)


class _Senders(NamedTuple):
    """Who sends, and what lies on the channels.

    Attributes:
        served: [switches] int64, live HCA ports.
        channel_at: [switches, 256] int32, channel by port.
        load: [channels] int64, paths so far.
    """

    served: Array
    channel_at: Array
    load: Array


@kernel
def _spread(paths: Paths, targets: Targets, senders: _Senders, kept: Array, lft: Array) -> None:
    draft = _start_draft(len(senders.served), len(senders.load))
    for at in range(len(senders.served)):
        way = approach(paths, at)
        switches = _list_choices(way, draft)
        for target in range(targets.first[at], targets.first[at + 1]):
            lid = targets.lid[target]
            sign = 1 if targets.end[target] >= 0 else 0
            _route_lid(way, senders, draft, switches, kept[:, lid], sign)
            for i in range(switches):
                lft[draft.order[i], lid] = way.channels.port[draft.choice[draft.order[i]]]


@kernel
def _respread(
    paths: Paths, targets: Targets, senders: _Senders, chosen: Array, kept: Array, lft: Array
) -> None:
    """Takes the paths to one of the chosen LIDs away, routes them again, and goes on to the next LID."""
    draft = _start_draft(len(senders.served), len(senders.load))
    for at in range(len(senders.served)):
        way = approach(paths, at)
        switches = _list_choices(way, draft)
        for target in range(targets.first[at], targets.first[at + 1]):
            lid = targets.lid[target]
            if chosen[target]:
                _route_lid(way, senders, draft, switches, lft[:, lid], -1)
                _route_lid(way, senders, draft, switches, kept[:, lid], 1)
                for i in range(switches):
                    lft[draft.order[i], lid] = way.channels.port[draft.choice[draft.order[i]]]


@inline_kernel
def _route_lid(
    way: Approach, senders: _Senders, draft: _Draft, switches: int, kept: Array, sign: int
) -> None:
    """Chooses for all switches, the nearest first, and adds each switch's paths (or takes them away)."""
    draft.cost[:] = 0
    for i in range(switches):
        switch = draft.order[i]
        if kept[switch] == NO_PORT:
            _choose(way.channels, draft, i, senders.load)
        else:
            channel = senders.channel_at[switch, kept[switch]]
            draft.cost[switch] = senders.load[channel] + draft.cost[way.channels.peer[channel]]
            draft.choice[switch] = channel
        paths = sign * senders.served[switch]
        if paths != 0:
            _add_paths(way.channels, draft, switch, paths, way.left[switch], senders.load)


@inline_kernel
def _choose(channels: Channels, draft: _Draft, position: int, load: Array) -> None:
    """Takes the next hop with the fewest paths ahead; the first of equals."""
    best = draft.onward[draft.first[position]]
    least = load[best] + draft.cost[channels.peer[best]]
    for channel in draft.onward[draft.first[position] + 1 : draft.first[position + 1]]:
        cost = load[channel] + draft.cost[channels.peer[channel]]
        if cost < least:
            best, least = channel, cost
    draft.cost[draft.order[position]] = least
    draft.choice[draft.order[position]] = best


@inline_kernel
def _add_paths(channels: Channels, draft: _Draft, switch: int, paths: int, left: int, load: Array) -> None:
    """Adds paths to all channels from a switch to the destination, and to the costs along the way."""
    for ahead in range(left, 0, -1):
        channel = draft.choice[switch]
        load[channel] += paths
        draft.cost[switch] += paths * ahead
        switch = channels.peer[channel]


@kernel
def _start_draft(switches: int, channels: int) -> _Draft:
    return _Draft(
        np.empty(switches, np.int32),
        np.empty(switches + 1, np.int32),
        np.empty(channels, np.int32),
        np.empty(switches, np.int64),
        np.empty(switches, np.int32),
    )


@inline_kernel
def _list_choices(way: Approach, draft: _Draft) -> int:
    """Sorts the switches by distance and lists the legal next hops of each; returns how many have any."""
    switches = 0
    for nearest in np.argsort(way.left, kind="mergesort"):
        if way.kind[nearest] != UNREACHABLE and way.left[nearest] > 0:
            draft.order[switches] = nearest
            switches += 1
    draft.first[0] = 0
    for i in range(switches):
        begin = draft.first[i]
        draft.first[i + 1] = begin + next_channels(way, draft.order[i], draft.onward[begin:])
    return switches
