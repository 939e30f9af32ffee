# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: what a logical process needs to go on from a fabric time, kept in Redis.

A checkpoint is one hash, ``ft:{<twin>}:ckpt:<process>``. Its field ``head`` is JSON and says what it is of
and what belongs to it; each other field is an array, raw, little-endian. It is written in one transaction, so
there is always the old one or the new one. Plain data only: nothing in it can run code.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep, time
from typing import Any, cast

import numpy as np
import redis
from redis import exceptions

from fabrictwin.engine.snapshot import layout_sha256
from fabrictwin.errors import FabricTwinError
from fabrictwin.runtime.bus import Cursor
from fabrictwin.runtime.bus.redis_link import LOST
from fabrictwin.runtime.bus.server import explain, in_our_words, where_is
from fabrictwin.runtime.bus.twin import Identity, Keys
from fabrictwin.runtime.records import read_dtype

SCHEMA = "fabrictwin.checkpoint/1"
RETRY_S = 5.0
"""How long a server may be away while a checkpoint is written."""
_PAUSE_S = 0.1
_HEAD = "head"


class CheckpointError(FabricTwinError):
    """A checkpoint that this process cannot go on from: it must not guess."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a logical process puts aside of itself.

    Attributes:
        plain: Values that JSON can hold.
        arrays: Arrays of one dimension, by name; nobody else writes to them.
    """

    plain: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A logical process between two steps.

    Attributes:
        reached_ps: Fabric time that it had reached.
        granted_ps: How far the director let it go.
        cursors: How far it had heard each incoming channel.
        snapshot: What it was.
    """

    reached_ps: int
    granted_ps: int
    cursors: Mapping[str, Cursor]
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class CheckpointAge:
    """When a checkpoint was made.

    Attributes:
        reached_ps: Fabric time of it.
        at_s: Wall time of it, seconds since 1970.
        size_bytes: Its size.
    """

    reached_ps: int
    at_s: float
    size_bytes: int


class CheckpointStore:
    """The checkpoints of a twin.

    Args:
        client: Of the Redis server; replies are bytes.
        twin: Name of the twin.
        identity: Whose the keys are.
    """

    def __init__(self, client: redis.Redis, twin: str, identity: Identity) -> None:
        self._redis = client
        self._keys = Keys(twin)
        self._identity = identity

    def save(self, process: str, checkpoint: Checkpoint) -> CheckpointAge:
        """Replaces the checkpoint of a process; the old one stands until the new one is whole.

        Raises:
            BusError: The server cannot be used.
        """
        fields = pack_checkpoint(process, checkpoint, self._identity)
        size = sum(len(data) for data in fields.values())
        age = CheckpointAge(checkpoint.reached_ps, time(), size)
        shown = json.dumps({"reached_ps": age.reached_ps, "at_s": age.at_s, "size_bytes": size})
        deadline = monotonic() + RETRY_S
        while True:
            try:
                with self._redis.pipeline(transaction=True) as pipe:
                    pipe.delete(self._keys.checkpoint(process))
                    pipe.hset(self._keys.checkpoint(process), mapping=cast(Any, fields))
                    pipe.hset(self._keys.checkpoints, process, shown)
                    pipe.execute()
                return age
            except exceptions.RedisError as error:
                # Writing it twice changes nothing.
                if not isinstance(error, LOST) or monotonic() >= deadline:
                    raise explain(error, where_is(self._redis)) from error
            sleep(_PAUSE_S)

    def load(self, process: str) -> Checkpoint | None:
        """The checkpoint of a process; None: it has none.

        Raises:
            CheckpointError: It is damaged, or not of this scenario, version or process.
            BusError: The server cannot be used.
        """
        with in_our_words(where_is(self._redis)):
            raw = cast(dict[bytes, bytes], self._redis.hgetall(self._keys.checkpoint(process)))
        fields = {name.decode(): data for name, data in raw.items()}
        return unpack_checkpoint(process, fields, self._identity) if fields else None


def pack_checkpoint(process: str, checkpoint: Checkpoint, identity: Identity) -> dict[str, Any]:
    """The fields of a checkpoint."""
    arrays = checkpoint.snapshot.arrays
    data = {name: array.tobytes() for name, array in arrays.items()}
    head = {
        **_belonging(process, identity),
        "reached_ps": checkpoint.reached_ps,
        "granted_ps": checkpoint.granted_ps,
        "cursors": checkpoint.cursors,
        "plain": checkpoint.snapshot.plain,
        "arrays": {
            name: {"dtype": np.lib.format.dtype_to_descr(array.dtype), "crc32": zlib.crc32(data[name])}
            for name, array in arrays.items()
        },
    }
    text = json.dumps(head).encode()
    return {_HEAD: b"%08x%s" % (zlib.crc32(text), text), **data}


def unpack_checkpoint(process: str, fields: Mapping[str, bytes], identity: Identity) -> Checkpoint:
    """The checkpoint that some fields hold.

    Raises:
        CheckpointError: It is damaged, or not of this scenario, version or process.
    """
    head = _read_head(fields.get(_HEAD, b""))
    for name, wanted in _belonging(process, identity).items():
        if head.get(name) != wanted:
            raise CheckpointError(
                f"the checkpoint of {process} has {name} {str(head.get(name))[:80]}, not {wanted}: "
                "end this twin and begin it anew"
            )
    arrays = {name: _read_array(name, entry, fields) for name, entry in head["arrays"].items()}
    cursors = {sender: Cursor(*values) for sender, values in head["cursors"].items()}
    snapshot = Snapshot(head["plain"], arrays)
    return Checkpoint(head["reached_ps"], head["granted_ps"], cursors, snapshot)


def _belonging(process: str, identity: Identity) -> dict[str, str]:
    """What a checkpoint must be of, to be taken up here."""
    return {
        "schema": SCHEMA,
        "process": process,
        "version": identity.version,
        "layout_sha256": layout_sha256(),
        "scenario_sha256": identity.scenario_sha256,
        "epoch": identity.epoch,
    }


def _read_head(packed: bytes) -> dict[str, Any]:
    text = packed[8:]
    if packed[:8] != b"%08x" % zlib.crc32(text):
        raise CheckpointError("a checkpoint whose head is damaged: its checksum is another")
    head: dict[str, Any] = json.loads(text)
    return head


def _read_array(name: str, entry: Mapping[str, Any], fields: Mapping[str, bytes]) -> np.ndarray:
    data = fields.get(name)
    if data is None or zlib.crc32(data) != entry["crc32"]:
        raise CheckpointError(f"a checkpoint whose array {name!r} is damaged: its checksum is another")
    return np.frombuffer(data, read_dtype(entry["dtype"]))
