# SPDX-License-Identifier: Apache-2.0
"""What a subnet manager has before it, in an order that does not depend on when it heard of it."""

from __future__ import annotations

import heapq
from enum import IntEnum
from typing import Any, NamedTuple

from fabrictwin.model.controller import NEVER_PS


class Step(IntEnum):
    """What happens first at equal times."""

    SWEPT = 0
    """A heavy sweep has ended."""
    DONE = 1
    """The tables are written."""
    CHANGE = 2
    """Something changes in the fabric, or at a subnet manager."""
    PEER = 3
    """Another subnet manager says something."""
    ANSWERS = 4
    """The SMInfo of the others has come in."""
    NOTICE = 5
    """A trap arrives, or a light sweep notices what no trap has said."""
    LIGHT = 6
    """A light sweep, which looks for nodes that do not answer or do again."""
    POLL = 7
    """A standby polls."""


class Entry(NamedTuple):
    """A step on the calendar; entries sort by their first three fields, and then as they were made.

    Attributes:
        at_ps: When.
        step: What.
        key: Order among equal steps at one time.
        serial: Order of making.
        era: State of the manager that it belongs to; -1: any.
        content: What the step needs to know.
    """

    at_ps: int
    step: Step
    key: tuple[int, ...]
    serial: int
    era: int
    content: Any


class Calendar:
    """A queue of steps."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._serial = 0

    @property
    def next_ps(self) -> int:
        """Time of the next step."""
        return self._entries[0].at_ps if self._entries else NEVER_PS

    def add(
        self, at_ps: int, step: Step, content: Any = None, *, key: tuple[int, ...] = (), era: int = -1
    ) -> None:
        """Puts a step on the calendar."""
        self._serial += 1
        heapq.heappush(self._entries, Entry(at_ps, step, key, self._serial, era, content))

    def pop(self) -> Entry:
        """Takes the next step off."""
        return heapq.heappop(self._entries)

    def pop_alike(self, first: Entry) -> list[Entry]:
        """Takes off everything of the same time and kind."""
        alike = [first]
        while self._entries and self._entries[0][:2] == first[:2]:
            alike.append(self.pop())
        return alike
