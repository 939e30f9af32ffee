# SPDX-License-Identifier: Apache-2.0
"""Runs subnet managers as logical processes, and holds them to what they promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import DIRECT_KINDS, LftWrite, Notice, SubnetEvent
from fabrictwin.model.fabric import Fabric, Link, PortRef
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming, default_managers
from fabrictwin.subnet.manager import SubnetManager
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.sm_state import SmState
from fabrictwin.units import PS_PER_S


def link_notices(at_ps: int, link: Link, *, up: bool) -> list[Notice]:
    """What both ends of a cable report."""
    return [Notice(at_ps, end.node, end.port, ActionKind.LINK_STATE, int(up)) for end in (link.a, link.b)]


def node_notice(at_ps: int, kind: ActionKind, node: int, value: int) -> Notice:
    """What concerns the node itself."""
    return Notice(at_ps, node, 1, kind, value)


def place_managers(fabric: Fabric, **priorities: int) -> tuple[Manager, ...]:
    """Managers on hosts, by name, in that order."""
    managers = []
    for name, priority in priorities.items():
        node = fabric.index_of[name]
        managers.append(Manager(node, 1, priority, fabric.nodes[node].port_guid(1)))
    return tuple(managers)


@dataclass
class Run:
    """Subnet managers that are being run.

    Attributes:
        plan: The routes at the start.
        timing: How long things take.
        managers: The managers.
        notices: What happens; it is told as late as a shard may.
        step_of: Steps to advance by, by the number of the step; at most the least lookahead.
        writes: What they have written, in order of time.
        events: What they have logged.
        states: (time, number, state) of each change of state.
    """

    plan: Routes
    timing: SubnetManagerTiming
    managers: tuple[Manager, ...] = ()
    notices: Sequence[Notice] = ()
    step_of: Callable[[int], int] = lambda _: 1
    writes: list[LftWrite] = field(default_factory=list)
    events: list[SubnetEvent] = field(default_factory=list)
    steps: int = 0
    now_ps: int = 0

    def __post_init__(self) -> None:
        self.managers = self.managers or default_managers(self.plan.graph.fabric)
        numbers = range(len(self.managers))
        self.lps = [SubnetManager(self.plan, self.timing, self.managers, number) for number in numbers]
        self._untold = sorted(notice for notice in self.notices if notice.kind not in DIRECT_KINDS)
        for lp in self.lps:
            lp.hear([notice for notice in self.notices if notice.kind in DIRECT_KINDS])

    @property
    def _ahead_ps(self) -> int:
        return self.lps[0].notice_lookahead_ps

    def to(self, end_ps: int) -> Run:
        """Runs to a fabric time, from one thing that happens to the next."""
        while True:
            untold_ps = self._untold[0].at_ps + self._ahead_ps if self._untold else end_ps
            next_ps = min(end_ps, untold_ps, *(lp.next_ps for lp in self.lps))
            self._advance(max(self.now_ps, next_ps))
            if self.now_ps >= end_ps:
                return self
            self.steps += 1
            step_ps = min(max(1, self.step_of(self.steps)), self.lps[0].peer_lookahead_ps)
            self._advance(min(end_ps, self.now_ps + step_ps))

    def _advance(self, to_ps: int) -> None:
        told = [notice for notice in self._untold if notice.at_ps + self._ahead_ps < to_ps]
        self._untold = self._untold[len(told) :]
        said = []
        for lp in self.lps:
            lp.hear(told)
            lp.advance(to_ps)
            said.append(lp.speak())
        for number, spoken in enumerate(said):
            assert all(write.at_ps >= self.now_ps + self.timing.smp_rtt_ps for write in spoken.writes)
            self.writes += spoken.writes
            self.events += spoken.events
            for other, messages in spoken.messages.items():
                heard_ps = min(message.at_ps for message in messages) + self._ahead_ps
                assert heard_ps >= self.now_ps + self.lps[number].peer_lookahead_ps
                self.lps[other].hear_peer(number, messages)
        self.now_ps = to_ps

    def kinds(self, *, without: Iterable[str] = ()) -> list[str]:
        """Kinds of events, in order of time."""
        return [event.kind for event in self.log() if event.kind not in without]

    def log(self, kind: str = "") -> list[SubnetEvent]:
        """Events in order of time, of one kind or of all."""
        ordered = sorted(self.events, key=lambda event: event.at_ps)
        return [event for event in ordered if kind in ("", event.kind)]

    def masters(self) -> list[int]:
        """Numbers of the managers that are master."""
        return [number for number, lp in enumerate(self.lps) if lp.info.state is SmState.MASTER]

    def states(self) -> list[SmState]:
        """State of each manager."""
        return [lp.info.state for lp in self.lps]

    def tables(self) -> np.ndarray:
        """[switches, width]: the tables in use at the end."""
        lft = self.plan.lft.copy()
        for write in sorted(self.writes):
            entries = slice(write.block * 64, write.block * 64 + 64)
            lft[self.plan.graph.switch_of[write.node], entries] = np.frombuffer(write.ports, np.uint8)
        return lft


def play(
    plan: Routes,
    changes: Iterable[tuple[int, Link, bool]],
    timing: SubnetManagerTiming,
    managers: tuple[Manager, ...] = (),
    end_ps: int = 100 * PS_PER_S,
) -> Run:
    """Runs managers through changes of cables: (time, cable, whether it is up from then on)."""
    notices = [notice for at_ps, link, up in changes for notice in link_notices(at_ps, link, up=up)]
    return Run(plan, timing, managers, notices).to(end_ps)


def end_of(link: Link, node: int) -> PortRef:
    """The end of a cable that is on a node."""
    return link.a if link.a.node == node else link.b
