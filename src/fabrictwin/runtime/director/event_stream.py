# SPDX-License-Identifier: Apache-2.0
"""The event log as a Redis stream, for those who watch without asking the director."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Any

import redis

from fabrictwin.runtime.bus.server import in_our_words, where_is
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.director.event_log import EventLog, LoggedEvent
from fabrictwin.runtime.director.state import Twin

MOST_IN_STREAM = 10_000
LONGEST_WAIT_S = 1.0


async def publish_events(client: redis.Redis, twin: Twin) -> None:
    """Writes every event of a twin to ``ft:{<twin>}:events``, field ``e``, JSON; until it is cancelled."""
    written = 0
    while True:
        written = await asyncio.to_thread(_write, client, Keys(twin.name).events, twin.events, written)
        await twin.changes.wait(LONGEST_WAIT_S)


def _write(client: redis.Redis, stream: str, log: EventLog, written: int) -> int:
    """Adds what is new; returns the number of the last event written."""
    events = log.since(written + 1)
    if not events:
        return written
    with in_our_words(where_is(client)), client.pipeline(transaction=False) as pipe:
        for event in events:
            pipe.xadd(stream, {"e": _encode(event)}, maxlen=MOST_IN_STREAM, approximate=True)
        pipe.execute()
    return events[-1].sequence


def _encode(event: LoggedEvent) -> str:
    fields: dict[str, Any] = asdict(event)
    return json.dumps(fields)
