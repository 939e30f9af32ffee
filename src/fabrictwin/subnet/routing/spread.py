# SPDX-License-Identifier: Apache-2.0
"""The choice among equally long legal paths that several engines share: the path with the least on it so far.

One destination LID after another, every switch takes the legal next hop whose path carries the fewest paths
of earlier destinations, summed over its channels; then the paths of all HCAs to that LID are added to the
channels they take. Looking along the whole path, and counting paths instead of LIDs, is what keeps the ways
down from the top of a tree as even as the ways up.

Source: Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks" (SSSP), here
restricted to the shortest legal paths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import Array, Channels
from fabrictwin.subnet.hops import UNREACHABLE, Approach, Directions, Hops, Paths, approach, next_channels
from fabrictwin.subnet.lids import Targets
from fabrictwin.subnet.routes import Routes, empty_lft
from fabrictwin.subnet.routing.request import RoutingRequest


class _Draft(NamedTuple):
    """Working arrays for one destination switch.

    Attributes:
        order: [switches] int32, the switches that have a legal next hop, nearest first.
        first: [switches + 1] int32, first legal next hop by position in ``order``.
        onward: [channels] int32, legal next hops.
        cost: [switches] int64, paths that lie on the best way from a switch.
        choice: [switches] int32, channel taken.
        flow: [switches] int64, paths that pass a switch.
    """

    order: Array
    first: Array
    onward: Array
    cost: Array
    choice: Array
    flow: Array


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
    graph, targets = request.graph, request.lids.targets
    lft = empty_lft(request.lids)
    load = np.zeros(len(graph.channels.port), np.int64)
    _spread(Paths(graph.channels, directions, hops), targets, graph.served, load, lft)
    return Routes(engine, graph, request.lids, lft, deadlock_free, hops=hops, directions=directions)


@kernel
def _spread(paths: Paths, targets: Targets, served: Array, load: Array, lft: Array) -> None:
    draft = _start_draft(len(served), len(load))
    for at in range(len(served)):
        way = approach(paths, at)
        switches = _list_choices(way, draft)
        for target in range(targets.first[at], targets.first[at + 1]):
            draft.cost[at] = 0
            _choose(way.channels, draft, switches, load)
            for i in range(switches):
                switch = draft.order[i]
                lft[switch, targets.lid[target]] = way.channels.port[draft.choice[switch]]
            if targets.end[target] >= 0:
                draft.flow[:] = served
                _add_paths(way.channels, draft, switches, load)


@kernel
def _start_draft(switches: int, channels: int) -> _Draft:
    return _Draft(
        np.empty(switches, np.int32),
        np.empty(switches + 1, np.int32),
        np.empty(channels, np.int32),
        np.empty(switches, np.int64),
        np.empty(switches, np.int32),
        np.empty(switches, np.int64),
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


@inline_kernel
def _choose(channels: Channels, draft: _Draft, switches: int, load: Array) -> None:
    """From the destination outwards: the next hop with the fewest paths between there and the destination."""
    for i in range(switches):
        switch = draft.order[i]
        best = draft.onward[draft.first[i]]
        least = load[best] + draft.cost[channels.peer[best]]
        for channel in draft.onward[draft.first[i] + 1 : draft.first[i + 1]]:
            cost = load[channel] + draft.cost[channels.peer[channel]]
            if cost < least:
                best, least = channel, cost
        draft.cost[switch] = least
        draft.choice[switch] = best


@inline_kernel
def _add_paths(channels: Channels, draft: _Draft, switches: int, load: Array) -> None:
    """From the farthest switch inwards: adds the paths that pass each switch to the channel that it takes."""
    for i in range(switches - 1, -1, -1):
        channel = draft.choice[draft.order[i]]
        load[channel] += draft.flow[draft.order[i]]
        draft.flow[channels.peer[channel]] += draft.flow[draft.order[i]]
