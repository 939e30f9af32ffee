# SPDX-License-Identifier: Apache-2.0
"""What a twin is like at one fabric time, and what has gone on between two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabrictwin.units import PS_PER_NS, PS_PER_S

EVERY = "*"


@dataclass(frozen=True)
class Look:
    """What a twin says of itself while it stands.

    Attributes:
        at_ps: Fabric time.
        wall_s: Wall time, seconds since the epoch.
        result: Its result so far, ``fabrictwin.result/1``.
        active_faults: Ids of the faults that are active.
        stopped: Why it has stopped; empty if it has not.
    """

    at_ps: int
    wall_s: float
    result: Mapping[str, Any] = field(repr=False)
    active_faults: tuple[str, ...] = ()
    stopped: str = ""

    @cached_property
    def ports(self) -> dict[str, dict[str, Any]]:
        """Every port that has a cable, by ``node/port``."""
        rows = self.result["ports"]
        return {f"{row['node']}/{row['port']}": row for row in rows if row["peer"] is not None}

    @cached_property
    def flows(self) -> dict[str, dict[str, Any]]:
        """Every flow by its name."""
        return {row["name"]: row for row in self.result["flows"]}

    @cached_property
    def jobs(self) -> dict[str, dict[str, Any]]:
        """Every job by its name."""
        return {row["name"]: row for row in self.result["jobs"]}

    @property
    def events(self) -> list[dict[str, Any]]:
        """What has happened so far, in order of fabric time."""
        return list(self.result["events"])

    @property
    def ports_down(self) -> list[str]:
        """Ports whose cable is down."""
        return [name for name, row in self.ports.items() if row["state"] == "down"]


def event_ps(event: Mapping[str, Any]) -> int:
    """Fabric time of an event of a result."""
    return round(float(event["fabric_ns"]) * PS_PER_NS)


@dataclass(frozen=True, slots=True)
class Span:
    """What has gone on between two looks.

    Attributes:
        first: The earlier look.
        last: The later look.
    """

    first: Look
    last: Look

    @property
    def length_ps(self) -> int:
        """Fabric time between them."""
        return self.last.at_ps - self.first.at_ps

    def rate_bps(self, size_bytes: float) -> float:
        """The rate at which so much has gone in it."""
        return 8 * size_bytes * PS_PER_S / self.length_ps if self.length_ps > 0 else 0.0

    def flow_growth(self, name: str, what: str) -> float:
        """By how much a number of a flow has grown; a flow that was added began at 0."""
        before = self.first.flows.get(name, {}).get(what, 0)
        return float(self.last.flows[name][what] - before)

    def port_growth(self, name: str, what: str) -> float:
        """By how much a counter of a port has grown."""
        return float(self.last.ports[name][what] - self.first.ports[name][what])

    def goodput_bps(self, name: str) -> float:
        """Rate at which payload of a flow was delivered in order."""
        return self.rate_bps(self.flow_growth(name, "bytes"))

    def events(self) -> list[dict[str, Any]]:
        """What has happened in it."""
        return [event for event in self.last.events if self.first.at_ps <= event_ps(event)]


def chosen(names: Mapping[str, Any], selector: str) -> list[str]:
    """The names that a selector means: one, all of them, or those that begin alike (``shift:*``)."""
    if selector.endswith(EVERY):
        return [name for name in names if name.startswith(selector[:-1])]
    return [selector] if selector in names else []
