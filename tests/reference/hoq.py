# SPDX-License-Identifier: Apache-2.0
"""Head-of-queue lifetime and VL stall of one output port and VL (docs/models/infiniband.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass

STALL_LIVES = 8
"""A stalled VL drops everything for this many head-of-queue lifetimes."""


@dataclass
class HeadOfQueue:
    """How long the candidate of an output has been waiting, and what happens when that is too long.

    Attributes:
        life_ps: Lifetime; None never ends.
        stall_count: Discards in a row that stall the VL.
        candidate: Number of the present candidate; a timer that was set for another one means nothing.
        discards: Discards in a row so far.
        stalled_until_ps: End of the stall.
    """

    life_ps: int | None
    stall_count: int
    candidate: int = 0
    discards: int = 0
    stalled_until_ps: int = 0

    def new_candidate(self, now_ps: int) -> int | None:
        """A packet has become the candidate; returns when its life ends."""
        self.candidate += 1
        return None if self.life_ps is None else now_ps + self.life_ps

    def no_candidate(self) -> None:
        """The queue has run empty, or its candidate has been chosen."""
        self.candidate += 1

    def sent(self) -> None:
        """A packet got through."""
        self.discards = 0

    def expire(self, now_ps: int) -> bool:
        """The candidate is discarded; returns whether that stalls the VL."""
        assert self.life_ps is not None
        self.discards += 1
        if self.discards < self.stall_count:
            return False
        self.discards = 0
        self.stalled_until_ps = now_ps + STALL_LIVES * self.life_ps
        return True

    def is_stalled(self, now_ps: int) -> bool:
        """Whether a packet that is offered now is dropped."""
        return now_ps < self.stalled_until_ps
