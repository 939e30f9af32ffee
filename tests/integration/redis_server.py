# SPDX-License-Identifier: Apache-2.0
"""A real Redis server for a test, and twins on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus.redis_bus import RedisBus, Retention
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys, create_twin
from fabrictwin.runtime.convert import WindowData, encode
from fabrictwin.runtime.embedded_redis import EmbeddedRedis

TWIN = "test-twin"
Channels = tuple[tuple[str, str], ...]
PAIR: Channels = (("a", "b"), ("b", "a"))


@dataclass
class TwinOnServer:
    """A twin; without other channels one of two logical processes, ``a`` and ``b``."""

    server: EmbeddedRedis
    client: redis.Redis
    keys: Keys
    epoch: str
    channels: Channels

    def end(self, name: str, retention: Retention | None = None) -> RedisBus:
        return RedisBus(self.client, self.keys, self.epoch, name, self.channels, retention=retention)

    def length(self, sender: str, receiver: str) -> int:
        return int(self.client.xlen(self.keys.channel(sender, receiver)))


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    with TemporaryDirectory(prefix="ft") as name:
        yield Path(name)


@contextmanager
def twin_on_server(channels: Channels = PAIR) -> Iterator[TwinOnServer]:
    with short_folder() as folder, EmbeddedRedis(folder) as server:
        client = connect(server.url)
        identity = create_twin(client, TWIN, "sha", channels)
        yield TwinOnServer(server, client, Keys(TWIN), identity.epoch, channels)
        client.close()


def entry(sequence: int, promise_ps: int) -> Entry:
    return Entry(promise_ps, encode(WindowData(promise_ps, promise_ps, 0), sequence))


def entries(first: int, last: int, step_ps: int = 1000) -> list[Entry]:
    return [entry(number, number * step_ps) for number in range(first, last + 1)]
