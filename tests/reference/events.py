# SPDX-License-Identifier: Apache-2.0
"""The calendar of the oracle: one heap of everything that will happen (infiniband.md section 1)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import IntEnum, auto
from itertools import count


class Kind(IntEnum):
    """Order of the events of one node at one time, as the page lists them.

    HEADER and FCP_SEND are the oracle's own. HEADER only keeps books: the first byte of a packet is in, after
    the last one of whatever came before. At FCP_SEND everything else of this time has been handled: a
    flow-control packet goes that no data packet has pushed out before.
    """

    ACTION = auto()
    LINK_INIT = auto()
    RESYNC = auto()
    CREDIT = auto()
    HEADER = auto()
    PORT_FREE = auto()
    STORED = auto()
    ARRIVE = auto()
    DRAINED = auto()
    POSTED = auto()
    PACED = auto()
    ACK_TIMER = auto()
    RNR_TIMER = auto()
    RECEIVED = auto()
    RANK = auto()
    CC_NOTIFY = auto()
    CC_TIMER = auto()
    CC_APPLY = auto()
    HOQ_TIMER = auto()
    FCP_SEND = auto()


class Calendar:
    """Runs callbacks in the order of (time, node, kind, port, argument)."""

    def __init__(self) -> None:
        self.now_ps = 0
        self._heap: list[tuple[tuple[int, int, int, int, int, int], Callable[[], None]]] = []
        self._sequence = count()

    def at(
        self, time_ps: int, node: int, kind: Kind, port: int, argument: int, what: Callable[[], None]
    ) -> None:
        """Puts an event into the calendar."""
        assert time_ps >= self.now_ps, "an event in the past"
        key = (time_ps, node, int(kind), port, argument, next(self._sequence))
        heapq.heappush(self._heap, (key, what))

    def run(self, until_ps: int) -> None:
        """Handles every event up to and including a time."""
        while self._heap and self._heap[0][0][0] <= until_ps:
            key, what = heapq.heappop(self._heap)
            self.now_ps = key[0]
            what()
