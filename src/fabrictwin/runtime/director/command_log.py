# SPDX-License-Identifier: Apache-2.0
"""The command log: what people have done to a twin, as JSON lines with the fabric time of each.

A command is written before it takes effect; ``fabrictwin simulate --commands`` replays the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

from fabrictwin.runtime.version import VERSION
from fabrictwin.units import PS_PER_NS

SCHEMA = "fabrictwin.commands/1"


class CommandLog:
    """The log of one twin.

    Args:
        scenario_sha256: Hash of its scenario.
    """

    def __init__(self, scenario_sha256: str) -> None:
        header = {"schema": SCHEMA, "scenario_sha256": scenario_sha256, "version": VERSION}
        self._lines = [_line(header)]
        self._lock = Lock()

    def add(self, at_ps: int, by: str, do: str, arguments: Mapping[str, Any]) -> bytes:
        """Writes a command down; returns its line, without the line feed.

        Args:
            at_ps: Fabric time at which it takes effect, full nanoseconds.
            by: Who wants it.
            do: What it does: fault.inject, fault.clear, workload.start, workload.stop, sm.handover, sm.sweep.
            arguments: The rest.
        """
        with self._lock:
            command = {"at_ns": at_ps // PS_PER_NS, "seq": len(self._lines), "by": by, "do": do}
            line = _line({**command, **arguments})
            self._lines.append(line)
        return line

    def text(self) -> bytes:
        """The whole log."""
        with self._lock:
            return b"".join(line + b"\n" for line in self._lines)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
