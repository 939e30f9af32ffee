# SPDX-License-Identifier: Apache-2.0
"""Reads probes, actions and signs of a drill, and holds every name in them against the scenario."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fabrictwin.drills.actions import ACTIONS, UNDOES, ActionArguments, ManagerArguments, fault_entry
from fabrictwin.drills.drill import Activity, Sign
from fabrictwin.drills.events import EVENT_KINDS
from fabrictwin.drills.keys import ActivityKeys, EventSignKeys, PausesKeys, ProbeSignKeys, ProviderKeys
from fabrictwin.drills.look import EVERY
from fabrictwin.drills.probes import PROBES
from fabrictwin.drills.tolerance import read_tolerance
from fabrictwin.errors import InputError
from fabrictwin.model.command import Command, apply_command
from fabrictwin.model.quantities import Spec, show_value
from fabrictwin.model.result_fields import RESULT_FIELDS
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.section import Section
from fabrictwin.units import PS_PER_MS

_GIVEN = {"inject_fault": ("at", "name"), "start_workload": ("start", "name")}
"""Keys of entries that the runner gives."""


class Names:
    """The names that a drill may use: those of its scenario, and of what its actions add.

    Args:
        scenario: The scenario; None: it could not be read, and nothing is held against it.

    Attributes:
        scenario: The same.
        actions: Row of the table of actions, by the name of each action so far.
        activities: Names of all activities so far.
    """

    def __init__(self, scenario: Scenario | None) -> None:
        self.scenario = scenario
        self.actions: dict[str, str] = {}
        self.activities: set[str] = set()
        self._valid: dict[str, Collection[str]] = {
            "event": EVENT_KINDS,
            "counter": [
                name
                for name in RESULT_FIELDS["ports"].below
                if name not in ("node", "port", "guid", "peer", "rate_bps", "state")
            ],
            "total": list(RESULT_FIELDS["totals"].below),
        }
        if scenario is not None:
            self._take(scenario)

    def _take(self, scenario: Scenario) -> None:
        fabric, deployment = scenario.fabric, scenario.deployment
        self._valid |= {
            "flow": [flow.name for job in scenario.jobs for flow in job.flows],
            "job": [job.name for job in scenario.jobs],
            "port": [fabric.port_name(port) for port in fabric.link_at],
            "node": [node.name for node in fabric.nodes],
            "service": [
                *(f"switch{number}" for number in range(deployment.switch_shards)),
                *(f"hca{number}" for number in range(deployment.hca_shards)),
                *(f"sm{number}" for number in range(len(scenario.managers))),
                "cc",
            ],
        }

    def add(self, section: Section, name: str) -> None:
        """Takes the name of an activity, which must be the only one of it."""
        if name in self.activities:
            section.refuse(f"a second activity with the name {name!r}", "name")
        self.activities.add(name)

    def check(self, section: Section, what: str, name: str, *keys: str | int) -> None:
        """Notes a name that means nothing."""
        valid = self._valid.get(what)
        if valid is None or not name:
            return
        if name.endswith(EVERY) and what in ("flow", "job", "port"):
            if not any(other.startswith(name[:-1]) for other in valid):
                section.refuse(f"no {what} begins with {name[:-1]!r}", *keys)
        elif name not in valid:
            section.refuse_name(what, name, valid, *keys)

    def check_all(self, section: Section, arguments: Spec) -> None:
        """Notes every name in some arguments that means nothing."""
        for key, value in arguments.model_dump().items():
            if key == "ports":
                for index, port in enumerate(value):
                    self.check(section, "port", port, key, index)
            elif key in ("flow", "job", "port", "event", "node", "counter", "total", "service"):
                self.check(section, key, value, key)

    def check_entry(self, section: Section, func: str, entry: dict[str, Any]) -> None:
        """Notes every problem of a fault or a workload, by doing it to the scenario."""
        is_fault = func == "inject_fault"
        do, key = ("fault.inject", "fault") if is_fault else ("workload.start", "workload")
        given = [name for name in _GIVEN[func] if name in entry]
        for name in given:
            section.refuse(f"{name!r} is given by the drill: leave it out", name)
        if given or self.scenario is None:
            return
        entry = fault_entry(entry, PS_PER_MS) if is_fault else entry
        label = "id" if is_fault else "name"
        try:
            after = apply_command(self.scenario, Command(0, do, {label: "drilled", key: entry}))
        except InputError as error:
            for problem in error.problems:
                place = problem.field.removeprefix("[0]").lstrip(".").partition("[")[0]
                section.refuse(problem.message, *([place] if place in entry else []))
            return
        if not is_fault:
            added = after.jobs[-1]
            # Its name is given when it is started: the kind and a number.
            flows = [flow.name.replace("drilled", f"{added.kind}-1", 1) for flow in added.flows]
            self._valid["flow"] = [*self._valid["flow"], *flows]
            self._valid["job"] = [*self._valid["job"], f"{added.kind}-1"]


def read_activities(
    section: Section, names: Names, *, only: str = "", wants_tolerance: bool = False
) -> tuple[Activity, ...]:
    """The activities of a list; problems are noted there.

    Args:
        section: The list.
        names: The names that they may use; takes those that they add.
        only: ``probe`` or ``action``, where the other has no place.
        wants_tolerance: Whether a probe needs one.
    """
    activities = []
    for entry in section.read_list():
        if section.is_full:
            break
        keys = entry.read(ActivityKeys)
        if keys is None:
            continue
        if only and keys.type != only:
            entry.refuse(f"expected {only!r} here, got {keys.type!r}", "type")
            continue
        names.add(entry, keys.name)
        pauses = PausesKeys() if keys.pauses is None else entry.at("pauses").read(PausesKeys)
        if keys.type == "probe":
            activity = _read_probe(entry, keys.name, names, wants_tolerance)
        else:
            activity = _read_action(entry, keys, names)
        if activity is not None and pauses is not None:
            func, arguments, tolerance = activity
            activities.append(
                Activity(
                    keys.name,
                    func,
                    arguments,
                    keys.type == "action",
                    tolerance,
                    pauses.before,
                    pauses.after,
                )
            )
    return tuple(activities)


def _read_provider(entry: Section, what: str, table: Collection[str]) -> ProviderKeys | None:
    keys = entry.at("provider").read(ProviderKeys)
    if keys is not None and keys.func not in table:
        entry.refuse_name(what, keys.func, table, "provider", "func")
        return None
    return keys


def _read_probe(
    entry: Section, name: str, names: Names, wants_tolerance: bool
) -> tuple[str, Any, Any] | None:
    keys = _read_provider(entry, "probe", PROBES)
    if keys is None:
        return None
    probe, place = PROBES[keys.func], entry.at("provider", "arguments")
    arguments = place.read(probe.arguments, {} if keys.arguments is None else ...)
    if arguments is None:
        return None
    names.check_all(place, arguments)
    if "tolerance" not in entry.value:
        if wants_tolerance:
            entry.refuse(f"required key 'tolerance' is missing: what {name!r} has to be", "tolerance")
        return keys.func, arguments, None
    tolerance = read_tolerance(entry.at("tolerance"), probe.unit)
    return None if tolerance is None else (keys.func, arguments, tolerance)


def _read_action(entry: Section, keys: ActivityKeys, names: Names) -> tuple[str, Any, Any] | None:
    if keys.tolerance is not None:
        entry.refuse("an action has no tolerance", "tolerance")
    provider = _read_provider(entry, "action", ACTIONS)
    if provider is None:
        return None
    action, place = ACTIONS[provider.func], entry.at("provider", "arguments")
    if action.arguments is None:
        if not isinstance(place.value, dict):
            place.refuse(f"expected a mapping with the key 'kind', got {show_value(place.value)}")
            return None
        names.check_entry(place, provider.func, place.value)
        names.actions[keys.name] = provider.func
        return provider.func, place.value, None
    arguments = place.read(action.arguments, {} if provider.arguments is None else ...)
    if arguments is None:
        return None
    names.check_all(place, arguments)
    _check_reference(place, provider.func, arguments, names)
    names.actions[keys.name] = provider.func
    return provider.func, arguments, None


def _check_reference(place: Section, func: str, arguments: Spec, names: Names) -> None:
    """Notes an action that is undone and was not done, and a manager that there is not."""
    if isinstance(arguments, ActionArguments):
        done = [name for name, other in names.actions.items() if other == UNDOES[func]]
        if arguments.action not in done:
            place.refuse_name(f"action of {UNDOES[func]!r} before this one", arguments.action, done, "action")
    if isinstance(arguments, ManagerArguments) and names.scenario is not None:
        count = len(names.scenario.managers)
        if arguments.to >= count:
            place.refuse(f"the scenario has {count} subnet managers, numbered from 0", "to")


def read_sign(entry: Section, names: Names) -> Sign | None:
    """A sign of detection or mitigation; problems are noted there."""
    if isinstance(entry.value, dict) and "probe" in entry.value:
        probe_keys = entry.read(ProbeSignKeys)
        if probe_keys is None:
            return None
        read = _read_probe(entry, probe_keys.probe, names, True)
        if read is None:
            return None
        probe = Activity(probe_keys.probe, read[0], read[1], False, read[2])
        after = probe_keys.since == "rollback"
        return Sign(probe_keys.probe, probe_keys.within, after, probe=probe)
    keys = entry.read(EventSignKeys)
    if keys is None:
        return None
    names.check(entry, "event", keys.event, "event")
    names.check(entry, "node", keys.node, "node")
    words = filter(None, (keys.event, keys.node, keys.text and f"'{keys.text}'"))
    return Sign(" ".join(words), keys.within, keys.since == "rollback", keys.event, keys.node, keys.text)
