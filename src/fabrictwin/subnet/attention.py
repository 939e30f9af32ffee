# SPDX-License-Identifier: Apache-2.0
"""How a master notices that its fabric has changed: traps, and light sweeps where no trap gets through.

A switch that sees a link change sends trap 128, which reaches the master after ``trap_latency`` if the tables
of that moment lead there. If they do not, the next light sweep notices the change. A light sweep asks every
switch: one that does not answer is given up after its retries. It also asks again where nobody answered
before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabrictwin.model.fabric import Link
from fabrictwin.subnet.calendar import Step
from fabrictwin.subnet.desk import Desk
from fabrictwin.subnet.known_fabric import Survey
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.units import show_time


class Attention:
    """What has changed, and what of it calls for a heavy sweep.

    Args:
        desk: What the manager works with.
        schedule: Puts (time, step, content) on its calendar, for as long as it stays what it is.

    Attributes:
        reason: Why a heavy sweep is due; empty if none is.
    """

    def __init__(self, desk: Desk, schedule: Callable[[int, Step, object], None]) -> None:
        self._desk = desk
        self._schedule = schedule
        self._happened = self._seen = -1
        self._swept_mute: frozenset[int] = frozenset()
        self.reason = ""

    def want_sweep(self, reason: str) -> None:
        """A heavy sweep is due now, or after the one that is running."""
        self.reason = self.reason or reason

    def begin_sweep(self, survey: Survey) -> str:
        """A heavy sweep begins, which sees all that has happened; why it does."""
        self._seen = self._happened
        self._swept_mute = survey.mute
        reason, self.reason = self.reason, ""
        return reason

    def count_changes(self, count: int) -> None:
        """Cables have changed, and nobody tells this manager."""
        self._happened += count

    def follow_traps(self, at_ps: int, links: Sequence[Link]) -> None:
        """Cables have changed at one moment: the master hears of each by a trap, or by a light sweep."""
        first = self._happened + 1
        self._happened += len(links)
        for number, link in enumerate(links, start=first):
            self._follow_trap(at_ps, number, link)

    def _follow_trap(self, at_ps: int, number: int, link: Link) -> None:
        desk, fabric = self._desk, self._desk.plan.graph.fabric
        state = "down" if link in desk.known.down else "up"
        what = f"{fabric.port_name(link.a)} - {fabric.port_name(link.b)} {state}"
        sender = desk.known.find_trap_sender(link, at_ps)
        if sender is None:
            notice_ps = desk.next_light_sweep(at_ps)
            text = f"{what}: no trap reaches the SM; the light sweep at {show_time(notice_ps)} will notice"
            desk.outbox.log(at_ps, EventKind.TRAP_LOST, text)
            self._schedule(notice_ps, Step.NOTICE, (number, ""))
        else:
            trap = f"trap 128 from {desk.name(sender)}: {what}"
            desk.outbox.log(at_ps, EventKind.TRAP_SENT, trap)
            self._schedule(at_ps + desk.timing.trap_latency_ps, Step.NOTICE, (number, trap))

    def notice(self, at_ps: int, number: int, trap: str) -> None:
        """A trap arrives, or a light sweep notices a change; unless a heavy sweep has seen it before.

        Args:
            at_ps: Fabric time.
            number: Number of the change.
            trap: The trap; empty for a light sweep.
        """
        if trap:
            self._desk.outbox.log(at_ps, EventKind.TRAP, trap)
        if number > self._seen:
            self.want_sweep("trap 128" if trap else "light sweep")

    def expect_light_sweep(self, at_ps: int) -> None:
        """A node has begun or ceased to answer."""
        self._schedule(self._desk.next_light_sweep(at_ps), Step.LIGHT, False)

    def catch_up(self, at_ps: int) -> None:
        """A new master: its next light sweep finds what has changed since its heavy one began."""
        if self._happened > self._seen:
            self._schedule(self._desk.next_light_sweep(at_ps), Step.NOTICE, (self._happened, ""))
        if self._swept_mute != self._desk.known.mute:
            self.expect_light_sweep(at_ps)

    def sweep_lightly(self, at_ps: int, has_waited: bool) -> None:
        """Asks every switch, by way of the own node, and every port behind which nobody answered.

        Args:
            at_ps: Fabric time.
            has_waited: Whether this is the end of a wait for switches that do not answer.
        """
        desk, mute = self._desk, self._desk.known.mute
        back = sorted(self._swept_mute - mute)
        own = desk.managers[desk.number].node
        gone = sorted(
            node for node in mute - self._swept_mute if node in desk.plan.graph.switch_of or node == own
        )
        if gone and not (back or has_waited):
            self._schedule(at_ps + desk.rounds_ps(len(gone)), Step.LIGHT, True)
        elif back or gone:
            what = "answers again" if back else "does not answer"
            names = ", ".join(desk.name(node) for node in back or gone)
            desk.outbox.log(at_ps, EventKind.LIGHT_SWEEP, f"light sweep: {names} {what}")
            self.want_sweep("light sweep")
