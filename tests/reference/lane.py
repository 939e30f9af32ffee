# SPDX-License-Identifier: Apache-2.0
"""The receiving end of one VL of a port, and the flow-control packets that it owes."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.credits import CreditReceiver, CreditSender


@dataclass
class Lane:
    """One data VL of a port.

    Attributes:
        receiver: Credits of the packets that come in.
        sender: Credits of the packets that go out.
        pending: (due, blocks) of what no flow-control packet has told yet.
        last_start_ps: Start of the last flow-control packet; None: there was none.
        refresh_ps: When one is due because something was lost; None: nothing was.
    """

    receiver: CreditReceiver
    sender: CreditSender
    pending: list[tuple[int, int]] = field(default_factory=list)
    last_start_ps: int | None = None
    refresh_ps: int | None = None

    def due_ps(self) -> int | None:
        """Since when, or from when on, a flow-control packet is due."""
        times = [due for due, _ in self.pending]
        if self.refresh_ps is not None:
            times.append(self.refresh_ps)
        return min(times, default=None)

    def earliest_ps(self, free_ps: int, min_gap_ps: int) -> int | None:
        """When the next flow-control packet of this VL can start."""
        due = self.due_ps()
        if due is None:
            return None
        gap_over = due if self.last_start_ps is None else self.last_start_ps + min_gap_ps
        return max(due, free_ps, gap_over)

    def collect(self, now_ps: int) -> None:
        """Counts everything that is free by now."""
        for due, blocks in self.pending:
            if due <= now_ps:
                self.receiver.free(blocks)
        self.pending = [(due, blocks) for due, blocks in self.pending if due > now_ps]

    def lost_something(self, interval_ps: int) -> None:
        """A packet or a flow-control packet was lost: the next one is due an interval after the last."""
        refresh_ps = (self.last_start_ps or 0) + interval_ps
        self.refresh_ps = refresh_ps if self.refresh_ps is None else min(self.refresh_ps, refresh_ps)

    def starts(self, now_ps: int) -> None:
        """A flow-control packet starts, with all that is free by now."""
        self.collect(now_ps)
        self.last_start_ps = now_ps
        self.refresh_ps = None
