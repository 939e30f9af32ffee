# SPDX-License-Identifier: Apache-2.0
"""What people do to a running twin: a log of commands, each a change of the scenario from a fabric time on.

The log is JSON lines: a header, then one command each. A command takes a scenario and gives the scenario that
holds from its fabric time on; the same function serves a live twin and a replay in one process, so both see
the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from fabrictwin.errors import InputError, Problem, nearest
from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.fault import Change, compile_faults, find_overlaps, read_faults, schedule
from fabrictwin.model.program import Job
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.section import Section
from fabrictwin.model.subnet_manager import HIGHEST_PRIORITY, find_manager
from fabrictwin.model.workload import check_service_levels, compile_workload, read_workload
from fabrictwin.model.yaml_loader import Document, FieldPath, read_text
from fabrictwin.units import PS_PER_NS, show_clock

SCHEMA = "fabrictwin.commands/1"
LARGEST_LOG_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Command:
    """Something that somebody did.

    Attributes:
        at_ps: Fabric time from which on it holds.
        do: A key of :data:`COMMANDS`.
        arguments: What the command takes, as in the log.
        by: Who did it.
        line: Its line in the log; 0: it did not come from a file.
    """

    at_ps: int
    do: str
    arguments: Mapping[str, Any]
    by: str = ""
    line: int = 0


def parse_command(fields: Mapping[str, Any], file: str = "<command>", line: int = 0) -> Command:
    """A command from the fields of its line.

    Raises:
        InputError: It is no command.
    """
    do, at_ns = fields.get("do"), fields.get("at_ns")
    if do not in COMMANDS:
        known = f"{nearest(str(do), COMMANDS)}; expected one of {', '.join(COMMANDS)}"
        raise InputError((Problem(f"no command {str(do)[:80]!r}{known}", file, line, "do"),))
    if not isinstance(at_ns, int) or isinstance(at_ns, bool) or at_ns < 0:
        message = f"expected a fabric time in full nanoseconds, got {str(at_ns)[:80]!r}"
        raise InputError((Problem(message, file, line, "at_ns"),))
    rest = {key: value for key, value in fields.items() if key not in {"at_ns", "seq", "by", "do"}}
    return Command(at_ns * PS_PER_NS, str(do), rest, str(fields.get("by", "")), line)


def read_command_log(path: Path, scenario: Scenario) -> tuple[Command, ...]:
    """The commands of a log, in order.

    Args:
        path: The file.
        scenario: The scenario that it belongs to.

    Raises:
        InputError: The file is no command log, or not of this scenario.
    """
    text = read_text(path, largest_bytes=LARGEST_LOG_BYTES)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    records = [_read_line(str(path), number, line) for number, line in lines]
    header = records[0] if records else {}
    if header.get("schema") != SCHEMA:
        raise InputError((Problem(f"expected a command log: {SCHEMA!r} in the first line", str(path), 1),))
    if header.get("scenario_sha256") != scenario.sha256:
        message = f"this log belongs to another scenario than {scenario.name!r} is now: the hashes differ"
        raise InputError((Problem(message, str(path), 1, "scenario_sha256"),))
    commands = tuple(
        parse_command(record, str(path), number)
        for (number, _), record in zip(lines[1:], records[1:], strict=True)
    )
    for earlier, later in pairwise(commands):
        if later.at_ps < earlier.at_ps:
            message = "expected commands in order of fabric time"
            raise InputError((Problem(message, str(path), later.line, "at_ns"),))
    return commands


def _read_line(file: str, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InputError((Problem(f"expected a JSON object, got {line[:60]!r}", file, number),))
    return record


def apply_command(scenario: Scenario, command: Command) -> Scenario:
    """The scenario as it is from a command's fabric time on.

    Raises:
        InputError: With every problem of the command.
    """
    return COMMANDS[command.do](scenario, command)


def _section(command: Command, value: Any, defaults: dict[str, Any], **fixed: Any) -> Section:
    """A list of one entry, as a scenario's section."""
    if not isinstance(value, dict):
        raise InputError.of(f"{command.do}: expected a mapping, got {str(value)[:60]!r}")
    lines: dict[FieldPath, int] = {(0,): command.line} if command.line else {}
    return Section(Document([defaults | value | fixed], f"<{command.do}>", lines))


def _inject_fault(scenario: Scenario, command: Command) -> Scenario:
    begin = {"at": f"{command.at_ps}ps"}
    section = _section(command, command.arguments.get("fault"), begin, name=command.arguments.get("id"))
    made = compile_faults(
        read_faults(section),
        scenario.fabric,
        scenario.mtu_bytes,
        scenario.hca_models,
        scenario.managers,
        scenario.qos.lossless,
    )
    names = [fault.name for fault in scenario.faults]
    number = len(names)
    changes = (*scenario.changes, *((number, change) for _, change in made.changes))
    for later, earlier in find_overlaps(changes):
        if later == number:
            section.refuse(f"overlaps with {names[earlier]!r}, which changes the same thing", 0)
    if made.specs and made.specs[0].name in names:
        section.refuse(f"a second fault with the name {made.specs[0].name!r}", 0, "name")
    if made.specs and made.specs[0].start_ps < command.at_ps:
        section.refuse(f"a fault can begin at {show_clock(command.at_ps)} at the earliest", 0, "at")
    section.raise_problems()
    return _with_changes(replace(scenario, faults=(*scenario.faults, *made.specs)), changes)


def _clear_fault(scenario: Scenario, command: Command) -> Scenario:
    name = str(command.arguments.get("id"))
    names = [fault.name for fault in scenario.faults]
    if name not in names:
        raise InputError.of(f"no fault {name[:80]!r}{nearest(name[:80], names)}", field="id")
    number, at_ps = names.index(name), command.at_ps
    changes = [
        (fault, _cut(change, at_ps) if fault == number else change)
        for fault, change in scenario.changes
        if fault != number or change.start_ps < at_ps
    ]
    faults = list(scenario.faults)
    faults[number] = replace(faults[number], end_ps=at_ps)
    return _with_changes(replace(scenario, faults=tuple(faults)), tuple(changes))


def _cut(change: Change, at_ps: int) -> Change:
    """A change that ends no later than a fabric time."""
    return change if change.end_ps is not None and change.end_ps <= at_ps else replace(change, end_ps=at_ps)


def _with_changes(scenario: Scenario, changes: tuple[tuple[int, Change], ...]) -> Scenario:
    return replace(scenario, changes=changes, actions=schedule(changes))


def _start_workload(scenario: Scenario, command: Command) -> Scenario:
    begin, name = {"start": f"{command.at_ps}ps"}, command.arguments.get("name")
    section = _section(command, command.arguments.get("workload"), begin, name=name)
    entries = read_workload(section)
    check_service_levels(entries, scenario.qos, scenario.fabric.technology)
    jobs = compile_workload(entries, scenario.fabric, scenario.seed, scenario.qos.default_sl)
    if entries and entries[0][1].start < command.at_ps:
        section.refuse(f"a workload can start at {show_clock(command.at_ps)} at the earliest", 0, "start")
    if any(job.name == old.name for job in jobs for old in scenario.jobs):
        section.refuse(f"a second workload with the name {jobs[0].name!r}", 0, "name")
    section.raise_problems()
    return replace(scenario, jobs=(*scenario.jobs, *jobs))


def _stop_workload(scenario: Scenario, command: Command) -> Scenario:
    name = str(command.arguments.get("name"))
    names = [job.name for job in scenario.jobs]
    if name not in names:
        raise InputError.of(f"no workload {name[:80]!r}{nearest(name[:80], names)}", field="name")
    jobs = tuple(_stop_job(job, command.at_ps) if job.name == name else job for job in scenario.jobs)
    return replace(scenario, jobs=jobs)


def _stop_job(job: Job, at_ps: int) -> Job:
    stops = (at_ps if program.stop_ps is None else min(program.stop_ps, at_ps) for program in job.programs)
    programs = zip(job.programs, stops, strict=True)
    return replace(job, programs=tuple(replace(program, stop_ps=stop_ps) for program, stop_ps in programs))


def _order_subnet(kind: ActionKind) -> Callable[[Scenario, Command], Scenario]:
    def order(scenario: Scenario, command: Command) -> Scenario:
        section = _section(command, dict(command.arguments), {})
        name = str(command.arguments.get("node"))
        manager = find_manager(scenario.managers, scenario.fabric, section, name, 0, "node")
        section.raise_problems()
        assert manager is not None
        value = HIGHEST_PRIORITY
        change = Change(kind, PortRef(manager.node, manager.port), value, value, command.at_ps, None)
        return _with_changes(scenario, (*scenario.changes, (-1, change)))

    return order


COMMANDS: dict[str, Callable[[Scenario, Command], Scenario]] = {
    "fault.inject": _inject_fault,
    "fault.clear": _clear_fault,
    "workload.start": _start_workload,
    "workload.stop": _stop_workload,
    "sm.handover": _order_subnet(ActionKind.SM_PRIORITY),
    "sm.sweep": _order_subnet(ActionKind.SM_SWEEP),
}
"""What a command does to a scenario."""
