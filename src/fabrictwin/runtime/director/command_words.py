# SPDX-License-Identifier: Apache-2.0
"""What people do to a running twin, in the words of the event log."""

from __future__ import annotations

from collections.abc import Callable

from fabrictwin.model.command import Command
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import show_clock, show_time


def say_command(command: Command, scenario: Scenario) -> str:
    """A command without what the kind of its event says already.

    Args:
        command: The command.
        scenario: The scenario as the command has made it.
    """
    return f"{_WORDS[command.do](command, scenario)}, by {command.by}"


def _inject_fault(command: Command, scenario: Scenario) -> str:
    fault = next(fault for fault in scenario.faults if fault.name == command.arguments["id"])
    begin = f" from {show_clock(fault.start_ps)} on" if fault.start_ps > command.at_ps else ""
    lease = "" if fault.end_ps is None else f" for {show_time(fault.end_ps - fault.start_ps)}"
    return f"{fault.name}: {fault.text}{begin}{lease}"


def _clear_fault(command: Command, scenario: Scenario) -> str:
    fault = next(fault for fault in scenario.faults if fault.name == command.arguments["id"])
    return f"{fault.name}: {fault.text}"


def _start_workload(command: Command, scenario: Scenario) -> str:
    job = next(job for job in scenario.jobs if job.name == command.arguments["name"])
    start_ps = min((program.start_ps for program in job.programs), default=0)
    begin = f" from {show_clock(start_ps)} on" if start_ps > command.at_ps else ""
    return f"{job.name}: {job.kind}{begin}"


def _stop_workload(command: Command, scenario: Scenario) -> str:
    return str(command.arguments["name"])


def _order_subnet(command: Command, scenario: Scenario) -> str:
    return f"subnet manager on {command.arguments['node']}"


_WORDS: dict[str, Callable[[Command, Scenario], str]] = {
    "fault.inject": _inject_fault,
    "fault.clear": _clear_fault,
    "workload.start": _start_workload,
    "workload.stop": _stop_workload,
    "sm.handover": _order_subnet,
    "sm.sweep": _order_subnet,
}
"""By what a command does."""
