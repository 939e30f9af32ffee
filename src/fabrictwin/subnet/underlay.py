# SPDX-License-Identifier: Apache-2.0
"""The underlay of a RoCE fabric: what BGP makes of a cable that fails, and when each switch has it.

A failed cable has two effects. The switches at its ends stop using it at once, since they see it: the local
repair of the engine. Everybody else goes on sending to them until the news has come: the BFD session of the
cable times out, and from there BGP updates travel from switch to switch, each of which takes its time to work
them out and to program its tables. A cable that comes back is told of in the same way.

**Models**: docs/models/rocev2.md section 6. **Not**: routes to single hosts (a leaf announces its subnet),
policies that forbid detours through a leaf, messages lost between the switches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import Notice, PeerMessage, RouteWrite, Spoken, pack_ports
from fabrictwin.model.fabric import Link, NodeKind, PortRef
from fabrictwin.model.routing_names import RoutingSpec
from fabrictwin.subnet.calendar import Calendar, Step
from fabrictwin.subnet.graph import Array, SubnetGraph
from fabrictwin.subnet.next_hops import NextHops
from fabrictwin.subnet.outbox import EventKind, Outbox
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import ROUTING_ENGINES
from fabrictwin.subnet.sm_state import SmInfo, SmState
from fabrictwin.units import show_time

NOBODY = SmInfo(SmState.MASTER, (0, 0))
"""It rules alone, and has neither a priority nor a GUID."""


class Underlay:
    """The switches' routing protocol; a :class:`fabrictwin.model.controller.Controller`.

    Args:
        plan: Routes with everything up, which all switches have at the start.
        timing: How long it takes to notice and to pass on.

    Attributes:
        routes: What the switches agree on once the news is everywhere.
        act_count: Changes of cables that it has worked out.
    """

    info = NOBODY
    master = 0

    def __init__(self, plan: Routes, timing: RoutingSpec) -> None:
        self.routes = plan
        self.act_count = 0
        self.notice_lookahead_ps, self.lookahead_ps = lookaheads_ps(timing)
        self.peer_lookahead_ps = self.lookahead_ps
        self._timing = timing
        self._fabric = plan.graph.fabric
        self._plan = plan
        self._calendar = Calendar()
        self._outbox = Outbox(0, "")
        self._down: dict[PortRef, Link] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._installed = None if plan.next_hops is None else self._number(plan.next_hops)
        self._written_ps = np.zeros(plan.graph.switch_count, np.int64)

    @property
    def next_ps(self) -> int:
        """Fabric time past which :meth:`advance` must go for something to happen by itself."""
        return self._calendar.next_ps + self.notice_lookahead_ps

    def hear(self, notices: Iterable[Notice]) -> None:
        """Takes in notices; they may come early, and twice (both ends of a cable)."""
        for notice in notices:
            link = self._fabric.link_at.get(PortRef(notice.node, notice.port))
            if notice.kind != ActionKind.LINK_STATE or link is None or not self._joins_switches(link):
                continue
            key = (link.a.node, link.a.port, notice.value)
            self._calendar.add(notice.at_ps, Step.CHANGE, (link, notice.value != 0), key=key)

    def hear_peer(self, number: int, messages: Iterable[PeerMessage]) -> None:
        """There are no others."""

    def advance(self, to_ps: int) -> None:
        """Does everything before a fabric time."""
        while self.next_ps < to_ps:
            first = self._calendar.pop()
            changes = [entry.content for entry in self._calendar.pop_alike(first)]
            self._change(first.at_ps, changes)

    def speak(self) -> Spoken:
        """What there is to say; empties the outbox."""
        return self._outbox.empty()

    def _joins_switches(self, link: Link) -> bool:
        return all(self._fabric.nodes[end.node].kind is NodeKind.SWITCH for end in (link.a, link.b))

    def _change(self, at_ps: int, changes: Iterable[tuple[Link, bool]]) -> None:
        """What happens to cables at one moment."""
        changed = [link for link, up in changes if self._set_link(link, up)]
        if not changed or self._installed is None:
            return
        self.act_count += 1
        noticed_ps = at_ps + self._timing.detection_ps
        for link in changed:
            self._log_session(noticed_ps, link)
        graph = self._plan.graph.with_down(self._down.values())
        self.routes = ROUTING_ENGINES[self._plan.engine].route(replace(self._plan.request, graph=graph))
        assert self.routes.next_hops is not None
        self._write(self.routes.next_hops, _distances(graph, changed), noticed_ps)

    def _set_link(self, link: Link, up: bool) -> bool:
        """Whether that is news."""
        if up:
            return self._down.pop(link.a, None) is not None
        is_news = link.a not in self._down
        self._down[link.a] = link
        return is_news

    def _log_session(self, at_ps: int, link: Link) -> None:
        name = f"{self._fabric.port_name(link.a)} – {self._fabric.port_name(link.b)}"
        if link.a in self._down:
            waited = f"{self._timing.bfd_multiplier} x {show_time(self._timing.bfd_interval_ps)}"
            self._outbox.log(at_ps, EventKind.BFD_DOWN, f"BFD session {name} down: silent for {waited}")
        else:
            self._outbox.log(at_ps, EventKind.BFD_UP, f"BFD session {name} up")

    def _number(self, next_hops: NextHops) -> Array:
        """[switches, lids] a number of each group of ports that stays the same from routing to routing."""
        numbers = [self._numbers.setdefault(ports, len(self._numbers)) for ports in next_hops.groups]
        wanted: Array = np.array(numbers, np.int64)[next_hops.group]
        return wanted

    def _write(self, next_hops: NextHops, distance: Array, noticed_ps: int) -> None:
        """Lets every switch that the news reaches have what is new for it, when it reaches it."""
        assert self._installed is not None
        wanted = self._number(next_hops)
        differs = (wanted != self._installed) & (distance >= 0)[:, None]
        switches = np.flatnonzero(differs.any(axis=1))
        if not len(switches):
            return
        arrival_ps = noticed_ps + distance * self._timing.bgp_update_ps
        # What is known later must not be overwritten by what was known before and travels further.
        self._written_ps[switches] = np.maximum(self._written_ps, arrival_ps)[switches]
        self._installed[switches] = wanted[switches]
        ports_of = list(self._numbers)
        writes = [
            RouteWrite(
                int(self._written_ps[switch]),
                self._fabric.switches[switch],
                int(lid),
                pack_ports(ports_of[wanted[switch, lid]]),
            )
            for switch in switches
            for lid in np.flatnonzero(differs[switch])
        ]
        for write in sorted(writes):
            self._outbox.write_route(write)
        last_ps = int(self._written_ps[switches].max())
        size = f"{len(writes)} routes on {len(switches)} switches"
        self._outbox.log(noticed_ps, EventKind.ROUTED, f"BGP: {size} to change")
        self._outbox.log(last_ps, EventKind.CONVERGED, f"underlay converged: {size} changed")


def lookaheads_ps(timing: RoutingSpec) -> tuple[int, int]:
    """(how long after a change the underlay must know of it, how long before a write it says so)."""
    return timing.detection_ps // 2, timing.detection_ps - timing.detection_ps // 2


def _distances(graph: SubnetGraph, changed: Iterable[Link]) -> Array:
    """[switches] switches that the news passes from the nearest end of a cable; -1: it does not come."""
    channels = graph.channels
    distance = np.full(graph.switch_count, -1, np.int64)
    waiting = deque(graph.switch_of[end.node] for link in changed for end in (link.a, link.b))
    distance[list(waiting)] = 0
    while waiting:
        switch = waiting.popleft()
        own = slice(channels.first[switch], channels.first[switch + 1])
        for peer in channels.peer[own][channels.alive[own] != 0]:
            if distance[peer] < 0:
                distance[peer] = distance[switch] + 1
                waiting.append(int(peer))
    return distance
