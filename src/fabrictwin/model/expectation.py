# SPDX-License-Identifier: Apache-2.0
"""Assertions of a scenario on its own result: a place in the result, and the values allowed there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.place import LONGEST_PATH, Step, check_names, read_place, select
from fabrictwin.model.program import Job
from fabrictwin.model.quantities import Spec, Wanted, show_value
from fabrictwin.model.section import Section
from fabrictwin.units import PS_PER_NS, parse_rate_bps, parse_size_bytes, parse_time_ps


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
            values = select(result, self.steps)
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
    place = read_place(spec.path, section)
    if place is None:
        return None
    steps, field = place
    if field.below and spec != ExpectationSpec(path=spec.path, equals=None):
        section.refuse(
            f"only 'equals: null' can be expected of all of it; say what of {spec.path}: "
            f"{', '.join(field.below)}",
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
    check_names([(section, expectation.steps[0]) for section, expectation in entries], fabric, jobs)
