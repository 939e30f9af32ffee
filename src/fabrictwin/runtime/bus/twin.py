# SPDX-License-Identifier: Apache-2.0
"""A twin on a Redis server: its keys, whose they are, and how they begin and end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from time import monotonic, sleep, strftime
from typing import Any, NamedTuple

import redis

from fabrictwin.errors import InputError
from fabrictwin.runtime.bus.errors import NotOursError, TwinExistsError
from fabrictwin.runtime.bus.server import in_our_words, where_is
from fabrictwin.runtime.version import VERSION

SCHEMA = "fabrictwin.bus/1"
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_POLL_S = 0.05
_SCAN_BATCH = 1000


class Keys:
    """The keys of one twin.

    Attributes:
        twin: Its name.
        identity: Hash of whose the keys are, see :class:`Identity`, and of what else the director says.
        services: Hash: where each logical process can be called.
        events: Stream: the event log.
        checkpoints: Hash: when the checkpoint of each logical process was made.
        probe: Is never there; see :meth:`fabrictwin.runtime.directory.TwinDirectory.check_writable`.
    """

    def __init__(self, twin: str) -> None:
        """Names the keys.

        Raises:
            InputError: The name has characters that keys must not have.
        """
        if not _NAME.fullmatch(twin):
            raise InputError.of(
                f"{twin!r} is not a name for a twin; expected letters, digits, '_', '.' and '-'",
                field="--twin",
            )
        self.twin = twin
        self.prefix = f"ft:{{{twin}}}:"
        self.identity = f"{self.prefix}twin"
        self.services = f"{self.prefix}services"
        self.events = f"{self.prefix}events"
        self.checkpoints = f"{self.prefix}ckpts"
        self.probe = f"{self.prefix}probe"

    def channel(self, sender: str, receiver: str) -> str:
        """Stream of a channel."""
        return f"{self.prefix}ch:{sender}:{receiver}"

    def acknowledgement(self, sender: str, receiver: str) -> str:
        """Sequence number of the last entry of a channel that its reader has read."""
        return f"{self.prefix}ack:{sender}:{receiver}"

    def checkpoint(self, name: str) -> str:
        """Checkpoint of a logical process."""
        return f"{self.prefix}ckpt:{name}"


class Identity(NamedTuple):
    """Whose the keys of a twin are.

    Attributes:
        schema: Layout of the keys.
        version: Version of FabricTwin.
        scenario_sha256: The scenario that is run.
        epoch: Drawn when the twin was created: tells it from a later one of the same name.
    """

    schema: str
    version: str
    scenario_sha256: str
    epoch: str


def create_twin(
    client: redis.Redis,
    twin: str,
    scenario_sha256: str,
    channels: Iterable[tuple[str, str]],
    fields: Mapping[str, str | bytes] | None = None,
) -> Identity:
    """Begins a twin: writes whose it is, and makes its channels, empty.

    Args:
        client: The server.
        twin: Its name.
        scenario_sha256: The scenario that it runs.
        channels: (sender, receiver) of each channel.
        fields: What else its hash holds, such as the scenario's text.

    Raises:
        TwinExistsError: There is one of this name; nothing was changed.
        BusError: The server cannot be used.
    """
    keys = Keys(twin)
    identity = Identity(SCHEMA, VERSION, scenario_sha256, secrets.token_hex(8))
    with in_our_words(where_is(client)):
        if not client.hsetnx(keys.identity, "epoch", identity.epoch):
            check_free(client, twin)
        with client.pipeline(transaction=True) as pipe:
            for sender, receiver in channels:
                stream = keys.channel(sender, receiver)
                pipe.xgroup_create(stream, "empty", mkstream=True)  # the only way to an empty stream
                pipe.xgroup_destroy(stream, "empty")
                pipe.set(keys.acknowledgement(sender, receiver), 0)
            created = strftime("%Y-%m-%d %H:%M:%S")
            written: dict[Any, Any] = {**(fields or {}), **identity._asdict(), "created": created}
            pipe.hset(keys.identity, mapping=written)
            pipe.execute()
    return identity


def check_free(client: redis.Redis, twin: str) -> None:
    """Makes sure that no twin of a name is on a server.

    Raises:
        TwinExistsError: There is one.
        BusError: The server cannot be used.
    """
    keys = Keys(twin)
    with in_our_words(where_is(client)):
        if not client.hexists(keys.identity, "epoch"):
            return
        since = _text(client.hget(keys.identity, "created")) or "a moment ago"
    raise TwinExistsError(
        f"a twin named {twin!r} is on this Redis server since {since}: "
        f"end it with `fabrictwin down --twin {twin}`, or give this one another name"
    )


def join_twin(
    client: redis.Redis, twin: str, scenario_sha256: str | None = None, *, wait_s: float = 0.0
) -> Identity:
    """Whose the keys of a twin are, once it exists.

    Args:
        client: The server.
        twin: Its name.
        scenario_sha256: The scenario that it must run; None: whichever it runs.
        wait_s: How long to wait for it to be created.

    Raises:
        NotOursError: There is no such twin, or it is of another schema, version or scenario.
        BusError: The server cannot be used.
    """
    deadline = monotonic() + wait_s
    while (identity := _read_identity(client, twin)) is None:
        if monotonic() >= deadline:
            raise NotOursError(f"there is no twin named {twin!r} on this Redis server")
        sleep(_POLL_S)
    wanted = Identity(SCHEMA, VERSION, scenario_sha256 or identity.scenario_sha256, identity.epoch)
    for name, have, want in zip(Identity._fields, identity, wanted, strict=True):
        if have != want:
            raise NotOursError(f"the twin {twin!r} on this Redis server has {name} {have}, not {want}")
    return identity


def delete_twin(client: redis.Redis, twin: str) -> int:
    """Removes every key of a twin; returns how many there were.

    Raises:
        BusError: The server cannot be used.
    """
    keys = Keys(twin)
    removed = 0
    with in_our_words(where_is(client)):
        batch: list[bytes] = []
        for key in client.scan_iter(match=keys.prefix + "*", count=_SCAN_BATCH):
            batch.append(key)
            if len(batch) == _SCAN_BATCH:
                removed += int(client.unlink(*batch))
                batch.clear()
        if batch:
            removed += int(client.unlink(*batch))
    return removed


def list_twins(client: redis.Redis) -> list[str]:
    """Names of the twins on a server, sorted."""
    pattern = Keys("x").identity.replace("x", "*", 1)
    with in_our_words(where_is(client)):
        found = [_text(key) for key in client.scan_iter(match=pattern, count=_SCAN_BATCH)]
    head, tail = pattern.split("*")
    return sorted(key.removeprefix(head).removesuffix(tail) for key in found)


def _read_identity(client: redis.Redis, twin: str) -> Identity | None:
    """None: there is no such twin, or it is just being created."""
    with in_our_words(where_is(client)):
        values = client.hmget(Keys(twin).identity, Identity._fields)
    return None if None in values else Identity(*map(_text, values))


def _text(value: bytes | str | None) -> str:
    return value.decode() if isinstance(value, bytes) else value or ""
