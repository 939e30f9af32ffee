# SPDX-License-Identifier: Apache-2.0
"""What a subnet manager has said and nobody has fetched yet."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from fabrictwin.model.controller import LftWrite, PeerMessage, RouteWrite, Spoken, SubnetEvent


class EventKind(StrEnum):
    """What subnet managers and the underlay do, in the event log."""

    TRAP_SENT = "trap_sent"
    TRAP = "trap"
    TRAP_LOST = "trap_lost"
    LIGHT_SWEEP = "light_sweep"
    SWEEP = "sweep"
    SWEPT = "swept"
    ROUTED = "routed"
    LFT_WRITTEN = "lft_written"
    SUBNET_UP = "subnet_up"
    SMP_TIMEOUT = "smp_timeout"
    SM_STATE = "sm_state"
    POLL_MISSED = "poll_missed"
    TAKEOVER = "takeover"
    HANDOVER = "handover"
    BFD_DOWN = "bfd_down"
    BFD_UP = "bfd_up"
    CONVERGED = "converged"


NOTHING = Spoken()


class Outbox:
    """Writes, messages and events on their way out.

    Args:
        number: Number of the manager.
        prefix: What every event's text begins with.
    """

    def __init__(self, number: int, prefix: str) -> None:
        self._number = number
        self._prefix = prefix
        self._writes: list[LftWrite] = []
        self._routes: list[RouteWrite] = []
        self._messages: dict[int, list[PeerMessage]] = {}
        self._events: list[SubnetEvent] = []

    def log(self, at_ps: int, kind: EventKind, text: str) -> None:
        """Adds a line for the event log."""
        self._events.append(SubnetEvent(at_ps, str(kind), self._prefix + text, self._number))

    def write(self, write: LftWrite) -> None:
        """Adds a block for a switch."""
        self._writes.append(write)

    def write_route(self, write: RouteWrite) -> None:
        """Adds a route for a switch."""
        self._routes.append(write)

    def tell(self, numbers: Iterable[int], message: PeerMessage) -> None:
        """Adds a message to other subnet managers."""
        for number in numbers:
            self._messages.setdefault(number, []).append(message)

    def empty(self) -> Spoken:
        """Everything, which is then no longer here."""
        if not (self._events or self._writes or self._routes or self._messages):
            return NOTHING
        spoken = Spoken(self._writes, self._routes, self._messages, self._events)
        self._writes, self._routes, self._messages, self._events = [], [], {}, []
        return spoken
