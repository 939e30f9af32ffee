# SPDX-License-Identifier: Apache-2.0
"""The two ends of a channel that is a Redis stream: what each knows, asks, and makes of the answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, cast

import hiredis

from fabrictwin.runtime.bus.errors import ChannelGapError, NotOursError
from fabrictwin.runtime.bus.interface import Cursor, Entry, sequence_of
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.units import PS_PER_NS

FIELD = b"b"
"""Field of a stream entry that holds the Window."""

RawEntry = tuple[bytes, Sequence[bytes]]
"""ID, and fields and values in turn."""


def pack(*parts: bytes | str | int) -> bytes:
    """A command as it goes over the wire."""
    return cast(bytes, hiredis.pack_command(parts))  # type: ignore[arg-type]


def cursor_behind(sequence: int, entry_id: bytes) -> Cursor:
    """The place behind an entry."""
    promise_ns, _, order = entry_id.partition(b"-")
    return Cursor(sequence, int(promise_ns), int(order))


class Writer:
    """The sending end.

    Attributes:
        name: The channel, for messages.
        key: Its stream.
        ack_key: Where its reader says how far it has read.
        confirmed: Sequence number of the last entry that the server is known to have.
        confirmed_id: Its ID.
        read: Sequence number of the last entry that the reader is known to have read.
        backlog: Sequence number, ID and payload of entries that are queued and not confirmed.
        is_doubtful: An addition was refused, so the server may have more than is confirmed.
    """

    def __init__(self, keys: Keys, sender: str, receiver: str, confirmed: Cursor, read: int) -> None:
        self.name = f"{sender} → {receiver}"
        self.key = keys.channel(sender, receiver).encode()
        self.ack_key = keys.acknowledgement(sender, receiver)
        self._queued, self._promise_ns, self._order = confirmed
        self.confirmed = confirmed.sequence
        self.confirmed_id = confirmed.entry_id.encode()
        self.read = read
        self._addition = pack(b"XADD", self.key, b"NOMKSTREAM", b"", FIELD, b"").split(b"$0\r\n\r\n")
        self.backlog: deque[tuple[int, bytes, bytes]] = deque()
        self.is_doubtful = False

    def queue(self, entries: Iterable[Entry]) -> None:
        """Takes entries to be sent."""
        for promise_ps, payload in entries:
            promise_ns = promise_ps // PS_PER_NS
            sequence = self._queued + 1
            if promise_ns < self._promise_ns or sequence_of(payload) != sequence:
                Cursor(self._queued, self._promise_ns, self._order).after(Entry(promise_ps, payload))
            self._order = 0 if promise_ns > self._promise_ns else self._order + 1
            self._promise_ns = promise_ns
            self._queued = sequence
            self.backlog.append((sequence, b"%d-%d" % (promise_ns, self._order), payload))

    @property
    def unread(self) -> int:
        """Entries that the reader has not read, as far as is known."""
        return self.confirmed - self.read

    def additions(self, bound: int) -> tuple[list[bytes], int]:
        """The pieces of the commands that add what has room in the channel, and how many they are."""
        room = max(0, bound - self.unread)
        fitting = self.backlog if len(self.backlog) <= room else islice(self.backlog, room)
        before_id, before_payload, _ = self._addition
        pieces: list[bytes] = []
        for _, entry_id, payload in fitting:
            head = b"%b$%d\r\n%b\r\n%b$%d\r\n"
            pieces += (
                head % (before_id, len(entry_id), entry_id, before_payload, len(payload)),
                payload,
                b"\r\n",
            )
        return pieces, len(pieces) // 3

    def confirm(self, reply: Any) -> None:
        """Takes the answer to one addition; a refusal leaves the channel in doubt until :meth:`reconcile`."""
        if reply is None:
            raise NotOursError(f"channel {self.name}: its stream is gone from the server; was it flushed?")
        if isinstance(reply, Exception):
            self.is_doubtful = True
        elif not self.is_doubtful:
            self.confirmed, self.confirmed_id, _ = self.backlog.popleft()

    def questions(self) -> tuple[bytes, bytes]:
        """The commands that ask what the stream holds behind the last confirmed entry, and what is read."""
        behind = b"(" + self.confirmed_id
        held = pack("XRANGE", self.key, behind, "+", "COUNT", len(self.backlog) + 1)
        return held, self.ask_acknowledgement()

    def reconcile(self, held: Sequence[RawEntry], read: bytes | None) -> None:
        """Finds what has arrived although nobody said so: after a lost connection, XADD may be repeated."""
        self.hear_acknowledgement(read)
        waiting = {entry_id: (sequence, payload) for sequence, entry_id, payload in self.backlog}
        expected = self.confirmed + 1
        for entry_id, fields in held:
            sequence, payload = waiting.get(entry_id, (0, b""))
            if not sequence or payload != fields[1]:
                raise ChannelGapError(f"channel {self.name}: somebody else wrote entry {entry_id.decode()}")
            if sequence != expected and sequence - 1 > self.read:
                raise ChannelGapError(
                    f"channel {self.name}: entry {expected} was refused, and later ones not"
                )
            expected = sequence + 1
        if self.is_doubtful and not held:
            raise ChannelGapError(f"channel {self.name}: its stream has lost its last entry")
        self.is_doubtful = False
        while self.confirmed < expected - 1:
            self.confirmed, self.confirmed_id, _ = self.backlog.popleft()

    def ask_acknowledgement(self) -> bytes:
        """The command that asks how far the reader says that it has read."""
        return pack("GET", self.ack_key)

    def hear_acknowledgement(self, reply: bytes | None) -> None:
        """Takes how far the reader says that it has read."""
        self.read = max(self.read, int(reply or 0))


class Reader:
    """The receiving end.

    Attributes:
        sender: Who writes it.
        name: The channel, for messages.
        key: Its stream.
        ack_key: Where its reader says how far it has read.
        fetched: Sequence number of the last entry that was read from the server.
        fetched_id: Its ID.
        acknowledged: Sequence number of the last entry that the sender was told of.
        keep: Entries in front of this may be trimmed.
    """

    def __init__(self, keys: Keys, sender: str, receiver: str, cursor: Cursor) -> None:
        self.sender = sender
        self.name = f"{sender} → {receiver}"
        self.key = keys.channel(sender, receiver).encode()
        self.ack_key = keys.acknowledgement(sender, receiver)
        self.fetched = cursor.sequence
        self.fetched_id = cursor.entry_id.encode()
        self.acknowledged = self._telling = cursor.sequence
        self.keep = cursor
        self._last_id = b"0-0"

    def take(self, raw: Sequence[RawEntry]) -> list[Entry]:
        """Entries as they were read, which must follow those before."""
        entries = []
        sequence = self.fetched
        for entry_id, fields in raw:
            payload = fields[1]
            sequence += 1
            if sequence_of(payload) != sequence:
                raise ChannelGapError(
                    f"channel {self.name}: expected entry {sequence}, got entry {sequence_of(payload)} "
                    f"with ID {entry_id.decode()}"
                )
            entries.append(Entry(int(entry_id.partition(b"-")[0]) * PS_PER_NS, payload))
        self.fetched = sequence
        self.fetched_id = raw[-1][0]
        return entries

    def ask_last(self) -> bytes:
        """The command that asks for the ID of the last entry that was ever added."""
        return pack("XINFO", "STREAM", self.key)

    def hear_last(self, answer: Sequence[Any]) -> None:
        """Takes the answer to :meth:`ask_last`."""
        self._last_id = answer[answer.index(b"last-generated-id") + 1]

    def check_last(self) -> None:
        """Makes sure that what was added before the last :meth:`ask_last` has been read since.

        Raises:
            ChannelGapError: It has not, so it is gone.
        """
        last = cursor_behind(0, self._last_id)
        if last > cursor_behind(0, self.fetched_id):
            raise ChannelGapError(f"channel {self.name}: its last entry is gone, ID {last.entry_id}")

    def acknowledge(self) -> bytes:
        """The command that tells the sender how far this end has read; it makes no key that is gone."""
        self._telling = self.fetched
        return pack("SET", self.ack_key, self._telling, "XX")

    def is_told(self, answer: Any) -> None:
        """Takes the answer to :meth:`acknowledge`."""
        self.acknowledged = self._telling

    def trimming(self, history_ns: int) -> bytes:
        """The command that trims what nobody needs any more, and leaves some history for people."""
        oldest = f"{max(0, self.keep.promise_ns - history_ns)}-0" if history_ns else self.keep.entry_id
        return pack(b"XTRIM", self.key, b"MINID", b"=", oldest)
