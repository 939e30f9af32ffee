# SPDX-License-Identifier: Apache-2.0
"""The process of a subnet manager: its states, its sweeps, and what it makes of the others.

Every handler is called at a fabric time up to which all changes of the fabric are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fabrictwin.model.controller import PeerKind, PeerMessage
from fabrictwin.model.fabric import Link
from fabrictwin.subnet.attention import Attention
from fabrictwin.subnet.calendar import Step
from fabrictwin.subnet.desk import Desk
from fabrictwin.subnet.known_fabric import Survey
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.sm_state import Polling, SmInfo, SmState, find_successor, find_superior
from fabrictwin.units import show_time


@dataclass(frozen=True, eq=False)
class HeavySweep:
    """A heavy sweep that is under way.

    Attributes:
        survey: What it finds.
        end_ps: When it ends.
        what: What ends then, in words.
    """

    survey: Survey
    end_ps: int
    what: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a heavy sweep leads to.

    Attributes:
        sweep: The sweep.
        peer: The manager that is made way for; None: the tables are written.
        text: What is written.
    """

    sweep: HeavySweep
    peer: int | None
    text: str = ""


class SmProcess:
    """A subnet manager in fabric time.

    Attributes:
        state: Its SMInfo state.
        era: Changes when what was on the calendar does not hold any more.
        routes: The routes that it has decided on last.
        attention: What it has noticed.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._me = desk.managers[desk.number]
        self._others: dict[int, SmInfo] = {}
        self._busy = self._unread = False
        self.routes = desk.plan
        self.era = 0
        self.attention = Attention(desk, self._schedule)
        ranks = [manager.rank for manager in desk.managers]
        master = ranks.index(max(ranks))
        self._polling = Polling(master, desk.timing.polling_retry_number)
        self.state = SmState.MASTER
        if master != desk.number:
            self.state = SmState.STANDBY
            self._schedule(desk.timing.sminfo_polling_timeout_ps, Step.POLL)

    @property
    def master(self) -> int | None:
        """Number of the manager that it takes for the master; None: of none."""
        if self.state is SmState.MASTER:
            return self._desk.number
        return self._polling.number if self.state is SmState.STANDBY else None

    @property
    def info(self) -> SmInfo:
        """What it answers to SubnGet(SMInfo)."""
        return SmInfo(self.state, self._me.rank)

    def _schedule(self, at_ps: int, step: Step, content: object = None) -> None:
        self._desk.calendar.add(at_ps, step, content, era=self.era)

    def _log(self, at_ps: int, kind: EventKind, text: str) -> None:
        self._desk.outbox.log(at_ps, kind, text)

    def _enter(self, at_ps: int, state: SmState, why: str) -> None:
        """Changes the state; nothing that was under way goes on."""
        self.era += 1
        self._busy, self._unread = False, True
        self.attention.reason = ""
        self._desk.writer.cancel()
        self._set_state(at_ps, state, why)

    def _set_state(self, at_ps: int, state: SmState, why: str) -> None:
        self.state = state
        self._log(at_ps, EventKind.SM_STATE, f"{state.name} ({why})")

    # The process and its orders

    def stop(self, at_ps: int) -> None:
        """The process dies."""
        if self.state is not SmState.NOT_ACTIVE:
            self._enter(at_ps, SmState.NOT_ACTIVE, "the process has died")

    def start(self, at_ps: int) -> None:
        """The process starts: its port says that there is a subnet manager, and it looks for others."""
        if self.state is SmState.NOT_ACTIVE:
            self._enter(at_ps, SmState.DISCOVERING, "the process has started")
            self._send_trap_144(at_ps, range(len(self._desk.managers)))
            self.attention.want_sweep("start")

    def set_priority(self, at_ps: int, priority: int) -> None:
        """Its priority changes; a standby tells the master."""
        self._me = replace(self._me, priority=priority)
        if self.state is SmState.STANDBY:
            self._send_trap_144(at_ps, [self._polling.number])

    # What changes in the fabric

    def watch(self, at_ps: int, links: Sequence[Link], agents: bool) -> None:
        """The fabric has changed: traps are sent to the master, and a light sweep of it may find out.

        Args:
            at_ps: Fabric time.
            links: Cables that have gone down or come up.
            agents: Whether a node has begun or ceased to answer.
        """
        if self.state is not SmState.MASTER:
            self.attention.count_changes(len(links))
            return
        self.attention.follow_traps(at_ps, links)
        if agents:
            self.attention.expect_light_sweep(at_ps)

    # Heavy sweeps

    def sweep_if_wanted(self, at_ps: int) -> None:
        """Begins a heavy sweep if one is due and none is running."""
        if self.attention.reason and not self._busy and self.state in (SmState.MASTER, SmState.DISCOVERING):
            self._sweep(at_ps)

    def _sweep(self, at_ps: int) -> None:
        desk, survey = self._desk, self._desk.known.survey()
        found, timing = survey.found, self._desk.timing
        reason = self.attention.begin_sweep(survey)
        self._busy = True
        self._others.clear()
        # A new master has no copy of the tables, nor one whose tables another has written: it reads them.
        self._unread = desk.known.has_foreign_blocks(at_ps) or self._unread
        mads = found.mads + (len(found.switches) * self.routes.blocks if self._unread else 0)
        reached = set(found.nodes.tolist()) - {self._me.node}
        asked = [number for number, manager in enumerate(desk.managers) if manager.node in reached]
        end_ps = at_ps + timing.smp_time_ps(mads) + desk.rounds_ps(survey.silent)
        size = f"{found.switch_infos} switches of {len(found.nodes)} nodes, {mads} MADs"
        self._log(at_ps, EventKind.SWEEP, f"heavy sweep ({reason}): {size}")
        sweep = HeavySweep(survey, end_ps + (timing.smp_rtt_ps if asked else 0), size)
        if asked:
            self._tell(at_ps, asked, PeerKind.GET)
            self._schedule(at_ps + timing.smp_rtt_ps, Step.ANSWERS, sweep)
        else:
            self.conclude(at_ps, sweep)

    def conclude(self, at_ps: int, sweep: HeavySweep) -> None:
        """Decides, once the others have answered, what the sweep will lead to."""
        rank = self._me.rank
        if self.state is SmState.MASTER:
            peer = find_successor(rank, self._others)
            masters = [n for n, info in self._others.items() if info.state is SmState.MASTER]
            # Another master that has to make way finds out by a heavy sweep of its own.
            self._send_trap_144(at_ps, [number for number in masters if number != peer])
        else:
            peer = find_superior(rank, self._others)
        outcome = Outcome(sweep, peer)
        if peer is None:
            blocks, switches = self._plan_blocks(at_ps, sweep)
            outcome = Outcome(sweep, peer, f"{blocks} LFT blocks to write on {switches} switches")
            done_ps = sweep.end_ps + self._desk.timing.smp_time_ps(blocks)
            self._schedule(done_ps, Step.DONE)
        self._schedule(sweep.end_ps, Step.SWEPT, outcome)

    def _plan_blocks(self, at_ps: int, sweep: HeavySweep) -> tuple[int, int]:
        desk, survey = self._desk, sweep.survey
        if self._unread:
            desk.writer.read_tables(at_ps)
            self._unread = False
        self.routes = reroute(desk.plan, survey.down, survey.mute)
        return desk.writer.plan_blocks(self.routes, survey.found, at_ps, sweep.end_ps)

    def end_sweep(self, at_ps: int, outcome: Outcome) -> None:
        """The sweep has ended: a handover, making way, or new tables."""
        sweep, peer = outcome.sweep, outcome.peer
        self._log(at_ps, EventKind.SWEPT, f"heavy sweep ended: {sweep.what}")
        if sweep.survey.silent:
            names = ", ".join(self._desk.name(node) for node in sorted(sweep.survey.mute))
            text = f"no answer to {sweep.survey.silent} requests from {names}: taken for gone"
            self._log(at_ps, EventKind.SMP_TIMEOUT, text)
        if peer is None:
            if self.state is SmState.DISCOVERING:
                self._set_state(at_ps, SmState.MASTER, "nobody else is, and nobody ranks higher")
                self.attention.catch_up(at_ps)
                # One that has become master meanwhile must find out that it is not the only one.
                self._send_trap_144(at_ps, self._others)
            self._log(at_ps, EventKind.ROUTED, outcome.text)
        elif self.state is SmState.MASTER:
            self._log(at_ps, EventKind.HANDOVER, f"HANDOVER sent to {self._desk.host(peer)}")
            self._tell(at_ps, [peer], PeerKind.HANDOVER)
            self._stand_by(at_ps, peer, "handed over")
        else:
            state = self._others[peer].state
            self._stand_by(at_ps, peer, f"found {self._desk.host(peer)}, {state.name}")

    def finish(self, at_ps: int) -> None:
        """The tables are written, or a switch has not answered."""
        writer = self._desk.writer
        if writer.failed_until_ps > at_ps:
            self._schedule(writer.failed_until_ps, Step.DONE)
            return
        self._busy = False
        if writer.failed_until_ps >= 0:
            writer.forget_failures(at_ps)
            self.attention.want_sweep("SMP timeout")
        else:
            self._log(at_ps, EventKind.SUBNET_UP, "forwarding tables written")

    # The others

    def _tell(self, at_ps: int, numbers: Iterable[int], kind: PeerKind) -> None:
        """Sends an SMP to other managers; it arrives where there is a way and the node answers."""
        timing = self._desk.timing
        delay_ps = timing.smp_rtt_ps // 2
        if kind is PeerKind.RESPONSE:
            delay_ps = timing.smp_rtt_ps - delay_ps
        elif kind is PeerKind.TRAP_144:
            delay_ps = max(delay_ps, timing.trap_latency_ps)
        message = PeerMessage(at_ps + delay_ps, kind, self.state, self._me.priority, self._me.guid)
        reached = [n for n in numbers if self._desk.known.reaches(self._desk.managers[n].node)]
        self._desk.outbox.tell(reached, message)

    def _send_trap_144(self, at_ps: int, numbers: Iterable[int]) -> None:
        others = [number for number in numbers if number != self._desk.number]
        if others:
            self._log(
                at_ps, EventKind.TRAP_SENT, f"trap 144: a subnet manager of priority {self._me.priority}"
            )
            self._tell(at_ps, others, PeerKind.TRAP_144)

    def hear(self, number: int, message: PeerMessage) -> None:
        """Another manager's message arrives."""
        at_ps = message.at_ps
        info = SmInfo(SmState(message.state), (message.priority, -message.guid))
        if self.state is SmState.NOT_ACTIVE:
            return
        if message.kind == PeerKind.GET:
            self._tell(at_ps, [number], PeerKind.RESPONSE)
            if info.state is SmState.MASTER:
                self._polling.hear(number, info, self._me.rank)
        elif message.kind == PeerKind.RESPONSE:
            self._hear_response(at_ps, number, info)
        elif message.kind == PeerKind.HANDOVER:
            self._take_over_from(at_ps, number)
        elif message.kind == PeerKind.ACKNOWLEDGE:
            self._log(at_ps, EventKind.HANDOVER, f"ACKNOWLEDGE from {self._desk.host(number)}")
        elif self.state is not SmState.STANDBY:
            self._log(
                at_ps, EventKind.TRAP, f"trap 144 from {self._desk.host(number)}: priority {info.rank[0]}"
            )
            self.attention.want_sweep("trap 144")

    def _hear_response(self, at_ps: int, number: int, info: SmInfo) -> None:
        self._others[number] = info
        if self.state is SmState.STANDBY:
            self._polling.hear(number, info, self._me.rank)
            if info.state is SmState.MASTER and info.rank < self._me.rank:
                self._send_trap_144(at_ps, [number])

    def _take_over_from(self, at_ps: int, number: int) -> None:
        self._tell(at_ps, [number], PeerKind.ACKNOWLEDGE)
        if self.state is SmState.STANDBY:
            self._enter(at_ps, SmState.MASTER, f"HANDOVER from {self._desk.host(number)}")
        self._unread = self._unread or self.state is SmState.MASTER
        self.attention.want_sweep("handover")

    # Standing by

    def _stand_by(self, at_ps: int, number: int, why: str) -> None:
        self._enter(at_ps, SmState.STANDBY, why)
        self._polling = Polling(number, self._desk.timing.polling_retry_number)
        self._tell(at_ps, [number], PeerKind.GET)
        self._schedule(at_ps + self._desk.timing.sminfo_polling_timeout_ps, Step.POLL)

    def poll(self, at_ps: int) -> None:
        """Asks the master whether it lives, or takes over from it."""
        polling, timing = self._polling, self._desk.timing
        host = self._desk.host(polling.number)
        if polling.is_over:
            text = f"{polling.missed} polls without an answer from {host}: taking over"
            self._log(at_ps, EventKind.TAKEOVER, text)
            self._enter(at_ps, SmState.DISCOVERING, "the master does not answer")
            self.attention.want_sweep("takeover")
            return
        if polling.missed:
            text = f"no answer from {host} for {show_time(polling.missed * timing.sminfo_polling_timeout_ps)}"
            self._log(at_ps, EventKind.POLL_MISSED, text)
        polling.missed += 1
        self._tell(at_ps, [polling.number], PeerKind.GET)
        self._schedule(at_ps + timing.sminfo_polling_timeout_ps, Step.POLL)
