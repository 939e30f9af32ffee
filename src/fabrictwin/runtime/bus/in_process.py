# SPDX-License-Identifier: Apache-2.0
"""The bus of logical processes that share one process: queues, in order, bounded.

One thread may drive all ends in turn (with a timeout of 0), or each end may have a thread of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Condition
from time import monotonic

from fabrictwin.runtime.bus.interface import DEFAULT_BOUND, START, Cursor, Entry

Channels = Iterable[tuple[str, str]]


class InProcessBus:
    """All channels of a twin in this process."""

    def __init__(self, channels: Channels, bound: int = DEFAULT_BOUND) -> None:
        """Makes the channels.

        Args:
            channels: (sender, receiver) of each.
            bound: Unread entries of a channel at which its writer waits.
        """
        self.bound = bound
        self.queues: dict[tuple[str, str], deque[Entry]] = {channel: deque() for channel in channels}
        self.changed = Condition()

    def end(self, name: str) -> InProcessEnd:
        """The end of one logical process."""
        return InProcessEnd(self, name)


class InProcessEnd:
    """One logical process's end: a :class:`fabrictwin.runtime.bus.Bus`."""

    def __init__(self, bus: InProcessBus, name: str) -> None:
        self.name = name
        self._bus = bus
        self._out = {to: queue for (sender, to), queue in bus.queues.items() if sender == name}
        self._in = {sender: queue for (sender, to), queue in bus.queues.items() if to == name}
        self._backlog: dict[str, deque[Entry]] = {to: deque() for to in self._out}
        self._inbox: dict[str, list[Entry]] = {}
        self._cursors = dict.fromkeys(self._in, START)

    @property
    def cursors(self) -> Mapping[str, Cursor]:
        """How far each incoming channel has been handed out, by sender."""
        return self._cursors

    def exchange(
        self, out: Mapping[str, Sequence[Entry]], wait_for: Collection[str], timeout_s: float
    ) -> dict[str, list[Entry]]:
        """Says and hears; see :meth:`fabrictwin.runtime.bus.Bus.exchange`."""
        for to, entries in out.items():
            self._backlog[to].extend(entries)
        deadline = monotonic() + timeout_s
        with self._bus.changed:
            while True:
                self._move()
                if not any(self._backlog.values()) and self._is_answered(wait_for):
                    return self._hand_out()
                left_s = deadline - monotonic()
                if left_s <= 0 or not self._bus.changed.wait(left_s):
                    return {} if any(self._backlog.values()) else self._hand_out()

    def keep_from(self, cursors: Mapping[str, Cursor]) -> None:
        """Does nothing: what has been read is gone already."""

    def close(self) -> None:
        """Does nothing: there is no connection."""

    def _is_answered(self, wait_for: Collection[str]) -> bool:
        return not wait_for or any(name in self._inbox for name in wait_for)

    def _move(self) -> None:
        """Puts as much into the channels as has room, and takes everything out of them."""
        moved = False
        for to, backlog in self._backlog.items():
            while backlog and len(self._out[to]) < self._bus.bound:
                self._out[to].append(backlog.popleft())
                moved = True
        for sender, queue in self._in.items():
            if queue:
                self._inbox.setdefault(sender, []).extend(queue)
                queue.clear()
                moved = True
        if moved:
            self._bus.changed.notify_all()

    def _hand_out(self) -> dict[str, list[Entry]]:
        """Gives the inbox away, checked: sequences count up by one and promises never go back."""
        inbox, self._inbox = self._inbox, {}
        for sender, entries in inbox.items():
            cursor = self._cursors[sender]
            for entry in entries:
                cursor = cursor.after(entry)
            self._cursors[sender] = cursor
        return inbox
