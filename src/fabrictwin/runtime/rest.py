# SPDX-License-Identifier: Apache-2.0
"""Finding out that nobody has anything to do for a while, so that fabric time can jump.

A process that says and hears nothing but promises, and whose next event is far ahead, reports that. When all
have, and as many records were heard as were said, the director asks once more: if nobody's answer differs
from what it said before, then at the moment of the question nothing was under way (Mattern's counting), and
nothing will happen before the least of the next events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fabrictwin.runtime.convert import WindowData
from fabrictwin.units import PS_PER_US

FAR_PS = 2 * PS_PER_US
"""A jump that is shorter costs more than it saves."""

Report = Any
"""A record of layout ``report``."""


class Sleeper(Protocol):
    """What has a next event."""

    @property
    def next_ps(self) -> int:
        """Fabric time of the next thing that it does by itself."""
        ...


class Rest:
    """What a process knows of its own rest.

    Attributes:
        said: Records that it has said to others but the director.
        heard: Records that it has heard from them.
        asked: Number of the director's last question; 0: none.
    """

    def __init__(self) -> None:
        self.said = 0
        self.heard = 0
        self.asked = 0
        self._answered = 0
        self._before = (0, 0)
        self._told = (-1, -1, -1)

    def count_said(self, said: Mapping[str, WindowData]) -> None:
        """Counts what is said now, by who hears it."""
        for window in said.values():
            self.said += window.weight

    def save(self) -> list[int]:
        """What a checkpoint holds of it."""
        return [self.said, self.heard, self.asked]

    def load(self, counts: Sequence[int]) -> None:
        """Goes on from a checkpoint; a question may be answered once more."""
        self.said, self.heard, self.asked = counts

    @property
    def is_asked(self) -> bool:
        """Whether a question waits for an answer."""
        return self.asked > self._answered

    def has_come(self, reached_ps: int, process: Sleeper) -> bool:
        """Whether it rests and has not said so; asked once a step."""
        counts, before = (self.said, self.heard), self._before
        self._before = counts
        if counts != before:
            return False
        next_ps = process.next_ps
        return next_ps >= reached_ps + FAR_PS and (*counts, next_ps) != self._told

    def note(self, report: Report) -> None:
        """Completes a report that goes out now."""
        report["said"], report["heard"], report["asked"] = self.said, self.heard, self.asked
        self._answered = self.asked
        self._told = (self.said, self.heard, int(report["next_event_ps"][0]))


class RestOfAll:
    """What the director knows of the rest of all processes.

    Attributes:
        question: Number of its last question.
    """

    def __init__(self) -> None:
        self.question = 0
        self._asked_of: dict[str, tuple[int, int, int]] = {}
        self._known_ps = 0

    def look(self, reports: Mapping[str, Report], reached_ps: int) -> bool:
        """Whether to ask everybody once more; then :attr:`question` is a new one.

        Args:
            reports: The last of every process.
            reached_ps: Fabric time that all have reached.
        """
        said = sum(int(report["said"]) for report in reports.values())
        heard = sum(int(report["heard"]) for report in reports.values())
        if said != heard or _next_ps(reports) < max(reached_ps, self._known_ps) + FAR_PS:
            return False
        known = _counts(reports)
        if known == self._asked_of:
            return False
        self._asked_of = known
        self.question += 1
        return True

    def forget(self) -> None:
        """A command is said: what was answered before does not hold any more."""
        self._asked_of = {}

    def quiet_ps(self, reports: Mapping[str, Report], command_ps: int) -> int:
        """Fabric time before which nobody does anything; 0: no later one than is known already.

        Args:
            reports: The last of every process.
            command_ps: When a command may change that.
        """
        if any(int(report["asked"]) < self.question for report in reports.values()):
            return 0
        quiet_ps = min(_next_ps(reports), command_ps)
        if quiet_ps <= self._known_ps or _counts(reports) != self._asked_of:
            return 0
        self._known_ps = quiet_ps
        return quiet_ps


def _next_ps(reports: Mapping[str, Report]) -> int:
    return min(int(report["next_event_ps"]) for report in reports.values())


def _counts(reports: Mapping[str, Report]) -> dict[str, tuple[int, int, int]]:
    return {
        name: (int(report["said"]), int(report["heard"]), int(report["next_event_ps"]))
        for name, report in reports.items()
    }
