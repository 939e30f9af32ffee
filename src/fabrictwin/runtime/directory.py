# SPDX-License-Identifier: Apache-2.0
"""What the services of one twin know of each other, in Redis: the scenario, and who listens where.

``ft:{<twin>}:twin`` is a hash that the director writes once; ``ft:{<twin>}:services`` has a field a process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import cast

import redis

from fabrictwin.runtime.bus.server import in_our_words, where_is
from fabrictwin.runtime.bus.twin import Identity, Keys, create_twin, join_twin
from fabrictwin.runtime.checkpoint import CheckpointAge
from fabrictwin.runtime.scenario_source import ScenarioSource

_IMPORTED = "imported:"


@dataclass(frozen=True, slots=True)
class TwinRecord:
    """What the director says about a twin.

    Attributes:
        identity: Whose the keys are.
        source: The scenario.
    """

    identity: Identity
    source: ScenarioSource


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """Where a process listens.

    Attributes:
        service: Name of the service: switch_node, ….
        address: host:port of its gRPC server.
        metrics_address: host:port of its Prometheus endpoint.
        pid: Its process number.
        version: Its version.
        error: Why it has failed; empty if it has not.
    """

    service: str
    address: str
    metrics_address: str
    pid: int
    version: str
    error: str = ""


class TwinDirectory:
    """The directory of one twin.

    Args:
        client: Of the Redis server; replies are bytes.
        twin: Name of the twin.
    """

    def __init__(self, client: redis.Redis, twin: str) -> None:
        self._redis = client
        self._twin = twin
        self._keys = Keys(twin)

    def publish(
        self, source: ScenarioSource, scenario_sha256: str, channels: Iterable[tuple[str, str]]
    ) -> Identity:
        """Begins the twin, so that the services can begin with its scenario.

        Args:
            source: The scenario.
            scenario_sha256: Hash of it and of what it imports.
            channels: (sender, receiver) of every channel of the bus.

        Returns:
            Whose the keys are from now on.

        Raises:
            TwinExistsError: There is one of this name.
            BusError: The server cannot be used.
        """
        fields: dict[str, str | bytes] = {"file": source.file, "scenario": source.text}
        fields |= {_IMPORTED + name: data for name, data in source.imported.items()}
        return create_twin(self._redis, self._twin, scenario_sha256, channels, fields)

    def read(self) -> TwinRecord | None:
        """What the director has published; None: nothing yet.

        Raises:
            NotOursError: It is of another version.
            BusError: The server cannot be used.
        """
        with in_our_words(where_is(self._redis)):
            fields = cast(dict[bytes, bytes], self._redis.hgetall(self._keys.identity))
        if b"scenario" not in fields:
            return None
        identity = join_twin(self._redis, self._twin)
        imported = {
            name.decode().removeprefix(_IMPORTED): data
            for name, data in fields.items()
            if name.startswith(_IMPORTED.encode())
        }
        source = ScenarioSource(fields[b"scenario"].decode(), fields[b"file"].decode(), imported)
        return TwinRecord(identity, source)

    def announce(self, process: str, record: ServiceRecord) -> None:
        """Says where a process listens, and how it is."""
        with in_our_words(where_is(self._redis)):
            self._redis.hset(self._keys.services, process, json.dumps(asdict(record)))

    def check_writable(self) -> None:
        """Whether what has to be said can be said.

        Raises:
            BusError: The server cannot be used, or takes no writes.
        """
        with in_our_words(where_is(self._redis)):
            # Refused like any write that needs memory, though it writes nothing: there is no such key.
            self._redis.set(self._keys.probe, b"", xx=True)

    def withdraw(self, process: str) -> None:
        """A process has ended as it should."""
        with in_our_words(where_is(self._redis)):
            self._redis.hdel(self._keys.services, process)

    def services(self) -> dict[str, ServiceRecord]:
        """Every process that has said where it listens, by the name of its logical process."""
        with in_our_words(where_is(self._redis)):
            fields = cast(dict[bytes, bytes], self._redis.hgetall(self._keys.services))
        return {name.decode(): ServiceRecord(**json.loads(text)) for name, text in fields.items()}

    def checkpoints(self) -> dict[str, CheckpointAge]:
        """When the last checkpoint of each process was made that has one."""
        with in_our_words(where_is(self._redis)):
            fields = cast(dict[bytes, bytes], self._redis.hgetall(self._keys.checkpoints))
        return {name.decode(): CheckpointAge(**json.loads(text)) for name, text in fields.items()}
