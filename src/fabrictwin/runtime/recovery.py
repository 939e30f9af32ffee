# SPDX-License-Identifier: Apache-2.0
"""A logical process that is started anew goes on where it was, and nobody else notices but for the pause.

It begins at its last checkpoint, or at the beginning if there is none, and hears again what its incoming
streams hold behind that. What it has said stands in its outgoing streams; the last entry of each tells up to
which fabric time. What a process says up to a fabric time does not depend on how that was cut into windows,
only on that time. So it stops at exactly those times, and drops what it says up to there on that channel.

It must not hear more than when it was alive: a cable that goes down takes the FCPs under way with it, and
those that were sent after it came up again must not be among them. So it hears the next entry of a sender
only when it cannot go on without, and one of the director when it stands where that let it go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from fabrictwin.model.controller import NEVER_PS
from fabrictwin.runtime.blueprint import DIRECTOR
from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus.redis_bus import RedisBus
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.process import PATIENCE_S, LogicalProcess, Resumption, obey

_NOTHING = WindowData(-1, -1, -1)


@dataclass
class _Said:
    """What stands in an outgoing stream.

    Attributes:
        last: The last window; its records and promises are said.
        sequence: Its number.
    """

    last: WindowData = field(default_factory=lambda: _NOTHING)
    sequence: int = 0

    def news_in(self, window: WindowData) -> WindowData | None:
        """What of a window is not said yet; None: nothing."""
        if window.reached_ps <= self.last.reached_ps:
            if window.packets_promise_ps <= self.last.packets_promise_ps:
                return None
            window = replace(window, records={}, commands=(), packed=None)
        return replace(
            window, packets_promise_ps=max(window.packets_promise_ps, self.last.packets_promise_ps)
        )


class Recovery:
    """Brings a process to where it was.

    Args:
        process: The process, as it was at its checkpoint.
        bus: Its end of the bus, which goes on reading where it was at the checkpoint.
        granted_ps: How far the director let it go then.
    """

    def __init__(self, process: LogicalProcess, bus: RedisBus, granted_ps: int) -> None:
        self._process = process
        self._bus = bus
        self._granted_ps = granted_ps
        self._is_over = False
        last_said = bus.last_said
        self._said = {
            to: _Said(decode(last_said[to]), cursor.sequence) if to in last_said else _Said()
            for to, cursor in bus.written.items()
        }
        self._goal_ps = max((said.last.reached_ps for said in self._said.values()), default=-1)
        self._inbox: dict[str, deque[Entry]] = {}

    @property
    def has_gone_on(self) -> bool:
        """Whether the process had said something before it was started."""
        return self._goal_ps >= 0

    def run(self, is_stopping: Callable[[], bool]) -> Resumption:
        """Goes on until everything is said that was said, and everything heard that there is.

        Args:
            is_stopping: Whether the service is to end, however far this is.

        Raises:
            FabricTwinError: It cannot go on.
        """
        self._take(self._bus.exchange({}, (), PATIENCE_S))
        while not (is_stopping() or self._is_over):
            self._advance()
            if self._process.reached_ps >= self._goal_ps:
                self._hear_the_rest()
                break
            waits_for = self._process.waits_for(self._granted_ps) or (DIRECTOR,)
            senders = [sender for sender in waits_for if sender in self._inbox]
            for sender in senders:
                self._hear(sender)
            if not senders:
                self._take(self._bus.exchange({}, waits_for, PATIENCE_S))
        sequences = {to: said.sequence for to, said in self._said.items()}
        self._process.begin(sequences)
        return Resumption(self._granted_ps, sequences, self._is_over)

    def _advance(self) -> None:
        """Goes as far as it can with what it has heard, from one time that was said to the next."""
        process = self._process
        while True:
            reached_ps = process.reached_ps
            stops_ps = (said.last.reached_ps for said in self._said.values())
            stop_ps = min((at_ps for at_ps in stops_ps if at_ps > reached_ps), default=NEVER_PS)
            process.advance(min(self._granted_ps, stop_ps))
            self._speak(process.speak(self._granted_ps))
            if process.reached_ps == reached_ps:
                return

    def _speak(self, windows: Mapping[str, WindowData]) -> None:
        """Says what is not said yet."""
        if self._process.reached_ps <= self._said[DIRECTOR].last.reached_ps:
            # These lines of the event log stand in a report.
            self._process.take_events()
        out: dict[str, list[Entry]] = {}
        for to, window in windows.items():
            said = self._said[to]
            news = said.news_in(window)
            if news is not None:
                said.sequence += 1
                said.last = news
                out[to] = [Entry(news.packets_promise_ps, encode(news, said.sequence))]
        if out:
            self._take(self._bus.exchange(out, (), PATIENCE_S))

    def _take(self, heard: Mapping[str, list[Entry]]) -> None:
        for sender, entries in heard.items():
            self._inbox.setdefault(sender, deque()).extend(entries)

    def _hear_the_rest(self) -> None:
        """It is where it was: what has been said since it hears as if it had been there."""
        for sender in sorted(self._inbox, key=lambda sender: sender == DIRECTOR):
            while sender in self._inbox:
                self._hear(sender)

    def _hear(self, sender: str) -> None:
        """Hears the next entry of a sender."""
        entries = self._inbox[sender]
        payload = entries.popleft().payload
        if not entries:
            del self._inbox[sender]
        if sender != DIRECTOR:
            self._process.hear(sender, payload)
            return
        window = decode(payload)
        self._is_over = obey(self._process, window.commands) or self._is_over
        self._granted_ps = window.packets_promise_ps
