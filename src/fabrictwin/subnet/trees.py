# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables turned round: for each destination LID, the channel that every switch sends it to.

What the checks walk over. It is made from the tables alone, so it judges real clusters' tables as it judges
our own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import kernel
from fabrictwin.subnet.graph import Array
from fabrictwin.subnet.lids import delivering_switch, is_up
from fabrictwin.subnet.routes import Routes

DELIVERED = -1
DROPPED = -2


class PathTrees(NamedTuple):
    """The paths to every live HCA port.

    Attributes:
        lid: [targets] int32, the destinations' LIDs, grouped by delivering switch.
        end: [targets] int32, their endpoint numbers.
        at: [targets] int32, the switch that delivers.
        onward: [targets, switches] int32, the channel to take; DELIVERED or DROPPED where there is none.
        peer: [channels] int32, the switch at the far end.
        sources: [switches] int64, live HCA ports.
    """

    lid: Array
    end: Array
    at: Array
    onward: Array
    peer: Array
    sources: Array


def path_trees(routes: Routes, among: Array | None = None) -> PathTrees:
    """Follows every table entry to its channel.

    Args:
        routes: Tables, from an engine or from elsewhere. Ports that lead nowhere, over a dead cable or to the
            wrong HCA count as dropped.
        among: [targets] bool, which of the LIDs to look at; None for all.

    Returns:
        The trees of each of these LIDs that is that of a live HCA port.
    """
    graph, targets = routes.graph, routes.lids.targets
    live = (targets.end >= 0) & is_up(graph, targets)
    chosen = np.flatnonzero(live if among is None else live & among)
    lid, at = targets.lid[chosen], delivering_switch(targets)[chosen]
    onward = _follow(graph.channels.alive, graph.channel_at, routes.lft, lid)
    arrives = routes.lft[at, lid] == targets.port[chosen]
    onward[np.arange(len(at)), at] = np.where(arrives, DELIVERED, DROPPED)
    return PathTrees(lid, targets.end[chosen], at, onward, graph.channels.peer, graph.served)


def lanes_of(routes: Routes, trees: PathTrees) -> Array:
    """[targets, switches] uint8: service level of the path from each switch to each LID."""
    if routes.path_sl is None:
        return np.zeros(trees.onward.shape, np.uint8)
    return np.ascontiguousarray(routes.path_sl[:, trees.lid].T)


@kernel
def _follow(alive: Array, channel_at: Array, lft: Array, lids: Array) -> Array:
    onward = np.empty((len(lids), len(lft)), np.int32)
    for switch in range(len(lft)):
        for target in range(len(lids)):
            channel = channel_at[switch, lft[switch, lids[target]]]
            usable = channel >= 0 and alive[channel]
            onward[target, switch] = channel if usable else DROPPED
    return onward
