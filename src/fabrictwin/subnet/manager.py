# SPDX-License-Identifier: Apache-2.0
"""A subnet manager as a logical process: it knows what it has heard, and says what it does.

**Time.** A change of the fabric is heard of a lookahead after it happened, which is the trap latency, or the
time of the shortest heavy sweep if that is less. So the process of the manager
(:mod:`fabrictwin.subnet.sm_process`) runs that much behind the time to which the fabric may go: what a sweep
sees at its beginning is known before the sweep ends. LFT blocks run on time: each is said when it is sent.

**Models**, and what is not modelled: docs/models/subnet_manager.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabrictwin.errors import FabricTwinError
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import DIRECT_KINDS, Notice, PeerKind, PeerMessage, Spoken
from fabrictwin.model.fabric import Link, PortRef
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming
from fabrictwin.subnet.block_writer import BlockWriter
from fabrictwin.subnet.calendar import Calendar, Entry, Step
from fabrictwin.subnet.desk import Desk
from fabrictwin.subnet.known_fabric import KnownFabric
from fabrictwin.subnet.outbox import Outbox
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.sm_process import SmProcess
from fabrictwin.subnet.sm_state import SmInfo


class LateError(FabricTwinError):
    """A promise was broken: going on would give a wrong result."""


class SubnetManager:
    """One subnet manager; a :class:`fabrictwin.model.controller.Controller`.

    At the start the subnet is up: the tables of the plan are installed, the highest-ranking manager is master
    and polled by the others.

    Args:
        plan: Routes with everything up.
        timing: How long things take.
        managers: All subnet managers of the subnet.
        number: Which of them this is.

    Attributes:
        act_count: SMInfo.ActCount: what it has done so far, in steps.
    """

    def __init__(
        self, plan: Routes, timing: SubnetManagerTiming, managers: Sequence[Manager], number: int
    ) -> None:
        me, others = managers[number], tuple(n for n in range(len(managers)) if n != number)
        prefix = f"SM on {plan.graph.fabric.nodes[me.node].name}: " if others else ""
        self._fabric = plan.graph.fabric
        self._node = me.node
        self._outbox = Outbox(number, prefix)
        self._known = KnownFabric(plan, me)
        self._calendar = Calendar()
        self._writer = BlockWriter(plan, timing, me, others, self._known, self._outbox)
        desk = Desk(
            plan, timing, tuple(managers), number, self._known, self._calendar, self._writer, self._outbox
        )
        self._process = SmProcess(desk)
        self.notice_lookahead_ps = min(timing.trap_latency_ps, shortest_sweep_ps(plan, timing))
        self.lookahead_ps = timing.smp_rtt_ps
        self.peer_lookahead_ps = timing.smp_rtt_ps // 2
        self.act_count = 0
        self._reached_ps = 0
        self._next_ps = self._find_next()

    @property
    def next_ps(self) -> int:
        """Fabric time past which :meth:`advance` must go for something to happen by itself."""
        return self._next_ps

    @property
    def info(self) -> SmInfo:
        """Its state and rank."""
        return self._process.info

    @property
    def master(self) -> int | None:
        """Number of the manager that it takes for the master; None: of none."""
        return self._process.master

    @property
    def routes(self) -> Routes:
        """The routes that it has decided on last."""
        return self._process.routes

    def _find_next(self) -> int:
        return min(self._calendar.next_ps + self.notice_lookahead_ps, self._writer.next_ps)

    def hear(self, notices: Iterable[Notice]) -> None:
        """Takes in notices; they may come early, and twice (both ends of a cable).

        Raises:
            LateError: One comes after the time when it had to be known.
        """
        for notice in notices:
            kind, end = ActionKind(notice.kind), PortRef(notice.node, notice.port)
            self._check_time(notice.at_ps, 0 if kind in DIRECT_KINDS else self.notice_lookahead_ps, "notice")
            if kind is ActionKind.LINK_STATE:
                link = self._fabric.link_at.get(end)
                end = end if link is None else link.a
            elif kind not in DIRECT_KINDS:
                continue
            elif kind in (ActionKind.SM_STATE, ActionKind.SMA_STATE):
                self._writer.schedule.add(notice)
            key = (int(kind), end.node, end.port, notice.value)
            self._calendar.add(notice.at_ps, Step.CHANGE, (kind, end, notice.value), key=key)
        self._next_ps = self._find_next()

    def hear_peer(self, number: int, messages: Iterable[PeerMessage]) -> None:
        """Takes in what another subnet manager has said.

        Raises:
            LateError: A message comes after the time when it had to be known.
        """
        for message in messages:
            self._check_time(message.at_ps, self.notice_lookahead_ps, "message")
            if message.kind == PeerKind.LFT_BLOCK:
                self._known.expect_block(
                    message.at_ps, message.node, message.block, message.ports, is_foreign=True
                )
            else:
                self._calendar.add(message.at_ps, Step.PEER, (number, message), key=(number,))
        self._next_ps = self._find_next()

    def advance(self, to_ps: int) -> None:
        """Does everything before a fabric time, in the same order however often it is called."""
        self._reached_ps = max(self._reached_ps, to_ps)
        while self._next_ps < to_ps:
            self.act_count += 1
            if self._calendar.next_ps + self.notice_lookahead_ps <= self._writer.next_ps:
                self._take_step()
            else:
                self._writer.send()
            self._next_ps = self._find_next()

    def speak(self) -> Spoken:
        """What there is to say; empties the outbox."""
        return self._outbox.empty()

    def _check_time(self, at_ps: int, ahead_ps: int, what: str) -> None:
        if at_ps + ahead_ps < self._reached_ps:
            late_ps = self._reached_ps - at_ps - ahead_ps
            raise LateError(f"a {what} of {at_ps} ps reached a subnet manager {late_ps} ps too late")

    def _take_step(self) -> None:
        entry = self._calendar.pop()
        entries = [entry]
        if entry.step in (Step.CHANGE, Step.NOTICE):
            # What happens at one moment is seen by the same sweep.
            entries = self._calendar.pop_alike(entry)
        if entry.step is Step.CHANGE:
            self._change(entry.at_ps, entries)
        else:
            for same in entries:
                if same.era in (-1, self._process.era):
                    self._do(same)
        self._process.sweep_if_wanted(entry.at_ps)

    def _do(self, entry: Entry) -> None:
        process, at_ps = self._process, entry.at_ps
        if entry.step is Step.SWEPT:
            process.end_sweep(at_ps, entry.content)
        elif entry.step is Step.DONE:
            process.finish(at_ps)
        elif entry.step is Step.PEER:
            process.hear(*entry.content)
        elif entry.step is Step.ANSWERS:
            process.conclude(at_ps, entry.content)
        elif entry.step is Step.NOTICE:
            process.attention.notice(at_ps, *entry.content)
        elif entry.step is Step.LIGHT:
            process.attention.sweep_lightly(at_ps, entry.content)
        else:
            process.poll(at_ps)

    def _change(self, at_ps: int, entries: Iterable[Entry]) -> None:
        """What happens at one moment: first in the fabric, then to the manager."""
        links: list[Link] = []
        agents = False
        orders: list[tuple[ActionKind, int]] = []
        for entry in entries:
            kind, end, value = entry.content
            if kind is ActionKind.LINK_STATE:
                link = self._known.set_link(end, value != 0)
                links += [] if link is None else [link]
            elif kind is ActionKind.SMA_STATE:
                agents = self._known.set_answering(end.node, value != 0) or agents
            elif end.node == self._node:
                orders.append((kind, value))
        for order in orders:
            self._obey(at_ps, *order)
        self._process.watch(at_ps, links, agents)

    def _obey(self, at_ps: int, kind: ActionKind, value: int) -> None:
        """What is done to this manager itself."""
        process = self._process
        if kind is ActionKind.SM_PRIORITY:
            process.set_priority(at_ps, value)
        elif kind is ActionKind.SM_SWEEP:
            process.attention.want_sweep("command")
        elif value:
            process.start(at_ps)
        else:
            process.stop(at_ps)


def shortest_sweep_ps(plan: Routes, timing: SubnetManagerTiming) -> int:
    """Least time of a heavy sweep that finds a switch: NodeInfo, SwitchInfo and the PortInfo of its ports."""
    ports = plan.graph.switch_ports
    return timing.smp_time_ps(int(ports.min()) + 3) if len(ports) else timing.trap_latency_ps
