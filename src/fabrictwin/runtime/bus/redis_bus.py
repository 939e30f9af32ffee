# SPDX-License-Identifier: Apache-2.0
"""The bus over Redis streams: one logical process's end.

A channel is a stream with one writer and one reader. Everything of an exchange (additions, acknowledgements,
the blocking read) goes out at once and is answered in one round trip. Explicit IDs make repeating an addition
harmless: after a lost connection, what was not confirmed is compared with the stream and the rest is said
again. Nothing else ever repeats a command.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, sleep
from typing import Any

import redis
from redis import exceptions

from fabrictwin.runtime.bus.errors import BusError, ChannelGapError, ChannelTrimmedError, NotOursError
from fabrictwin.runtime.bus.interface import DEFAULT_BOUND, START, Cursor, Entry, sequence_of
from fabrictwin.runtime.bus.redis_channel import Reader, Writer, cursor_behind, pack
from fabrictwin.runtime.bus.redis_link import LOST, Link, is_repetition
from fabrictwin.runtime.bus.server import LONGEST_BLOCK_S, explain
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.processor import Lookout

RECONNECT_S = 5.0
"""How long a server may be away."""
FULL_PAUSE_S = 0.001
"""Between two looks at a channel that is full."""
TRIPS_PER_CHECK = 32
"""Round trips between two of which each acknowledges, trims and checks whose the keys are. A silence, a full
channel or many entries at once call for one earlier."""
TRIPS_PER_LOOK = 4
"""Round trips between two that also look at channels that are not waited for, which costs as much again."""
ACKNOWLEDGEMENTS = 8
"""A reader tells its writer of every eighth of the bound at least."""

Handler = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Retention:
    """What stays in a stream.

    Attributes:
        bound: Unread entries of a channel at which its writer waits.
        history_ns: Fabric time that stays readable behind what a reader has read, for people.
        checkpoints: Whether entries are kept until ``keep_from`` lets them go, not only until they are read.
    """

    bound: int = DEFAULT_BOUND
    history_ns: int = 20_000
    checkpoints: bool = False


class RedisBus:
    """A :class:`fabrictwin.runtime.bus.Bus` over a Redis server.

    Attributes:
        name: The logical process.
        last_said: The last payload on each outgoing channel when the bus was opened, by receiver.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: Keys,
        epoch: str,
        name: str,
        channels: Iterable[tuple[str, str]],
        *,
        cursors: Mapping[str, Cursor] | None = None,
        retention: Retention | None = None,
        lookout: Lookout | None = None,
    ) -> None:
        """Opens a connection of its own, and finds out how far the channels are.

        Args:
            client: The server, from :func:`fabrictwin.runtime.bus.server.connect`.
            keys: The twin's keys.
            epoch: The twin's epoch, from ``create_twin`` or ``join_twin``.
            name: The logical process.
            channels: (sender, receiver) of every channel; those of others are ignored.
            cursors: Where to go on reading, from a checkpoint; None: at the beginning.
            retention: What stays in a stream.
            lookout: Says whether to look for an answer before it sleeps; None: it does not.

        Raises:
            BusError: The server cannot be used, or the twin is gone.
        """
        self.name = name
        self._keys = keys
        self._epoch = epoch.encode()
        self._retention = retention or Retention()
        self._link = Link(client, lookout)
        self._check_epoch(self._link.ask(self._ask_epoch()))
        self.last_said: dict[str, bytes] = {}
        table = sorted(set(channels))
        self._writers = {to: self._open_writer(to) for sender, to in table if sender == name}
        self._readers = {
            sender: Reader(keys, sender, name, (cursors or {}).get(sender, START))
            for sender, to in table
            if to == name
        }
        self._reader_of = {reader.key: reader for reader in self._readers.values()}
        self._handed_out = {
            sender: (reader.fetched, reader.fetched_id) for sender, reader in self._readers.items()
        }
        self._inbox: dict[str, list[Entry]] = {}
        self._ack_every = max(1, self._retention.bound // ACKNOWLEDGEMENTS)
        self._trips_left = TRIPS_PER_CHECK
        self._trips_to_look = 0
        self._is_silent = False
        self._splits: dict[frozenset[str], tuple[list[Reader], list[Reader]]] = {}

    @property
    def cursors(self) -> Mapping[str, Cursor]:
        """How far each incoming channel has been handed out, by sender."""
        return {sender: cursor_behind(*last) for sender, last in self._handed_out.items()}

    @property
    def written(self) -> Mapping[str, Cursor]:
        """The last entry of each outgoing channel that the server has, by receiver: where sequences go on."""
        return {
            to: cursor_behind(writer.confirmed, writer.confirmed_id) for to, writer in self._writers.items()
        }

    @property
    def is_confirmed(self) -> bool:
        """Whether the server has everything that was said."""
        return not any(writer.backlog for writer in self._writers.values())

    def keep_from(self, cursors: Mapping[str, Cursor]) -> None:
        """Entries up to these cursors may be trimmed; it happens with a later exchange."""
        for sender, cursor in cursors.items():
            self._readers[sender].keep = cursor

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()

    def exchange(
        self, out: Mapping[str, Sequence[Entry]], wait_for: Collection[str], timeout_s: float
    ) -> dict[str, list[Entry]]:
        """Says and hears; see :meth:`fabrictwin.runtime.bus.Bus.exchange`."""
        for to, entries in out.items():
            self._writers[to].queue(entries)
        deadline = monotonic() + timeout_s
        left_s = timeout_s
        while True:
            is_full = self._round_trip(() if self._is_answered(wait_for) else wait_for, left_s)
            if not is_full and self._is_answered(wait_for):
                return self._hand_out()
            left_s = deadline - monotonic()
            if left_s <= 0:
                return {} if is_full else self._hand_out()
            if is_full:
                self._trips_left = 0
                sleep(FULL_PAUSE_S)

    def _is_answered(self, wait_for: Collection[str]) -> bool:
        return not wait_for or (bool(self._inbox) and not self._inbox.keys().isdisjoint(wait_for))

    def _hand_out(self) -> dict[str, list[Entry]]:
        inbox, self._inbox = self._inbox, {}
        for sender in inbox:
            reader = self._readers[sender]
            self._handed_out[sender] = (reader.fetched, reader.fetched_id)
        return inbox

    def _round_trip(self, wait_for: Collection[str], block_s: float) -> bool:
        """Sends what there is to say and to ask, and takes in the answers; returns whether some is left."""
        commands: list[bytes] = []
        handlers: list[Handler] = []
        for writer in self._writers.values():
            if writer.backlog:
                additions, count = writer.additions(self._retention.bound)
                commands += additions
                handlers += [writer.confirm] * count
        self._trips_left -= 1
        if self._trips_left <= 0:
            self._add_housekeeping(commands, handlers)
        was_silent, self._is_silent = self._is_silent, False
        if was_silent:
            # What has been added is read behind these questions, by this round trip.
            commands += [reader.ask_last() for reader in self._readers.values()]
            handlers += [reader.hear_last for reader in self._readers.values()]
        self._add_reads(commands, handlers, wait_for, block_s)
        try:
            answers = self._link.call(commands, len(handlers))
        except LOST as error:
            self._recover(error)
            return True
        for handler, answer in zip(handlers, answers, strict=True):
            if isinstance(answer, exceptions.RedisError) and not is_repetition(answer):
                raise explain(answer, self._link.where) from answer
            handler(answer)
        if was_silent:
            for reader in self._readers.values():
                reader.check_last()
        is_left = False
        for writer in self._writers.values():
            if writer.is_doubtful:
                writer.reconcile(*(self._link.ask(question) for question in writer.questions()))
            if writer.backlog:
                is_left = True
        return is_left

    def _recover(self, cause: exceptions.RedisError) -> None:
        """Connects again after a loss and finds out what had arrived; the rest is still queued."""
        deadline = monotonic() + RECONNECT_S
        while True:
            self._link.reconnect(deadline, cause)
            writers = self._writers.values()
            questions = [question for writer in writers for question in writer.questions()]
            try:
                answers = self._link.call([self._ask_epoch(), *questions], 1 + len(questions))
            except LOST as error:
                cause = error
                continue
            for answer in answers:
                if isinstance(answer, exceptions.RedisError):
                    raise explain(answer, self._link.where) from answer
            self._check_epoch(answers[0])
            for writer, held, read in zip(writers, answers[1::2], answers[2::2], strict=True):
                writer.reconcile(held, read)
            return

    def _add_reads(
        self, commands: list[bytes], handlers: list[Handler], wait_for: Collection[str], block_s: float
    ) -> None:
        """Reads the channels that are waited for, blocking; looks at the others before, now and then."""
        awaited, others = self._split(wait_for)
        self._trips_to_look -= 1
        if others and (self._trips_to_look <= 0 or not awaited):
            self._trips_to_look = TRIPS_PER_LOOK
            commands.append(_read(others))
            handlers.append(self._take)
        if awaited:
            block_ms = int(min(block_s, LONGEST_BLOCK_S) * 1000)
            commands.append(_read(awaited, block_ms))
            handlers.append(self._take_awaited)

    def _split(self, wait_for: Collection[str]) -> tuple[list[Reader], list[Reader]]:
        """The channels that are waited for, and the others."""
        names = frozenset(wait_for)
        split = self._splits.get(names)
        if split is None:
            awaited = [self._readers[sender] for sender in sorted(names)]
            others = [reader for sender, reader in self._readers.items() if sender not in names]
            split = self._splits[names] = (awaited, others)
        return split

    def _add_housekeeping(self, commands: list[bytes], handlers: list[Handler]) -> None:
        """Acknowledges, trims, asks how far readers are where it may matter, and whose the keys are."""
        self._trips_left = TRIPS_PER_CHECK
        for reader in self._readers.values():
            if reader.fetched > reader.acknowledged:
                if not self._retention.checkpoints:
                    reader.keep = cursor_behind(reader.fetched, reader.fetched_id)
                commands += (reader.acknowledge(), reader.trimming(self._retention.history_ns))
                handlers += (reader.is_told, _ignore)
        for writer in self._writers.values():
            if writer.unread >= self._retention.bound // 2:
                commands.append(writer.ask_acknowledgement())
                handlers.append(writer.hear_acknowledgement)
        commands.append(self._ask_epoch())
        handlers.append(self._check_epoch)

    def _ask_epoch(self) -> bytes:
        return pack("HGET", self._keys.identity, "epoch")

    def _check_epoch(self, epoch: Any) -> None:
        if epoch is None:
            raise NotOursError(
                f"the twin {self._keys.twin!r} is gone from {self._link.where}: was it flushed?"
            )
        if epoch != self._epoch:
            raise NotOursError(
                f"the twin {self._keys.twin!r} on {self._link.where} is another one of this name"
            )

    def _take(self, answer: Any) -> None:
        """Puts what a read brought into the inbox."""
        for key, raw in answer or ():
            reader = self._reader_of[key]
            try:
                entries = reader.take(raw)
            except ChannelGapError as error:
                raise self._explain_gap(reader, error) from None
            if reader.fetched - reader.acknowledged >= self._ack_every:
                self._trips_left = 0
            self._inbox.setdefault(reader.sender, []).extend(entries)

    def _take_awaited(self, answer: Any) -> None:
        """Puts what a blocking read brought into the inbox; after a silence looks whose the keys are."""
        if answer is None:
            self._trips_left = self._trips_to_look = 0
            self._is_silent = True
        self._take(answer)

    def _explain_gap(self, reader: Reader, error: ChannelGapError) -> BusError:
        """Tells entries that were trimmed before they were read from entries that are lost."""
        first = self._link.ask(pack("XRANGE", reader.key, "-", "+", "COUNT", 1))
        if first and sequence_of(first[0][1][1]) > reader.fetched + 1:
            return ChannelTrimmedError(f"{error}: what was not read yet has been trimmed")
        return error

    def _open_writer(self, receiver: str) -> Writer:
        """The sending end of a channel, behind what its stream holds already."""
        key = self._keys.channel(self.name, receiver)
        last = self._link.ask(pack("XREVRANGE", key, "+", "-", "COUNT", 1))
        read = self._link.ask(pack("GET", self._keys.acknowledgement(self.name, receiver)))
        at = START
        if last:
            entry_id, fields = last[0]
            self.last_said[receiver] = fields[1]
            at = cursor_behind(sequence_of(fields[1]), entry_id)
        return Writer(self._keys, self.name, receiver, at, int(read or 0))


def _read(readers: Sequence[Reader], block_ms: int = 0) -> bytes:
    """The command that reads what is new on some channels; 0: without waiting."""
    head = _read_head(tuple([reader.key for reader in readers]), block_ms)
    return head + b"".join(
        [b"$%d\r\n%b\r\n" % (len(reader.fetched_id), reader.fetched_id) for reader in readers]
    )


@lru_cache(maxsize=4096)
def _read_head(keys: tuple[bytes, ...], block_ms: int) -> bytes:
    """The command up to the IDs that the entries read so far have."""
    blocking = ("BLOCK", block_ms) if block_ms else ()
    packed = pack("XREAD", *blocking, "STREAMS", *keys, *[b""] * len(keys))
    return packed[: -len(keys) * len(b"$0\r\n\r\n")]


def _ignore(answer: Any) -> None:
    """An answer that says nothing new."""
