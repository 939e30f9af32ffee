# SPDX-License-Identifier: Apache-2.0
"""Who is master of a subnet, from what the subnet managers have said in the event log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from fabrictwin.drills.events import Event
from fabrictwin.drills.look import event_ps
from fabrictwin.model.scenario import Scenario

_STATE = re.compile(r"(?:SM on (\S+): )?([A-Z_]+) \(")
_MASTER = "MASTER"


def masters_of(scenario: Scenario, events: Iterable[Event]) -> set[str]:
    """Hosts of the subnet managers that are master at the end of some events."""
    first = _first_master(scenario)
    masters = set(first)
    for event in events:
        _follow(masters, event, first)
    return masters


def most_masters(scenario: Scenario, events: Iterable[Event]) -> int:
    """The most masters that there were behind any instant."""
    first = _first_master(scenario)
    masters, most = set(first), len(first)
    for _, together in groupby(events, key=event_ps):
        for event in together:
            _follow(masters, event, first)
        most = max(most, len(masters))
    return most


def _first_master(scenario: Scenario) -> set[str]:
    """The one that is master at the start: the highest-ranking one."""
    managers = scenario.managers
    if not managers:
        return set()
    return {scenario.fabric.nodes[max(managers, key=lambda manager: manager.rank).node].name}


def _follow(masters: set[str], event: Event, only: set[str]) -> None:
    """Takes in an event; a manager without others does not say its host."""
    match = _STATE.match(event.get("text", "")) if event["kind"] == "sm_state" else None
    if match is None:
        return
    hosts = {match[1]} if match[1] else only
    if match[2] == _MASTER:
        masters |= hosts
    else:
        masters -= hosts
