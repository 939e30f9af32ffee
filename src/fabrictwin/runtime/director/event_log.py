# SPDX-License-Identifier: Apache-2.0
"""What has happened in a twin, in the order in which the director heard of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any

from fabrictwin.runtime.director.changes import Changes

MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """Something that happened.

    Attributes:
        sequence: Its number, from 1.
        at_ps: Fabric time.
        source: Who says so.
        kind: What kind.
        text: In words.
        node: Name of the node that it is about.
        port: Number of the port that it is about; 0: none.
    """

    sequence: int
    at_ps: int
    source: str
    kind: str
    text: str = ""
    node: str = ""
    port: int = 0


class EventLog:
    """The last events of a twin.

    Args:
        changes: Rung at every event.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._events: deque[LoggedEvent] = deque(maxlen=MOST_KEPT)
        self._lock = Lock()
        self.last = 0

    def add(
        self, at_ps: int, source: str, kind: str, text: str = "", node: str = "", port: int = 0
    ) -> LoggedEvent:
        """Writes an event down."""
        with self._lock:
            self.last += 1
            event = LoggedEvent(self.last, at_ps, source, kind, text, node, port)
            self._events.append(event)
        self._changes.ring()
        return event

    def hear(self, at_ps: int, event: Mapping[str, Any]) -> None:
        """Writes down what a process has said: a line as in the result."""
        known = ("fabric_ns", "source", "kind", "text", "node", "port")
        rest = " ".join(f"{key}={value}" for key, value in event.items() if key not in known)
        self.add(
            at_ps,
            str(event["source"]),
            str(event["kind"]),
            str(event.get("text", rest)),
            str(event.get("node", "")),
            int(event.get("port", 0)),
        )

    def since(self, first: int) -> list[LoggedEvent]:
        """Events from a number on, as far as they are kept."""
        with self._lock:
            skipped = max(0, first - (self.last - len(self._events) + 1))
            return list(islice(self._events, skipped, None))
