# SPDX-License-Identifier: Apache-2.0
"""Taking turns: of two shards that a cable joins, the one that hears farther ahead waits for an answer.

Each window lets the other shard go on. If both spoke as soon as they can, two windows would be on their way
between them at any time, and each would be worth half of what it could be: twice the steps for the same
fabric time. So one of the two goes on only when the other has answered its last window. The other answers
every window, even if it could not go on itself; that needs no promise of anybody, so no circle of waiting
can form. Who waits changes no result, only in how many steps it comes about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Turns:
    """The turns of one process. They begin with :meth:`begin`; before, nobody waits.

    Args:
        waits_for: Names of those whose answer it waits for.
        answers: Names of those that wait for its answer.

    Attributes:
        owed: Those that have not been answered.
        waiting: Those whose answer it waits for.
    """

    def __init__(self, waits_for: Iterable[str], answers: Iterable[str]) -> None:
        self.owed: set[str] = set()
        self.waiting: set[str] = set()
        self._partners = frozenset(waits_for), frozenset(answers)
        self._waits_for: frozenset[str] = frozenset()
        self._answers: frozenset[str] = frozenset()
        self._said: dict[str, int] = {}
        self._heard: dict[str, int] = {}
        self._answered: dict[str, int] = {}

    @property
    def answers(self) -> frozenset[str]:
        """Those that wait for its answer."""
        return self._answers

    def begin(self, said: Mapping[str, int]) -> None:
        """Begins to take turns.

        Args:
            said: Number of the last window that each receiver has been sent so far.
        """
        self._waits_for, self._answers = self._partners
        self._said = dict(said)
        self.waiting = {
            name for name in self._waits_for if self._answered.get(name, 0) != self._said.get(name, 0)
        }
        # Whoever has been answered already hears it once more, which is harmless.
        self.owed = set(self._answers & self._heard.keys())

    def save(self) -> dict[str, Any]:
        """What it has heard, for :meth:`load`."""
        return {"heard": dict(self._heard), "answered": dict(self._answered)}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Takes up what :meth:`save` gave; the turns have not begun."""
        self._heard, self._answered = dict(saved["heard"]), dict(saved["answered"])

    def say(self, receiver: str) -> int:
        """Notes a window that is said; returns the number of the last one heard from the receiver."""
        self._said[receiver] = self._said.get(receiver, 0) + 1
        if receiver in self._waits_for:
            self.waiting.add(receiver)
        self.owed.discard(receiver)
        return self._heard.get(receiver, 0)

    def hear(self, sender: str, sequence: int, heard: int) -> None:
        """Notes a window that is heard.

        Args:
            sender: Who says it.
            sequence: Its number.
            heard: Number of the last window that the sender had heard from here.
        """
        self._heard[sender] = sequence
        self._answered[sender] = heard
        if sender in self._answers:
            self.owed.add(sender)
        elif sender in self.waiting and heard == self._said[sender]:
            self.waiting.discard(sender)


def share_turns(ahead_ps: Mapping[str, tuple[int, int]]) -> Turns:
    """Who waits for whom: the one of two shards that is promised more.

    Args:
        ahead_ps: Lookahead of packets from here and to here, of every shard that a cable joins with this one.
    """
    return Turns(
        (name for name, (out_ps, in_ps) in ahead_ps.items() if in_ps > out_ps),
        (name for name, (out_ps, in_ps) in ahead_ps.items() if in_ps < out_ps),
    )
