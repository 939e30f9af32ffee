# SPDX-License-Identifier: Apache-2.0
"""New forwarding tables after links and switches went down or came back, without routing everything again.

The tables of the whole fabric are the plan. Whatever is down, an entry of the plan that still is a legal next
hop stays; the others get a legal next hop each, dealt out in turn over the ports that there are. So

- the tables depend on the plan and on what is down, not on the order in which it happened: a link that comes
back
  brings the old tables back, and rerouting step by step equals rerouting at once, bit for bit;
- a lost cable changes the entries that used it and those that have become longer than need be, and no others;
- paths are as short as in a full routing, obey the same directions, and reach the same destinations.

They are not those that the engine would compute afresh on what is left, which would balance the load anew and
change far more blocks. Only when the directions no longer connect all HCAs is the whole fabric routed again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.jit import kernel
from fabrictwin.model.fabric import Link
from fabrictwin.subnet.graph import NO_PORT, Array, SubnetGraph
from fabrictwin.subnet.hops import (
    UNREACHABLE,
    Hops,
    Paths,
    approach,
    count_hops_to,
    leads_nearer,
    next_channels,
)
from fabrictwin.subnet.lids import Targets, delivering_switch, is_up
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import ROUTING_ENGINES
from fabrictwin.subnet.routing.dfsssp import fits_on_lanes, put_on_lanes
from fabrictwin.subnet.routing.up_down import route_up_down
from fabrictwin.subnet.routing.updown import pairs_need_detours


def reroute(plan: Routes, links: Iterable[Link] = (), nodes: Iterable[int] = ()) -> Routes:
    """Routes around what is down.

    Args:
        plan: Routes of the fabric with everything up.
        links: Every cable that is down now.
        nodes: Indices of every node that is down now.

    Returns:
        The routes; those of ``plan`` again if nothing is down. Tables that were given (``explicit``) stay as
        they are. If ``dfsssp`` runs out of virtual lanes, or an engine's directions fail, the result is a
        full routing of what is left, by ``up_down`` or by the engine.
    """
    graph = plan.graph.with_down(links, nodes)
    request = replace(plan.request, graph=graph)
    if plan.hops is None or plan.directions is None:
        return replace(plan, request=request)
    touched = np.unique(graph.channels.source[graph.channels.alive < plan.graph.channels.alive])
    hops, changed = _recount(Paths(graph.channels, plan.directions, plan.hops), touched)
    if pairs_need_detours(graph, hops, changed):
        return ROUTING_ENGINES[plan.engine].route(request)
    lft = plan.lft.copy()
    paths = Paths(graph.channels, plan.directions, hops)
    _repair(
        paths, plan.lids.targets, _mark(touched, len(lft)), _mark(changed, len(lft)), graph.channel_at, lft
    )
    _drop_dead_ends(graph, plan.lids.targets, lft)
    routes = replace(plan, request=request, lft=lft, hops=hops)
    if routes.path_sl is None or fits_on_lanes(plan, routes):
        return routes
    try:
        return put_on_lanes(routes)
    except InputError:
        return route_up_down(request)


def _recount(paths: Paths, touched: Array) -> tuple[Hops, Array]:
    """Hops over what is up, from hops over the plan, and the destination switches whose hops differ."""
    changed = _find_changed(paths, touched)
    if not len(changed):
        return paths.hops, changed
    hops = Hops(paths.hops.left.copy(), paths.hops.kind.copy())
    count_hops_to(paths.channels, paths.directions, changed, hops)
    return hops, changed


def _mark(numbers: Array, size: int) -> Array:
    marks = np.zeros(size, np.bool_)
    marks[numbers] = True
    return marks


def _drop_dead_ends(graph: SubnetGraph, targets: Targets, lft: Array) -> None:
    """The switch of an HCA port that is down drops its LIDs; the other switches need not know."""
    down = ~is_up(graph, targets)
    lft[delivering_switch(targets)[down], targets.lid[down]] = NO_PORT


@kernel
def _find_changed(paths: Paths, touched: Array) -> Array:
    """Destination switches towards which some switch that lost a cable has no legal next hop left.

    Towards all others every switch keeps one, and so its distance.
    """
    switches = len(paths.channels.first) - 1
    found = np.empty(len(paths.channels.port), np.int32)
    changed = np.empty(switches, np.int32)
    n = 0
    for at in range(switches):
        way = approach(paths, at)
        for switch in touched:
            reached = switch != at and way.kind[switch] != UNREACHABLE
            if reached and next_channels(way, switch, found) == 0:
                changed[n] = at
                n += 1
                break
    return changed[:n].copy()


@kernel
def _repair(
    paths: Paths, targets: Targets, touched: Array, changed: Array, channel_at: Array, lft: Array
) -> None:
    """Replaces the entries that are no legal next hops any more; each switch deals its ports out in turn."""
    found = np.empty(len(paths.channels.port), np.int32)
    dealt = np.zeros(len(lft), np.int64)
    for at in range(len(lft)):
        way = approach(paths, at)
        for switch in range(len(lft)):
            if switch == at or not (changed[at] or touched[switch]):
                continue
            n = next_channels(way, switch, found)
            for target in range(targets.first[at], targets.first[at + 1]):
                lid = targets.lid[target]
                channel = channel_at[switch, lft[switch, lid]]
                if n == 0:
                    lft[switch, lid] = NO_PORT
                elif channel < 0 or not leads_nearer(way, channel):
                    lft[switch, lid] = way.channels.port[found[dealt[switch] % n]]
                    dealt[switch] += 1
