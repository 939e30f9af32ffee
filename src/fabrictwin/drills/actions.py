# SPDX-License-Identifier: Apache-2.0
"""The actions: one row each, with its arguments and what it does to a twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from fabrictwin.drills.probes import NoArguments
from fabrictwin.drills.services import ServiceError, Services
from fabrictwin.drills.twin import RefusedError, Twin
from fabrictwin.model.quantities import SizeBytes, Spec
from fabrictwin.units import show_clock

ENDS_BY_ITSELF = ("link_flap",)
"""Kinds of faults that have no ``duration``."""


class ActionArguments(Spec):
    """Arguments of what undoes an action."""

    action: Annotated[str, Field(description="name of the action that is undone")]


class ManagerArguments(Spec):
    """Arguments of ``hand_over_subnet``."""

    to: Annotated[int, Field(ge=0, description="number of the subnet manager that is to be master")]


class ServiceArguments(Spec):
    """Arguments of actions on a service."""

    service: Annotated[str, Field(description="a logical process: `switch0`, `hca0`, `cc`, `sm0`")]


class MemoryArguments(ServiceArguments):
    """Arguments of ``limit_service``."""

    memory: Annotated[SizeBytes, Field(description="the memory that its container may have")]


@dataclass(frozen=True, slots=True)
class Done:
    """What the twin has said to an action.

    Attributes:
        at_ps: Fabric time at which it takes effect.
        text: It in words.
        fault: Id of the fault that it injected.
    """

    at_ps: int
    text: str
    fault: str = ""


@dataclass
class Hands:
    """What actions work with.

    Attributes:
        twin: The twin.
        services: Its processes or containers; None: they are out of reach.
        owner: Whose faults and workloads they are.
        lease_ps: How long a fault lasts that does not say.
        faults: Ids of the faults that were injected, by the name of the action.
        workloads: Names of the workloads that were started, likewise.
    """

    twin: Twin
    services: Services | None
    owner: str
    lease_ps: int
    faults: dict[str, str] = field(default_factory=dict)
    workloads: dict[str, str] = field(default_factory=dict)


def fault_entry(arguments: Mapping[str, Any], lease_ps: int) -> dict[str, Any]:
    """An entry of a scenario's ``faults``, with a lease."""
    entry = dict(arguments)
    if "duration" not in entry and entry.get("kind") not in ENDS_BY_ITSELF:
        entry["duration"] = f"{lease_ps}ps"
    return entry


def inject_fault(name: str, arguments: Mapping[str, Any], hands: Hands) -> Done:
    """Makes something go wrong in the fabric; the arguments are those of an entry of ``faults``."""
    fault = hands.twin.inject(fault_entry(arguments, hands.lease_ps), hands.owner)
    hands.faults[name] = fault.id
    end = "" if fault.end_ps < 0 else f" until {show_clock(fault.end_ps)}"
    return Done(int(fault.start_ps), f"{fault.id}: {fault.text}{end}", fault.id)


def clear_fault(name: str, arguments: ActionArguments, hands: Hands) -> Done:
    """Ends a fault that an action has injected, if it is not over."""
    fault = hands.faults.get(arguments.action)
    if fault is None:
        return Done(int(hands.twin.status().fabric_time_ps), f"{arguments.action!r} was not injected")
    end_ps = end_fault(hands.twin, fault, hands.owner)
    return Done(end_ps, f"{fault} ends at {show_clock(end_ps)}")


def end_fault(twin: Twin, fault: str, by: str) -> int:
    """Ends a fault, if it has not ended and does not end at the next look-around anyway.

    Returns:
        Fabric time at which it is over.

    Raises:
        RefusedError: It goes on.
    """
    if twin.has_ended():
        return int(twin.status().fabric_time_ps)
    try:
        return int(twin.clear(fault, by).end_ps)
    except RefusedError:
        end_ps = next(int(each.end_ps) for each in twin.faults() if each.id == fault)
        if end_ps < 0:
            raise
        return end_ps


def start_workload(name: str, arguments: Mapping[str, Any], hands: Hands) -> Done:
    """Adds traffic; the arguments are those of an entry of ``workload``."""
    workload = hands.twin.start_workload(arguments, hands.owner)
    hands.workloads[name] = workload.name
    return Done(int(workload.start_ps), f"{workload.name}: {workload.kind}, {workload.flows} flows")


def stop_workload(name: str, arguments: ActionArguments, hands: Hands) -> Done:
    """Ends traffic that an action has added, if it goes on."""
    workload = hands.workloads.get(arguments.action)
    now_ps = int(hands.twin.status().fabric_time_ps)
    if workload is None:
        return Done(now_ps, f"{arguments.action!r} was not started")
    if hands.twin.has_ended():
        return Done(now_ps, f"{workload} goes nowhere: the twin has stopped")
    with suppress(RefusedError):  # it was stopped already
        now_ps = int(hands.twin.stop_workload(workload, hands.owner).stop_ps)
    return Done(now_ps, f"{workload} posts nothing more")


def sweep_subnet(name: str, arguments: NoArguments, hands: Hands) -> Done:
    """Has the master subnet manager sweep."""
    return Done(hands.twin.sweep(hands.owner), "the master sweeps")


def hand_over_subnet(name: str, arguments: ManagerArguments, hands: Hands) -> Done:
    """Makes another subnet manager master."""
    at_ps = hands.twin.hand_over(arguments.to, hands.owner)
    return Done(at_ps, f"subnet manager {arguments.to} is to be master")


def _service_action(action: str, summary: str) -> Action:
    def act(name: str, arguments: ServiceArguments, hands: Hands) -> Done:
        if hands.services is None:
            raise ServiceError("the twin's processes are out of reach: say where its containers run")
        memory = arguments.memory if isinstance(arguments, MemoryArguments) else 0
        text = hands.services.do(action, arguments.service, memory)
        return Done(int(hands.twin.status().fabric_time_ps), text)

    spec = MemoryArguments if action == "limit_service" else ServiceArguments
    return Action(action, summary, spec, act, is_of_service=True)


Act = Callable[[str, Any, Hands], Done]


@dataclass(frozen=True, slots=True)
class Action:
    """A row of the table of actions.

    Attributes:
        name: Value of ``func``.
        summary: What it does, in a sentence.
        arguments: The keys that it takes; None: an entry of a scenario.
        act: Does it; takes the name of the activity, its arguments and the hands.
        is_of_service: Whether it needs the twin's processes or containers.
    """

    name: str
    summary: str
    arguments: type[Spec] | None
    act: Act
    is_of_service: bool = False


def _twin_action(act: Act, arguments: type[Spec] | None) -> Action:
    return Action(act.__name__, (act.__doc__ or "").split("\n")[0], arguments, act)


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        _twin_action(inject_fault, None),
        _twin_action(clear_fault, ActionArguments),
        _twin_action(start_workload, None),
        _twin_action(stop_workload, ActionArguments),
        _twin_action(sweep_subnet, NoArguments),
        _twin_action(hand_over_subnet, ManagerArguments),
        _service_action("kill_service", "Kills a service: SIGKILL to its process, or to its container."),
        _service_action("pause_service", "Stops a service's process or container where it stands."),
        _service_action("resume_service", "Lets a service go on that was paused."),
        _service_action("stop_service", "Stops a service's container, as an operator would."),
        _service_action("start_service", "Starts a service's container again."),
        _service_action("disconnect_service", "Takes a service's container off its networks."),
        _service_action("connect_service", "Puts it back on its networks, under all of its names."),
        _service_action("limit_service", "Limits the memory of a service's container."),
    )
}
BREAKS = (
    *("inject_fault", "kill_service", "pause_service", "stop_service"),
    *("disconnect_service", "limit_service"),
)
"""What breaks something. The first of them is the fault that times are counted from; else any action is."""
UNDOES = {"clear_fault": "inject_fault", "stop_workload": "start_workload"}
"""What is undone by what."""
