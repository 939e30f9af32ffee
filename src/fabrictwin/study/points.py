# SPDX-License-Identifier: Apache-2.0
"""The points of a sweep: every combination of values, each a scenario of its own."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.place import check_names
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.section import MOST_PROBLEMS
from fabrictwin.model.yaml_loader import FieldPath, dotted
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.study.identity import program_sha256
from fabrictwin.study.source import Source
from fabrictwin.study.sweep import SET, VARY, Sweep


@dataclass(frozen=True)
class Point:
    """One run of a sweep.

    Attributes:
        values: Value of each parameter.
        source: Its scenario.
        key: Hash of the expanded scenario, its end and the program: what its result depends on.
        warnings: What is legal but unwise about it.
    """

    values: tuple[Any, ...]
    source: Source = field(repr=False)
    key: str
    warnings: tuple[Problem, ...] = ()


def expand_points(sweep: Sweep) -> list[Point]:
    """Every point, in the order of the file: the last parameter changes fastest.

    Raises:
        InputError: With the problems of all points; those of a value have the line of the value.
    """
    points: list[Point] = []
    problems: dict[str, Problem] = {}
    for indices in itertools.product(*(range(len(parameter.values)) for parameter in sweep.parameters)):
        chosen = list(zip(sweep.parameters, indices, strict=True))
        values = tuple(parameter.values[index] for parameter, index in chosen)
        source = sweep.source.change({parameter.path: parameter.values[index] for parameter, index in chosen})
        try:
            scenario = source.expand()
            _check_run(sweep, scenario)
        except InputError as error:
            problems |= {str(one): one for one in _locate(error.problems, sweep, indices, values)}
        else:
            warnings = tuple(_locate(scenario.warnings, sweep, indices, values))
            points.append(Point(values, source, _key(scenario, sweep.until_ps), warnings))
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise InputError(sorted(problems.values(), key=lambda one: (one.file, one.line)))
    return points


def run_point(source: Source, until_ps: int | None) -> dict[str, Any]:
    """The result of a point, but for what only a process knows."""
    simulation = open_simulation(source.expand())
    simulation.run(until_ps)
    return simulation.result()


def describe_values(sweep: Sweep, values: tuple[Any, ...]) -> str:
    """``alpha=1/8, kmin=100KB``."""
    names = short_names(sweep)
    return ", ".join(f"{name}={show_written(value)}" for name, value in zip(names, values, strict=True))


def short_names(sweep: Sweep) -> list[str]:
    """What each parameter is called in a table: the end of its key, where no other ends alike."""
    keys = [parameter.key for parameter in sweep.parameters]
    ends = [key.rpartition(".")[2] for key in keys]
    return [end if ends.count(end) == 1 else key for key, end in zip(keys, ends, strict=True)]


def show_written(value: Any) -> str:
    """A value as one would write it in a scenario, on one line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, dict):
        return " ".join(f"{key} {show_written(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(map(show_written, value)) or "none"
    return str(value)


def _key(scenario: Scenario, until_ps: int | None) -> str:
    return hashlib.sha256(f"{scenario.sha256} {until_ps} {program_sha256()}".encode()).hexdigest()


def _check_run(sweep: Sweep, scenario: Scenario) -> None:
    """Whether something ends the run, and whether it has what the metrics look at."""
    if not scenario.jobs and sweep.until_ps is None and not scenario.says_duration:
        raise InputError([sweep.document.problem(("scenario",), "nothing ends the run: give it an 'until'")])
    if sweep.metric_sections:
        heads = [
            (section, metric.steps[0])
            for section, metric in zip(sweep.metric_sections, sweep.metrics, strict=True)
        ]
        check_names(heads, scenario.fabric, scenario.jobs)
        sweep.metric_sections[0].raise_problems()


def _locate(
    problems: tuple[Problem, ...], sweep: Sweep, indices: tuple[int, ...], values: tuple[Any, ...]
) -> Iterator[Problem]:
    """The problems of a point, at the lines of the sweep where they are of a value that it sets."""
    places: list[tuple[FieldPath, FieldPath]] = [
        (parameter.path, (VARY, parameter.key, index))
        for parameter, index in zip(sweep.parameters, indices, strict=True)
    ]
    places += [(path, (SET, key)) for key, path in sweep.fixed.items()]
    for problem in problems:
        if problem.file == sweep.document.file:
            yield problem
            continue
        place = next((at for path, at in places if _is_below(problem.field, dotted(path))), None)
        if place is None:
            message = (
                f"with {describe_values(sweep, values)}: {problem.message}" if values else problem.message
            )
            yield Problem(message, problem.file, problem.line, problem.field)
        else:
            document = sweep.document
            yield Problem(
                problem.message, document.file, document.line(place), f"{place[0]}: {problem.field}"
            )


def _is_below(field_name: str, place: str) -> bool:
    return field_name == place or field_name.startswith((f"{place}.", f"{place}["))
