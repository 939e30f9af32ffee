# SPDX-License-Identifier: Apache-2.0
"""What people add to a running twin: faults and workloads, read as a scenario's are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fabrictwin.errors import InputError, nearest
from fabrictwin.model.fault import compile_faults, read_faults
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.section import Section
from fabrictwin.model.workload import compile_workload, read_workload
from fabrictwin.model.yaml_loader import Document, read_document
from fabrictwin.runtime.failures import StateError, UnknownNameError
from fabrictwin.units import PS_PER_NS

LARGEST_ENTRY_BYTES = 64 << 10
MOST_ENTRIES = 10_000
FROM_SCENARIO = "scenario"

Mapping = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """A fault, scheduled or injected.

    Attributes:
        id: Its id.
        kind: Row of the fault table.
        owner: Who injected it.
        text: What it does, in words.
        start_ps: Fabric time at which it begins.
        end_ps: Fabric time at which it ends; -1: never.
        is_cleared: Whether somebody ended it early.
    """

    id: str
    kind: str
    owner: str
    text: str
    start_ps: int
    end_ps: int
    is_cleared: bool = False

    def state(self, now_ps: int) -> str:
        """``scheduled``, ``active``, ``over`` or ``cleared``."""
        if now_ps < self.start_ps:
            return "scheduled"
        if self.end_ps < 0 or now_ps < self.end_ps:
            return "active"
        return "cleared" if self.is_cleared else "over"


@dataclass(frozen=True, slots=True)
class WorkloadEntry:
    """A workload, of the scenario or added.

    Attributes:
        name: Its name.
        kind: Row of the workload table.
        owner: Who started it.
        start_ps: Fabric time at which it begins.
        stop_ps: Fabric time from which it posts nothing; -1: it is stopped by nobody.
        flows: Flows that it has.
    """

    name: str
    kind: str
    owner: str
    start_ps: int
    stop_ps: int
    flows: int


class FaultBook:
    """The faults of a twin.

    Args:
        scenario: Its scenario.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._injected = 0
        self._entries = {
            fault.name: FaultEntry(
                fault.name,
                fault.kind,
                FROM_SCENARIO,
                fault.text,
                fault.start_ps,
                -1 if fault.end_ps is None else fault.end_ps,
            )
            for fault in scenario.faults
        }

    def all(self) -> list[FaultEntry]:
        """Every fault, in order of its beginning."""
        return sorted(self._entries.values(), key=lambda entry: entry.start_ps)

    def active(self, now_ps: int) -> list[FaultEntry]:
        """Those that are active."""
        return [entry for entry in self.all() if entry.state(now_ps) == "active"]

    def inject(self, text: str, owner: str, at_ps: int) -> tuple[FaultEntry, Mapping]:
        """Adds a fault.

        Args:
            text: An entry of a scenario's ``faults``, without ``at``.
            owner: Who injects it.
            at_ps: Fabric time at which it begins, full nanoseconds.

        Returns:
            It, and its mapping for the command log.

        Raises:
            InputError: With every problem of it.
        """
        section = _read_entry(text, "fault", {"at": f"{at_ps // PS_PER_NS}ns"})
        mapping = section.at(0).value
        if "duration" not in mapping and mapping.get("kind") not in _WITHOUT_DURATION:
            section.refuse("required key 'duration' is missing: it is the lease of the fault", 0, "duration")
        read = read_faults(section)
        scenario = self._scenario
        faults = compile_faults(read, scenario.fabric, scenario.mtu_bytes, scenario.hca_models)
        section.raise_problems()
        fault = faults.specs[0]
        self._injected += 1
        entry = FaultEntry(
            f"{fault.kind}-{self._injected}",
            fault.kind,
            owner or "unknown",
            fault.text,
            at_ps,
            -1 if fault.end_ps is None else fault.end_ps,
        )
        self._entries[entry.id] = entry
        return entry, {key: value for key, value in mapping.items() if key != "at"}

    def clear(self, fault_id: str, at_ps: int) -> FaultEntry:
        """Ends a fault.

        Raises:
            UnknownNameError: There is none of this id.
            StateError: It is over, or was scheduled by the scenario.
        """
        entry = self._entries.get(fault_id)
        if entry is None:
            raise UnknownNameError(f"no fault {fault_id[:80]!r}{nearest(fault_id[:80], self._entries)}")
        if entry.owner == FROM_SCENARIO:
            raise StateError(f"fault {fault_id!r} is the scenario's: only injected faults can be cleared")
        if entry.state(at_ps) != "active":
            raise StateError(f"fault {fault_id!r} is {entry.state(at_ps)}")
        self._entries[fault_id] = replace(entry, end_ps=at_ps, is_cleared=True)
        return self._entries[fault_id]


_WITHOUT_DURATION = ("link_flap",)
"""Kinds that end by themselves and say otherwise when."""


class WorkloadBook:
    """The workloads of a twin.

    Args:
        scenario: Its scenario.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._entries: dict[str, WorkloadEntry] = {}
        for job in scenario.jobs:
            starts = [program.start_ps for program in job.programs]
            stops = [program.stop_ps for program in job.programs]
            stop_ps = max((-1 if stop is None else stop for stop in stops), default=-1)
            self._entries[job.name] = WorkloadEntry(
                job.name, job.kind, FROM_SCENARIO, min(starts, default=0), stop_ps, len(job.flows)
            )

    def all(self) -> list[WorkloadEntry]:
        """Every workload, in order of its beginning."""
        return sorted(self._entries.values(), key=lambda entry: entry.start_ps)

    def start(self, text: str, owner: str, at_ps: int) -> tuple[WorkloadEntry, Mapping]:
        """Adds a workload.

        Args:
            text: An entry of a scenario's ``workload``, without ``start``.
            owner: Who starts it.
            at_ps: Fabric time at which it begins, full nanoseconds.

        Returns:
            It, and its mapping for the command log, with its name.

        Raises:
            InputError: With every problem of it.
        """
        section = _read_entry(text, "workload", {"start": f"{at_ps // PS_PER_NS}ns"})
        mapping = section.at(0).value
        mapping.setdefault("name", f"{mapping.get('kind')}-{len(self._entries)}")
        read = read_workload(section)
        jobs = compile_workload(read, self._scenario.fabric, self._scenario.seed)
        if str(mapping["name"]) in self._entries:
            section.refuse(f"a second workload with the name {mapping['name']!r}", 0, "name")
        section.raise_problems()
        (job,) = jobs
        entry = WorkloadEntry(job.name, job.kind, owner or "unknown", at_ps, -1, len(job.flows))
        self._entries[entry.name] = entry
        return entry, {key: value for key, value in mapping.items() if key != "start"}

    def stop(self, name: str, at_ps: int) -> WorkloadEntry:
        """Ends a workload.

        Raises:
            UnknownNameError: There is none of this name.
            StateError: It was stopped already.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise UnknownNameError(f"no workload {name[:80]!r}{nearest(name[:80], self._entries)}")
        if 0 <= entry.stop_ps <= at_ps:
            raise StateError(f"workload {name!r} was stopped already")
        self._entries[name] = replace(entry, stop_ps=at_ps)
        return self._entries[name]


def _read_entry(text: str, what: str, added: Mapping) -> Section:
    """A list of the one entry that a text holds, as a scenario's section."""
    if len(text) > LARGEST_ENTRY_BYTES:
        raise InputError.of(f"is larger than {LARGEST_ENTRY_BYTES:,} bytes", field=what)
    document = read_document(text, f"<{what}>")
    if not isinstance(document.value, dict):
        raise InputError.of(f"expected a mapping with the key 'kind', got {text[:60]!r}", field=what)
    for key in added:
        if key in document.value:
            raise InputError.of(f"key {key!r} is not given here: it begins when it is accepted", field=key)
    lines = {(0, *path): line for path, line in document.lines.items()}
    return Section(Document([document.value | added], document.file, lines))
