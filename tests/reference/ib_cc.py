# SPDX-License-Identifier: Apache-2.0
"""InfiniBand congestion control (docs/models/infiniband.md section 11; IBTA Annex A10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

CCTI_TIMER_UNIT_PS = 1_024_000

CctEntry = tuple[int, int]
"""(shift, multiplier)."""


def threshold_blocks(threshold: int, cap_blocks: int) -> int | None:
    """Blocks that must wait behind a packet before it is marked; None: marking is off."""
    return cap_blocks * (16 - threshold) // 16 if threshold else None


def injection_rate_delay_ps(entry: CctEntry, wire_ps: int) -> int:
    """Pause after a packet that was on the wire for ``wire_ps``."""
    shift, multiplier = entry
    return (wire_ps >> shift) * multiplier


@dataclass
class Marker:
    """Marks packets of one output port and VL.

    Attributes:
        threshold_blocks: Blocks that must wait behind the packet; None: off.
        packet_size_blocks: Smaller packets are not marked.
        marking_rate: Eligible packets that are left alone after a marked one.
        in_victim_mask: Marks even where it is itself held up by credits.
        blocked: It had no credits for its candidate since its last packet left.
    """

    threshold_blocks: int | None
    packet_size_blocks: int
    marking_rate: int
    in_victim_mask: bool
    blocked: bool = False
    left_alone: int = 0

    def packet_left(self) -> None:
        """A packet of any kind has been chosen: whatever blocked the lane is over."""
        self.blocked = False

    def mark(self, blocks: int, waiting_blocks: int) -> bool:
        """Whether the data packet that is being chosen is marked.

        Args:
            blocks: Its size.
            waiting_blocks: Blocks of the packets that wait behind it.
        """
        eligible = (
            self.threshold_blocks is not None
            and waiting_blocks > self.threshold_blocks
            and blocks >= self.packet_size_blocks
            and (not self.blocked or self.in_victim_mask)
        )
        if not eligible:
            return False
        if self.left_alone > 0:
            self.left_alone -= 1
            return False
        self.left_alone = self.marking_rate
        return True


@dataclass
class CctIndex:
    """The CCTI of one queue pair, or of one port and SL.

    Attributes:
        minimum: CCTI_Min.
        limit: CCTI_Limit.
        increase: CCTI_Increase.
        timer_ps: Time between two decrements.
        ccti: Present index.
        expires_ps: When it decays next; None: the timer does not run.
    """

    minimum: int
    limit: int
    increase: int
    timer_ps: int
    ccti: int = field(init=False)
    expires_ps: int | None = None

    def __post_init__(self) -> None:
        self.ccti = self.minimum

    def notify(self, now_ps: int) -> bool:
        """A BECN came; returns whether the CCTI has changed."""
        before = self.ccti
        self.ccti = min(self.limit, self.ccti + self.increase)
        if self.expires_ps is None and self.ccti > self.minimum:
            self.expires_ps = now_ps + self.timer_ps
        return self.ccti != before

    def expire(self, now_ps: int) -> None:
        """The timer has run out."""
        self.ccti -= 1
        self.expires_ps = now_ps + self.timer_ps if self.ccti > self.minimum else None


def entry_of(table: Sequence[CctEntry], ccti: int) -> CctEntry:
    """The table's entry of an index; an index beyond the table gets the last one."""
    return table[min(ccti, len(table) - 1)]
