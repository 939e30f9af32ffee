# SPDX-License-Identifier: Apache-2.0
"""Reading along: what was said on a channel, without being one of its ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import redis

from fabrictwin.errors import InputError, nearest
from fabrictwin.runtime.bus.redis_channel import FIELD
from fabrictwin.runtime.bus.server import in_our_words, where_is
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.convert import WindowData, decode

_PAGE = 256


class Said(NamedTuple):
    """One entry of a channel.

    Attributes:
        entry_id: Its ID.
        window: What it holds.
    """

    entry_id: str
    window: WindowData


def list_channels(client: redis.Redis, keys: Keys) -> list[str]:
    """``<from>:<to>`` of every channel of a twin, sorted."""
    head = keys.channel("", "").rstrip(":") + ":"
    with in_our_words(where_is(client)):
        found = [cast(bytes, key).decode() for key in client.scan_iter(match=head + "*", count=1000)]
    return sorted(key.removeprefix(head) for key in found)


def read_channel(
    client: redis.Redis, keys: Keys, channel: str, from_ns: int | None = None, to_ns: int | None = None
) -> Iterator[Said]:
    """What a channel still holds, in order.

    Args:
        client: The server.
        keys: The twin's keys.
        channel: ``<from>:<to>``.
        from_ns: First promise to read; None: the oldest that is still there.
        to_ns: Last promise to read; None: the newest.

    Raises:
        InputError: There is no such channel.
        BusError: The server cannot be used, or an entry cannot be decoded.
    """
    sender, _, receiver = channel.partition(":")
    key = keys.channel(sender, receiver)
    where = where_is(client)
    with in_our_words(where):
        is_there = client.exists(key)
    if not is_there:
        names = list_channels(client, keys)
        raise InputError.of(
            f"{channel!r} is not a channel of the twin {keys.twin!r}{nearest(channel, names)}"
        )
    first = "-" if from_ns is None else str(from_ns)
    last = "+" if to_ns is None else str(to_ns)
    while True:
        with in_our_words(where):
            page = cast(list[tuple[bytes, dict[bytes, bytes]]], client.xrange(key, first, last, count=_PAGE))
        for entry_id, fields in page:
            yield Said(entry_id.decode(), decode(fields[FIELD]))
        if len(page) < _PAGE:
            return
        first = f"({page[-1][0].decode()}"
