# SPDX-License-Identifier: Apache-2.0
"""A place in a result, as people write it: ``flows[s0].goodput_bps``, ``jobs[*].busbw_bps``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Fabric
from fabrictwin.model.lookup import find_port
from fabrictwin.model.program import Job
from fabrictwin.model.quantities import PortText, read_port
from fabrictwin.model.result_fields import RESULT_FIELDS, ResultField
from fabrictwin.model.section import Section

EVERY = "*"
LONGEST_PATH = 300

_STEP = re.compile(r"([a-z][a-z0-9_]*)((?:\[[^\[\]]+\])?)")
_PATH = "path"
"""The key below a section that a place is written at."""


@dataclass(frozen=True, slots=True)
class Step:
    """One name of a path, with what stands in its brackets."""

    name: str
    selector: str = ""


class Place(NamedTuple):
    """Where a path leads.

    Attributes:
        steps: The path, taken apart.
        field: What stands there.
    """

    steps: tuple[Step, ...]
    field: ResultField


def read_place(path: str, section: Section) -> Place | None:
    """Takes a path apart.

    Args:
        path: As written.
        section: What has it at its key ``path``; problems are noted there.
    """
    matches = [_STEP.fullmatch(part) for part in split_path(path)]
    if not all(matches):
        section.refuse(f"expected a place in the result such as 'flows[s0].goodput_bps', got {path!r}", _PATH)
        return None
    steps = tuple(Step(match[1], match[2][1:-1]) for match in matches if match)
    field = _find_field(steps, section)
    return None if field is None else Place(steps, field)


def split_path(path: str) -> list[str]:
    """The steps of a path; a dot between brackets belongs to a name."""
    return re.split(r"\.(?![^\[]*\])", path)


def select(value: Any, steps: Sequence[Step], place: str = "") -> list[tuple[str, Any]]:
    """Every (place, value) of a result that the steps lead to.

    Raises:
        LookupError: There is no such place.
    """
    if not steps:
        return [(place, value)]
    step, rest = steps[0], steps[1:]
    if not isinstance(value, Mapping) or step.name not in value:
        known = nearest(step.name, map(str, value)) if isinstance(value, Mapping) else ""
        raise LookupError(f"the result has no {step.name!r} there{known}")
    place = f"{place}.{step.name}" if place else step.name
    value = value[step.name]
    if not step.selector:
        return select(value, rest, place)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise LookupError(f"{place!r} is not a list")
    labelled = [(_label(item, index), item) for index, item in enumerate(value)]
    chosen = [(label, item) for label, item in labelled if step.selector in (EVERY, label)]
    if not chosen:
        raise LookupError(f"{place!r} has nothing called {step.selector!r}")
    return [found for label, item in chosen for found in select(item, rest, f"{place}[{label}]")]


def _label(item: Any, index: int) -> str:
    """What an entry of a list is called between brackets."""
    if isinstance(item, Mapping) and "name" in item:
        return str(item["name"])
    if isinstance(item, Mapping) and "node" in item and "port" in item:
        return f"{item['node']}/{item['port']}"
    return str(index)


def _find_field(steps: Sequence[Step], section: Section) -> ResultField | None:
    """The place that the steps lead to; None, and a problem, if no result has it."""
    found, place = ResultField(RESULT_FIELDS), ""
    for step in steps:
        if step.name not in found.below:
            _refuse_step(step, found.below, place, section)
            return None
        found = found.below[step.name]
        place = f"{place}.{step.name}" if place else step.name
        if problem := _selector_problem(step.selector, found.chosen_by, place):
            section.refuse(problem, _PATH)
            return None
    return found


def _selector_problem(selector: str, chosen_by: str, place: str) -> str:
    if not chosen_by:
        return f"{place!r} is not a list: nothing in it can be chosen by {selector!r}" if selector else ""
    if not selector or (chosen_by == "index" and selector != EVERY and not selector.isdecimal()):
        return f"say which of the {place}: {place}[{chosen_by}], or {place}[*] for all"
    return ""


def _refuse_step(step: Step, fields: Mapping[str, ResultField], place: str, section: Section) -> None:
    if not place:
        section.refuse_name("part of the result", step.name, fields, _PATH)
    elif fields:
        section.refuse_name(f"field of {place}", step.name, fields, _PATH)
    else:
        section.refuse(f"{place!r} is a plain value: it has no field {step.name!r}", _PATH)


def check_names(places: Sequence[tuple[Section, Step]], fabric: Fabric, jobs: Sequence[Job]) -> None:
    """Notes the names of flows, jobs and ports that a scenario does not have.

    Args:
        places: The first step of each place, and what has it at its key ``path``.
        fabric: The fabric.
        jobs: Every job of the scenario.
    """
    names = {"flows": {flow.name for job in jobs for flow in job.flows}, "jobs": {job.name for job in jobs}}
    for section, head in places:
        if section.is_full:
            break
        if head.selector in ("", EVERY):
            continue
        if head.name in names and head.selector not in names[head.name]:
            section.refuse_name(head.name.removesuffix("s"), head.selector, names[head.name], _PATH)
        elif head.name == "ports":
            _check_port(head.selector, section, fabric)


def _check_port(selector: str, section: Section, fabric: Fabric) -> None:
    try:
        port: PortText = read_port(selector)
    except ValueError as error:
        section.refuse(str(error), _PATH)
    else:
        find_port(fabric, section, port, _PATH)
