# SPDX-License-Identifier: Apache-2.0
"""The bus as one logical process sees it: entries out, entries in, and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from fabrictwin.runtime.bus.errors import ChannelGapError
from fabrictwin.units import PS_PER_NS

DEFAULT_BOUND = 1024
"""Unread entries of a channel at which its writer waits."""

_SEQUENCE = struct.Struct("<BQ")
_SEQUENCE_TAG = 0x09
"""Field 1 of a message, fixed 64 bits: ``Window.sequence``."""


class Entry(NamedTuple):
    """One entry of a channel.

    Attributes:
        promise_ps: Its (hard) promise; what is read back is rounded down to nanoseconds.
        payload: A serialised ``fabrictwin.bus.v1.Window``.
    """

    promise_ps: int
    payload: bytes


class Cursor(NamedTuple):
    """A place in a channel: behind an entry that was written or read.

    Attributes:
        sequence: Sequence number of that entry; 0: in front of the first one.
        promise_ns: Its promise, rounded down: the first part of its ID on the bus.
        order: Second part of its ID: 0, or more when its promise is in the same nanosecond as the one before.
    """

    sequence: int
    promise_ns: int
    order: int

    @property
    def entry_id(self) -> str:
        """ID of the entry on the bus."""
        return f"{self.promise_ns}-{self.order}"

    def after(self, entry: Entry) -> Cursor:
        """The place behind an entry that follows.

        Raises:
            ChannelGapError: Its sequence is not the next one, or its promise goes back.
        """
        sequence = sequence_of(entry.payload)
        promise_ns = entry.promise_ps // PS_PER_NS
        if sequence != self.sequence + 1:
            raise ChannelGapError(f"expected entry {self.sequence + 1}, got entry {sequence}")
        if promise_ns < self.promise_ns:
            raise ChannelGapError(
                f"the promise of entry {sequence} goes back from {self.promise_ns} ns to {promise_ns} ns"
            )
        return Cursor(sequence, promise_ns, self.order + 1 if promise_ns == self.promise_ns else 0)


START = Cursor(0, 0, 0)
"""Nothing written or read yet."""


class Bus(Protocol):
    """One logical process's end of the bus. It belongs to one thread.

    Attributes:
        name: The logical process.
    """

    name: str

    @property
    def cursors(self) -> Mapping[str, Cursor]:
        """How far each incoming channel has been handed out, by sender: what a checkpoint keeps."""
        ...

    def exchange(
        self, out: Mapping[str, Sequence[Entry]], wait_for: Collection[str], timeout_s: float
    ) -> dict[str, list[Entry]]:
        """Says and hears in one round trip.

        Args:
            out: What to say, by receiver, in order: promises never go back, sequences count up by one.
            wait_for: Senders of which at least one must have something new; empty: do not wait.
            timeout_s: How long to wait for that, and for room on the outgoing channels.

        Returns:
            New entries, in order, by sender: all of those that are waited for, and of the others at least
            with every fourth call; empty after a timeout. What found no room in time is kept and goes out
            first in the next call; until it has gone out, nothing is handed out.

        Raises:
            BusError: One of its subclasses; the bus is unusable afterwards.
        """
        ...

    def keep_from(self, cursors: Mapping[str, Cursor]) -> None:
        """Lets go of what a checkpoint has made unnecessary: entries up to these cursors may be trimmed."""
        ...

    def close(self) -> None:
        """Ends the connection; what was said stays."""
        ...


def sequence_of(payload: bytes) -> int:
    """``Window.sequence`` of a serialised Window, without decoding the rest; 0 if it has none."""
    if len(payload) < _SEQUENCE.size:
        return 0
    tag, sequence = _SEQUENCE.unpack_from(payload)
    return int(sequence) if tag == _SEQUENCE_TAG else 0
