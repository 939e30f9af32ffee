# SPDX-License-Identifier: Apache-2.0
"""Probes and actions for Chaos Toolkit, as ``fabrictwin drill export`` writes them into an experiment.

One process of ``chaos`` runs one experiment: what it has injected and seen so far is kept here, by the
address of the director.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import grpc

from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.drills.actions import ACTIONS, Hands
from fabrictwin.drills.look import Look, Span
from fabrictwin.drills.probes import PROBES, Measurement
from fabrictwin.drills.tolerance import Value
from fabrictwin.drills.twin import Twin
from fabrictwin.errors import InputError, nearest
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.units import PS_PER_US, parse_time_ps

DIRECTOR_KEY = "fabrictwin_director"
OWNER = "chaostoolkit"
FIRST_SPAN_PS = 100 * PS_PER_US
LARGEST_RESULT_BYTES = 64 << 20


@dataclass
class _Bench:
    """A twin, what was done to it, and what was seen of it."""

    hands: Hands
    scenario: Scenario
    looks: list[Look] = field(default_factory=list)

    def look(self) -> None:
        """Looks at it, if fabric time has gone on since the last look."""
        self.hands.twin.pause()
        look = self.hands.twin.look()
        if not self.looks or look.at_ps > self.looks[-1].at_ps:
            self.looks.append(look)

    def advance(self, span_ps: int) -> None:
        """Lets it go on for a span of fabric time."""
        self.look()
        self.hands.twin.go_to(self.looks[-1].at_ps + span_ps)
        self.look()


@cache
def _bench(director: str) -> _Bench:
    channel = grpc.insecure_channel(director, [("grpc.max_receive_message_length", LARGEST_RESULT_BYTES)])
    twin = Twin(DirectorStub(channel), lambda: False)
    return _Bench(Hands(twin, None, OWNER, 0), parse_scenario(twin.scenario()))


def _of(configuration: Mapping[str, Any] | None) -> _Bench:
    address = (configuration or {}).get(DIRECTOR_KEY)
    if not address:
        raise InputError.of(f"the configuration has no {DIRECTOR_KEY!r}: host:port of the twin's director")
    return _bench(str(address))


def advance(fabric_time: str, configuration: Mapping[str, Any] | None = None) -> int:
    """Lets fabric time go on by a span, e.g. ``2ms``; returns it in ps."""
    bench = _of(configuration)
    bench.advance(parse_time_ps(fabric_time))
    return bench.looks[-1].at_ps


def measure(
    probe: str,
    arguments: Mapping[str, Any],
    since: str = "look",
    configuration: Mapping[str, Any] | None = None,
) -> Value:
    """The value of a probe.

    Args:
        probe: Row of the table of probes.
        arguments: Its arguments.
        since: Whether counters count since the ``look`` before, or since the ``start``.
        configuration: Says where the director is.

    Raises:
        InputError: There is no such probe.
    """
    if probe not in PROBES:
        raise InputError.of(f"no probe {probe!r}{nearest(probe, PROBES)}")
    bench = _of(configuration)
    bench.look()
    if len(bench.looks) < 2:
        bench.advance(FIRST_SPAN_PS)
    recent = Span(bench.looks[-2], bench.looks[-1])
    whole = recent if since == "look" else Span(bench.looks[0], bench.looks[-1])
    row = PROBES[probe]
    given = row.arguments.model_validate(dict(arguments))
    return row.measure(given, Measurement(recent, whole, bench.scenario))


def act(
    action: str,
    name: str,
    arguments: Mapping[str, Any],
    lease: str = "50ms",
    configuration: Mapping[str, Any] | None = None,
) -> str:
    """Does an action; raises what the twin says if it refuses, which fails the activity.

    Args:
        action: Row of the table of actions.
        name: Name of the activity, by which it can be undone.
        arguments: Its arguments.
        lease: Fabric time after which a fault ends by itself.
        configuration: Says where the director is.

    Returns:
        What the twin has said.

    Raises:
        InputError: There is no such action.
        RefusedError: The twin refuses it.
    """
    if action not in ACTIONS:
        raise InputError.of(f"no action {action!r}{nearest(action, ACTIONS)}")
    hands = _of(configuration).hands
    hands.lease_ps = parse_time_ps(lease)
    row = ACTIONS[action]
    given = dict(arguments) if row.arguments is None else row.arguments.model_validate(dict(arguments))
    return row.act(name, given, hands).text
