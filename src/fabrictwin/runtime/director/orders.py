# SPDX-License-Identifier: Apache-2.0
"""What people do to a running twin: read as a scenario is, written into the command log, and listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabrictwin.engine.change import change_plan
from fabrictwin.engine.plan import Plan
from fabrictwin.errors import InputError, nearest
from fabrictwin.model.command import Command, apply_command
from fabrictwin.model.fault import Fault
from fabrictwin.model.program import Job
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.yaml_loader import read_document
from fabrictwin.runtime.failures import StateError, UnknownNameError
from fabrictwin.units import parse_time_ps, show_clock

LARGEST_ENTRY_BYTES = 64 << 10
FROM_SCENARIO = "scenario"
WITHOUT_LEASE = ("link_flap",)
"""Kinds of faults that end by themselves, and say otherwise when."""


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """A fault, scheduled or injected.

    Attributes:
        fault: It.
        owner: Who injected it.
        is_cleared: Whether somebody ended it early.
    """

    fault: Fault
    owner: str
    is_cleared: bool

    @property
    def end_ps(self) -> int:
        """Fabric time at which it ends; -1: never."""
        return -1 if self.fault.end_ps is None else self.fault.end_ps

    def state(self, now_ps: int) -> str:
        """``scheduled``, ``active``, ``over`` or ``cleared``."""
        if now_ps < self.fault.start_ps and not self.is_cleared:
            return "scheduled"
        if self.fault.end_ps is None or now_ps < self.fault.end_ps:
            return "active"
        return "cleared" if self.is_cleared else "over"


@dataclass(frozen=True, slots=True)
class WorkloadEntry:
    """A workload, of the scenario or added.

    Attributes:
        job: It.
        owner: Who started it.
    """

    job: Job
    owner: str

    @property
    def start_ps(self) -> int:
        """Fabric time at which it begins."""
        return min((program.start_ps for program in self.job.programs), default=0)

    @property
    def stop_ps(self) -> int:
        """Fabric time from which it posts nothing; -1: nobody stops it."""
        stops = [program.stop_ps for program in self.job.programs]
        return -1 if None in stops or not stops else max(stop for stop in stops if stop is not None)


class Orders:
    """The scenario of a twin as it has become, and who did what.

    Args:
        plan: The scenario at the start, and its rows.

    Attributes:
        plan: The scenario as it will be when every order has taken effect.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._fault_owners: dict[str, str] = {}
        self._job_owners: dict[str, str] = {}
        self._cleared: set[str] = set()

    @property
    def scenario(self) -> Scenario:
        """The scenario as it will be when every order has taken effect."""
        return self.plan.scenario

    def faults(self) -> list[FaultEntry]:
        """Every fault, in order of its beginning."""
        entries = [self._fault_entry(fault) for fault in self.scenario.faults]
        return sorted(entries, key=lambda entry: entry.fault.start_ps)

    def fault(self, name: str) -> FaultEntry:
        """A fault by its id."""
        return self._fault_entry(next(fault for fault in self.scenario.faults if fault.name == name))

    def _fault_entry(self, fault: Fault) -> FaultEntry:
        owner = self._fault_owners.get(fault.name, FROM_SCENARIO)
        return FaultEntry(fault, owner, fault.name in self._cleared)

    def workloads(self) -> list[WorkloadEntry]:
        """Every workload, in order of its beginning."""
        entries = [self._workload_entry(job) for job in self.scenario.jobs]
        return sorted(entries, key=lambda entry: entry.start_ps)

    def workload(self, name: str) -> WorkloadEntry:
        """A workload by its name."""
        return self._workload_entry(next(job for job in self.scenario.jobs if job.name == name))

    def _workload_entry(self, job: Job) -> WorkloadEntry:
        return WorkloadEntry(job, self._job_owners.get(job.name, FROM_SCENARIO))

    def inject_fault(self, text: str, owner: str, at_ps: int) -> Command:
        """A fault that begins at a fabric time.

        Args:
            text: An entry of a scenario's ``faults``.
            owner: Who injects it.
            at_ps: When, full nanoseconds.

        Raises:
            InputError: With every problem of it.
        """
        mapping = _read_entry(text, "fault", "at", at_ps)
        if "duration" not in mapping and mapping.get("kind") not in WITHOUT_LEASE:
            raise InputError.of(
                "required key 'duration' is missing: the lease of the fault", field="duration"
            )
        name = _take_name(mapping, self.scenario.faults)
        command = self._obey(at_ps, "fault.inject", {"id": name, "fault": mapping}, owner)
        self._fault_owners[name] = command.by
        return command

    def clear_fault(self, name: str, by: str, at_ps: int) -> Command:
        """The end of a fault, before its lease ends.

        Raises:
            UnknownNameError: There is none of this id.
            StateError: It is over.
        """
        known = [fault.name for fault in self.scenario.faults]
        if name not in known:
            raise UnknownNameError(f"no fault {name[:80]!r}{nearest(name[:80], known)}")
        state = self.fault(name).state(at_ps)
        if state in ("over", "cleared"):
            raise StateError(f"fault {name!r} is {state}")
        command = self._obey(at_ps, "fault.clear", {"id": name}, by)
        self._cleared.add(name)
        return command

    def start_workload(self, text: str, owner: str, at_ps: int) -> Command:
        """A workload that begins at a fabric time.

        Args:
            text: An entry of a scenario's ``workload``.
            owner: Who starts it.
            at_ps: When, full nanoseconds.

        Raises:
            InputError: With every problem of it.
        """
        mapping = _read_entry(text, "workload", "start", at_ps)
        name = _take_name(mapping, self.scenario.jobs)
        command = self._obey(at_ps, "workload.start", {"name": name, "workload": mapping}, owner)
        self._job_owners[name] = command.by
        return command

    def stop_workload(self, name: str, by: str, at_ps: int) -> Command:
        """The end of a workload.

        Raises:
            UnknownNameError: There is none of this name.
            StateError: It was stopped already.
        """
        known = [job.name for job in self.scenario.jobs]
        if name not in known:
            raise UnknownNameError(f"no workload {name[:80]!r}{nearest(name[:80], known)}")
        if 0 <= self.workload(name).stop_ps <= at_ps:
            raise StateError(f"workload {name!r} was stopped already")
        return self._obey(at_ps, "workload.stop", {"name": name}, by)

    def order_subnet(self, do: str, node: str, by: str, at_ps: int) -> Command:
        """A sweep of, or a handover to, the subnet manager on a node."""
        return self._obey(at_ps, do, {"node": node}, by)

    def _obey(self, at_ps: int, do: str, arguments: Mapping[str, Any], by: str) -> Command:
        command = Command(at_ps, do, arguments, by or "unknown")
        self.plan = change_plan(self.plan, apply_command(self.scenario, command))
        return command


def _take_name(mapping: dict[str, Any], named: tuple[Fault, ...] | tuple[Job, ...]) -> str:
    """Takes the name out of an entry; one that nobody has if there is none."""
    given = mapping.pop("name", "")
    names = {item.name for item in named}
    numbered = (f"{mapping.get('kind')}-{number + 1}" for number in range(len(names) + 1))
    return str(given or next(name for name in numbered if name not in names))


def _read_entry(text: str, what: str, begin: str, earliest_ps: int) -> dict[str, Any]:
    """The mapping that a text holds; it may begin later than the earliest fabric time, but not before."""
    if len(text) > LARGEST_ENTRY_BYTES:
        raise InputError.of(f"is larger than {LARGEST_ENTRY_BYTES:,} bytes", field=what)
    mapping = read_document(text, f"<{what}>").value
    if not isinstance(mapping, dict):
        raise InputError.of(f"expected a mapping with the key 'kind', got {text[:60]!r}", field=what)
    if begin in mapping and _time_ps(mapping[begin], begin) < earliest_ps:
        earliest = show_clock(earliest_ps)
        raise InputError.of(f"expected a fabric time from {earliest} on, got {mapping[begin]!r}", field=begin)
    return mapping


def _time_ps(value: Any, field: str) -> int:
    try:
        return parse_time_ps(str(value))
    except ValueError as error:
        raise InputError.of(str(error), field=field) from None
