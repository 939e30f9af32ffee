# SPDX-License-Identifier: Apache-2.0
"""VL arbitration of one output port (docs/models/infiniband.md section 5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

UNLIMITED = 255
ONE_PACKET = 0
LIMIT_UNIT_BYTES = 4096
WEIGHT_UNIT_BYTES = 64

Entry = tuple[int, int]
"""(VL, weight)."""


@dataclass
class WeightedTable:
    """One of the two tables, with the place where its round robin stands."""

    entries: Sequence[Entry]
    position: int = 0
    remaining: int = 0

    def __post_init__(self) -> None:
        if self.entries:
            self.remaining = self.entries[0][1]

    def has_eligible(self, eligible: Collection[int]) -> bool:
        return any(vl in eligible and weight > 0 for vl, weight in self.entries)

    def advance(self) -> None:
        self.position = (self.position + 1) % len(self.entries)
        self.remaining = self.entries[self.position][1]

    def take(self, eligible: Collection[int]) -> int:
        for _ in range(len(self.entries) + 1):
            vl = self.entries[self.position][0]
            if vl in eligible and self.remaining > 0:
                return vl
            self.advance()
        raise AssertionError("asked a table that has no eligible VL")

    def charge(self, wire_bytes: int) -> None:
        self.remaining -= -(-wire_bytes // WEIGHT_UNIT_BYTES)
        if self.remaining <= 0:
            self.advance()


class VlArbiter:
    """Chooses which data VL sends next.

    Args:
        high: High-priority table.
        low: Low-priority table.
        limit: Limit of high priority, in 4096 bytes.
    """

    def __init__(self, high: Sequence[Entry], low: Sequence[Entry], limit: int) -> None:
        self.high = WeightedTable(high)
        self.low = WeightedTable(low)
        self.limit = limit
        self.left_bytes = limit * LIMIT_UNIT_BYTES
        self.chosen = self.low

    def _high_may_go_on(self) -> bool:
        if self.limit == UNLIMITED:
            return True
        return self.left_bytes >= 0 if self.limit == ONE_PACKET else self.left_bytes > 0

    def choose(self, eligible: Collection[int]) -> int | None:
        """The VL that sends next.

        Args:
            eligible: Data VLs that have a packet and the credits for it.

        Returns:
            One of them, or None where no table lets any of them send.
        """
        from_high = self.high.has_eligible(eligible)
        from_low = self.low.has_eligible(eligible)
        if from_high and (self._high_may_go_on() or not from_low):
            self.chosen = self.high
        elif from_low:
            self.chosen = self.low
        else:
            return None
        return self.chosen.take(eligible)

    def sent(self, wire_bytes: int) -> None:
        """Charges the packet of the VL that was chosen last."""
        self.chosen.charge(wire_bytes)
        if self.chosen is self.low:
            self.left_bytes = self.limit * LIMIT_UNIT_BYTES
        elif self.limit == ONE_PACKET:
            self.left_bytes = -1
        else:
            self.left_bytes -= wire_bytes
