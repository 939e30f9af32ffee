# SPDX-License-Identifier: Apache-2.0
"""Assertions of a scenario on its own result: a place in the result, and the values allowed there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Fabric
from fabrictwin.model.lookup import find_port
from fabrictwin.model.program import Job
from fabrictwin.model.quantities import PortText, Spec, Wanted, read_port, show_value
from fabrictwin.model.result_fields import RESULT_FIELDS, ResultField
from fabrictwin.model.section import Section
from fabrictwin.units import PS_PER_NS, parse_rate_bps, parse_size_bytes, parse_time_ps

EVERY = "*"
LONGEST_PATH = 300

_STEP = re.compile(r"([a-z][a-z0-9_]*)((?:\[[^\[\]]+\])?)")


class ExpectationSpec(Spec):
    """One entry of ``expect``."""

    path: Annotated[
        str,
        Field(
            max_length=LONGEST_PATH,
            description="place in the result: `flows[s0].goodput_bps`, `ports[leaf0/5].link_downed_counter`, "
            "`jobs[*].busbw_bps`, `totals.dropped_packets`, `stopped`; `[*]` means every one",
        ),
    ]
    min: Annotated[
        Any, Wanted("a number or a quantity"), Field(description="least value, with the unit of the place")
    ] = None
    max: Annotated[
        Any, Wanted("a number or a quantity"), Field(description="largest value, with the unit of the place")
    ] = None
    equals: Annotated[
        Any,
        Wanted("a number, a quantity, text, `true`, `false` or `null`"),
        Field(description="the only value; `null` is one too"),
    ] = None

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        given = self.model_fields_set - {"path"}
        if not given:
            raise ValueError("give 'min', 'max' or 'equals'")
        if "equals" in given and len(given) > 1:
            raise ValueError("'equals' leaves no room for 'min' and 'max'")
        return self


@dataclass(frozen=True, slots=True)
class Step:
    """One name of a path, with what stands in its brackets."""

    name: str
    selector: str = ""


@dataclass(frozen=True, slots=True)
class Expectation:
    """An assertion on the result.

    Attributes:
        path: The place, as written.
        steps: The place, taken apart.
        least: Least value; None: no bound.
        most: Largest value; None: no bound.
        equals: The only value, where ``is_equality``.
        is_equality: Whether ``equals`` counts.
    """

    path: str
    steps: tuple[Step, ...]
    least: float | None = None
    most: float | None = None
    equals: Any = None
    is_equality: bool = False

    def failures(self, result: Mapping[str, Any]) -> list[str]:
        """What a result does not fulfil; empty where it does.

        Args:
            result: The result, as it is written to JSON.
        """
        try:
            values = _select(result, self.steps)
        except LookupError as error:
            return [f"{self.path}: {error.args[0]}"]
        return [text for place, value in values if (text := self._judge(place, value))]

    def _judge(self, place: str, value: Any) -> str:
        if self.is_equality:
            return "" if _same(value, self.equals) else f"{place} is {value!r}; expected {self.equals!r}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{place} is {value!r}; expected a number"
        if self.least is not None and value < self.least:
            return f"{place} is {value:,}; expected at least {self.least:,}"
        if self.most is not None and value > self.most:
            return f"{place} is {value:,}; expected at most {self.most:,}"
        return ""


def _same(value: Any, expected: Any) -> bool:
    return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def _select(value: Any, steps: Sequence[Step], place: str = "") -> list[tuple[str, Any]]:
    """Every (place, value) that the steps lead to.

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
        return _select(value, rest, place)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise LookupError(f"{place!r} is not a list")
    labelled = [(_label(item, index), item) for index, item in enumerate(value)]
    chosen = [(label, item) for label, item in labelled if step.selector in (EVERY, label)]
    if not chosen:
        raise LookupError(f"{place!r} has nothing called {step.selector!r}")
    return [found for label, item in chosen for found in _select(item, rest, f"{place}[{label}]")]


def _label(item: Any, index: int) -> str:
    """What an entry of a list is called between brackets."""
    if isinstance(item, Mapping) and "name" in item:
        return str(item["name"])
    if isinstance(item, Mapping) and "node" in item and "port" in item:
        return f"{item['node']}/{item['port']}"
    return str(index)


def read_expectations(section: Section) -> list[tuple[Section, Expectation]]:
    """The entries of ``expect``, each with its place; problems are noted there."""
    entries = []
    for entry in section.read_list():
        if section.is_full:
            break
        spec = entry.read(ExpectationSpec)
        expectation = _parse(spec, entry) if spec else None
        if expectation is not None:
            entries.append((entry, expectation))
    return entries


def _parse(spec: ExpectationSpec, section: Section) -> Expectation | None:
    matches = [_STEP.fullmatch(part) for part in _split(spec.path)]
    if not all(matches):
        section.refuse(
            f"expected a place in the result such as 'flows[s0].goodput_bps', got {spec.path!r}", "path"
        )
        return None
    steps = tuple(Step(match[1], match[2][1:-1]) for match in matches if match)
    place = _find_field(steps, section)
    if place is None:
        return None
    if place.below and spec != ExpectationSpec(path=spec.path, equals=None):
        section.refuse(
            f"only 'equals: null' can be expected of all of it; say what of {spec.path}: "
            f"{', '.join(place.below)}",
            "path",
        )
        return None
    try:
        least, most = (_number(bound, steps[-1].name) for bound in (spec.min, spec.max))
        is_equality = "equals" in spec.model_fields_set
        equals = _exact(spec.equals, steps[-1].name)
    except ValueError as error:
        section.refuse(str(error))
        return None
    return Expectation(spec.path, steps, least, most, equals, is_equality)


def _split(path: str) -> list[str]:
    """The steps of a path; a dot between brackets belongs to a name."""
    return re.split(r"\.(?![^\[]*\])", path)


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
            section.refuse(problem, "path")
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
        section.refuse_name("part of the result", step.name, fields, "path")
    elif fields:
        section.refuse_name(f"field of {place}", step.name, fields, "path")
    else:
        section.refuse(f"{place!r} is a plain value: it has no field {step.name!r}", "path")


def _number(value: Any, name: str) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, str):
        if name.endswith("_bps"):
            return parse_rate_bps(value)
        if name.endswith("_ns") or name in ("min", "mean", "p50", "p99", "max"):
            return parse_time_ps(value) / PS_PER_NS
        if name.endswith("bytes"):
            return parse_size_bytes(value)
    raise ValueError(f"expected a number for {name!r}, got {show_value(value)}")


def _exact(value: Any, name: str) -> Any:
    try:
        return _number(value, name)
    except ValueError:
        if isinstance(value, dict | list):
            raise
        return value


def check_expectations(
    entries: Sequence[tuple[Section, Expectation]], fabric: Fabric, jobs: Sequence[Job]
) -> None:
    """Notes the names of flows, jobs and ports that a scenario expects something of and does not have.

    Args:
        entries: What :func:`read_expectations` gave.
        fabric: The fabric.
        jobs: Every job of the scenario.
    """
    names = {"flows": {flow.name for job in jobs for flow in job.flows}, "jobs": {job.name for job in jobs}}
    for section, expectation in entries:
        head = expectation.steps[0]
        if section.is_full:
            break
        if head.selector in ("", EVERY):
            continue
        if head.name in names and head.selector not in names[head.name]:
            section.refuse_name(head.name.removesuffix("s"), head.selector, names[head.name], "path")
        elif head.name == "ports":
            _check_port(head.selector, section, fabric)


def _check_port(selector: str, section: Section, fabric: Fabric) -> None:
    try:
        port: PortText = read_port(selector)
    except ValueError as error:
        section.refuse(str(error), "path")
    else:
        find_port(fabric, section, port, "path")
