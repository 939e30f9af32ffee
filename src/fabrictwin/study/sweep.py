# SPDX-License-Identifier: Apache-2.0
"""A sweep file: a scenario, the keys that vary and their values, and what to look at in the results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.errors import InputError
from fabrictwin.model.input_file import file_problem
from fabrictwin.model.quantities import Name, Spec, TimePs, Wanted, show_value
from fabrictwin.model.section import Section
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, Document, FieldPath, read_document, read_text
from fabrictwin.study.key_path import find_key
from fabrictwin.study.metric import DEFAULT_METRICS, Metric, read_metrics
from fabrictwin.study.source import Source, read_source

MOST_POINTS = 10_000
VARY, SET = "vary", "set"


class SweepKeys(Spec):
    """The keys of a sweep."""

    version: Annotated[Literal[1], Field(description="version of this format")]
    name: Annotated[Name, Field(description="name of the sweep")]
    scenario: Annotated[str, Field(description="the scenario's path, from the folder of the sweep")]
    until: Annotated[TimePs | None, Field(gt=0, description="stop every run at this fabric time")] = None
    set: Annotated[
        Any,
        Wanted("a mapping"),
        Field(description="keys of the scenario and the value of each, in every run"),
    ] = None
    vary: Annotated[
        Any, Wanted("a mapping"), Field(description="keys of the scenario and the list of values of each")
    ]
    metrics: Annotated[Any, Wanted("a list"), Field(description="what to look at in the results")] = None


@dataclass(frozen=True)
class Parameter:
    """A key that varies.

    Attributes:
        key: As written.
        path: Where it stands in the scenario.
        values: Its values, as they stand in the file.
    """

    key: str
    path: FieldPath
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Sweep:
    """What a sweep file says.

    Attributes:
        name: Its name.
        source: The scenario, with what holds in every run.
        until_ps: Fabric time at which every run stops; None: the scenario's end.
        fixed: Where the keys of ``set`` stand in the scenario, by key.
        parameters: What varies, the slowest first.
        metrics: What to look at.
        document: The file, for its lines.
        metric_sections: Where the metrics stand in it; none for the usual ones.
    """

    name: str
    source: Source
    until_ps: int | None
    fixed: dict[str, FieldPath]
    parameters: tuple[Parameter, ...]
    metrics: tuple[Metric, ...]
    document: Document = field(repr=False)
    metric_sections: tuple[Section, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """Number of points."""
        return prod(len(parameter.values) for parameter in self.parameters)


def read_sweep(path: Path) -> Sweep:
    """Reads a sweep file and the scenario that it is about.

    Raises:
        InputError: With every problem of the file; or the scenario cannot be read.
    """
    root = Section(read_document(read_text(path, largest_bytes=LARGEST_FILE_BYTES), str(path)))
    if not isinstance(root.value, dict):
        raise InputError([root.document.problem((), "expected a mapping with version, name, scenario, vary")])
    keys = root.read(SweepKeys)
    source = _read_scenario(root, path)
    metrics = read_metrics(root.at("metrics"))
    fixed: dict[str, FieldPath] = {}
    parameters: list[Parameter] = []
    if source is not None:
        source, fixed = _fix(root.at(SET), source)
        parameters = _read_parameters(root.at(VARY), source)
    _check_overlap(root, fixed, parameters)
    points = prod(len(parameter.values) for parameter in parameters)
    if points > MOST_POINTS:
        root.refuse(f"{points:,} points; the most is {MOST_POINTS:,}", VARY)
    root.raise_problems()
    # Without them there is a problem, and it has been raised.
    assert keys is not None
    assert source is not None
    return Sweep(
        keys.name,
        source,
        keys.until,
        fixed,
        tuple(parameters),
        tuple(metric for _, metric in metrics) or DEFAULT_METRICS,
        root.document,
        tuple(section for section, _ in metrics),
    )


def _read_scenario(root: Section, path: Path) -> Source | None:
    name = root.at("scenario").value
    if not isinstance(name, str):
        return None
    file = Path(os.path.normpath(path.parent / name))
    problem = file_problem(file)
    if problem:
        root.refuse(f"{problem}: {file}", "scenario")
        return None
    source = read_source(file)
    if not isinstance(source.value, dict):
        root.refuse(f"{file} is not a scenario", "scenario")
        return None
    # What is expected of one run does not hold for all.
    return source.with_value({key: source.value[key] for key in source.value if key != "expect"})


def _fix(section: Section, source: Source) -> tuple[Source, dict[str, FieldPath]]:
    """(the scenario with the keys of ``set``, where each stands)."""
    fixed: dict[str, FieldPath] = {}
    for key, value in _mapping(section).items():
        path = _find(key, section, source)
        if path is not None:
            source = source.change({path: value})
            fixed[key] = path
    return source, fixed


def _read_parameters(section: Section, source: Source) -> list[Parameter]:
    parameters = []
    for key, values in _mapping(section).items():
        path = _find(key, section, source)
        if not isinstance(values, list) or not values:
            section.refuse(f"expected a list of values, got {show_value(values)}", key)
        elif path is not None:
            for index, value in enumerate(values):
                if value in values[:index]:
                    section.refuse(f"{show_value(value)} stands there twice", key, index)
            parameters.append(Parameter(key, path, tuple(values)))
    return parameters


def _mapping(section: Section) -> dict[str, Any]:
    value = section.value
    if value is not None and not isinstance(value, dict):
        section.refuse(f"expected a mapping of keys of the scenario, got {show_value(value)}")
    return value if isinstance(value, dict) else {}


def _find(key: str, section: Section, source: Source) -> FieldPath | None:
    try:
        return find_key(key, source.value)
    except LookupError as error:
        section.refuse(str(error.args[0]), key)
        return None


def _check_overlap(root: Section, fixed: dict[str, FieldPath], parameters: list[Parameter]) -> None:
    """Notes keys that are a part of each other: which of them holds would be a matter of order."""
    places = [(SET, key, path) for key, path in fixed.items()]
    places += [(VARY, parameter.key, parameter.path) for parameter in parameters]
    for index, (part, key, path) in enumerate(places):
        for _, other, above in places[:index]:
            # A mapping that is set and of which a part varies is clear, and useful.
            shorter, longer = sorted((above, path), key=len)
            if longer[: len(shorter)] == shorter and not (
                other in fixed and part == VARY and longer != shorter
            ):
                root.refuse(f"{other!r} and {key!r} change the same value", part, key)
