# SPDX-License-Identifier: Apache-2.0
"""The states of a subnet manager, and what it makes of the SMInfo of the others.

**Source.** IBTA volume 1, section 14.4; OpenSM's state manager (models.md section 1.9).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class SmState(IntEnum):
    """SMInfo.SMState."""

    NOT_ACTIVE = 0
    DISCOVERING = 1
    STANDBY = 2
    MASTER = 3


Rank = tuple[int, int]
"""(priority, -GUID): the highest one becomes master."""


class SmInfo(NamedTuple):
    """What another subnet manager has answered.

    Attributes:
        state: Its state.
        rank: Its rank.
    """

    state: SmState
    rank: Rank


def find_successor(rank: Rank, others: Mapping[int, SmInfo]) -> int | None:
    """Whom a master hands over to: the highest of those that outrank it and are ready.

    Args:
        rank: The master's own rank.
        others: The others by number.

    Returns:
        A number, or None.
    """
    ready = (SmState.STANDBY, SmState.MASTER)
    higher = {info.rank: number for number, info in others.items() if info.state in ready}
    return _highest_above(rank, higher)


def find_superior(rank: Rank, others: Mapping[int, SmInfo]) -> int | None:
    """Whom a discovering manager makes way for: a master, or else the highest of those that outrank it.

    Args:
        rank: Its own rank.
        others: The others by number.

    Returns:
        A number, or None: it becomes master.
    """
    masters = {info.rank: number for number, info in others.items() if info.state is SmState.MASTER}
    if masters:
        return masters[max(masters)]
    alive = {info.rank: number for number, info in others.items() if info.state is not SmState.NOT_ACTIVE}
    return _highest_above(rank, alive)


def _highest_above(rank: Rank, by_rank: Mapping[Rank, int]) -> int | None:
    highest = max(by_rank, default=rank)
    return by_rank[highest] if highest > rank else None


class Polling:
    """A standby's count of polls without an answer.

    The count is zeroed by each answer and raised by each poll; when it is above the retry number at the next
    tick, the standby takes over. So with a retry number n and a period p that is between (n + 1) p and
    (n + 2) p after the master's death.

    Attributes:
        number: The manager that is polled.
        missed: Polls without an answer.
    """

    def __init__(self, number: int, retry_number: int) -> None:
        self.number = number
        self.missed = 0
        self._retry_number = retry_number

    @property
    def is_over(self) -> bool:
        """Whether it is time to take over."""
        return self.missed > self._retry_number

    def hear(self, number: int, info: SmInfo, rank: Rank) -> None:
        """An answer: any master is alive, and so is whom it polls if that is a standby that outranks it."""
        if info.state is SmState.MASTER:
            self.number, self.missed = number, 0
        elif info.state is SmState.STANDBY and number == self.number and info.rank > rank:
            self.missed = 0
