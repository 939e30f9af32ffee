# SPDX-License-Identifier: Apache-2.0
"""How an HCA port moves packets from its receive buffer to memory (infiniband.md sections 3 and 10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from fabrictwin.units import femtoseconds_per_byte
from reference.events import Kind
from reference.packet import Arrival
from reference.port import Port

WhenMoved = Callable[[], None]


class Drain:
    """The receive buffer of one HCA port.

    Args:
        port: The port.
        rate_bps: How fast it is emptied; None or not below the cable's rate: at once, 0: not at all.
    """

    def __init__(self, port: Port, rate_bps: int | None) -> None:
        self.port = port
        self.rate_bps = rate_bps
        self.queue: deque[tuple[Arrival, WhenMoved]] = deque()
        self.moving = False

    def take(self, arrival: Arrival, when_moved: WhenMoved) -> None:
        """A data packet has come in."""
        self.queue.append((arrival, when_moved))
        self._go_on()

    def set_rate(self, rate_bps: int | None) -> None:
        """The packet that is being moved is not touched."""
        self.rate_bps = rate_bps
        self._go_on()

    def _go_on(self) -> None:
        while self.queue and not self.moving and self.rate_bps != 0:
            fs_per_byte = 0 if self.rate_bps is None else femtoseconds_per_byte(self.rate_bps)
            if fs_per_byte <= self.port.cable_fs_per_byte:
                self._finish()
            else:
                self.moving = True
                move_ps = (self.queue[0][0].packet.wire_bytes * fs_per_byte + 999) // 1000
                self.port.at(self.port.now_ps + move_ps, Kind.DRAINED, 0, self._moved)

    def _moved(self) -> None:
        self.moving = False
        self._finish()
        self._go_on()

    def _finish(self) -> None:
        arrival, when_moved = self.queue.popleft()
        arrival.free(self.port.now_ps)
        when_moved()
