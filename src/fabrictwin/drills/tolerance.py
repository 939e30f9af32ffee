# SPDX-License-Identifier: Apache-2.0
"""What a probe's value has to be, in the forms of Chaos Toolkit: a value, a range, a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from fabrictwin.model.quantities import Spec, Wanted, show_value
from fabrictwin.model.section import Section
from fabrictwin.units import (
    parse_rate_bps,
    parse_size_bytes,
    parse_time_ps,
    show_rate,
    show_size,
    show_time,
)

Value: TypeAlias = float | str | None
"""What a probe gives; None: there was nothing to measure."""


class Unit(StrEnum):
    """What the number of a probe is."""

    COUNT = "number"
    SHARE = "share"
    RATE = "rate"
    TIME = "time"
    SIZE = "size"
    TEXT = "text"


_PARSERS: dict[Unit, Callable[[str], float]] = {
    Unit.RATE: parse_rate_bps,
    Unit.TIME: parse_time_ps,
    Unit.SIZE: parse_size_bytes,
}
_EXAMPLES = {Unit.RATE: "'100Gb/s'", Unit.TIME: "'10us'", Unit.SIZE: "'64KiB'"}


def show(value: Value, unit: Unit) -> str:
    """A value of a probe for people; times are in ps."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value or "''"
    if unit is Unit.RATE:
        return show_rate(value)
    if unit is Unit.TIME:
        return show_time(value)
    if unit is Unit.SIZE:
        return show_size(round(value))
    if unit is Unit.SHARE:
        return f"{value:.1%}"
    return f"{value:,.6g}" if value != int(value) else f"{int(value):,}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a value has to be.

    Attributes:
        unit: What the value is.
        equals: The only value; only where neither a range nor a pattern is given.
        least: Least value.
        most: Largest value.
        pattern: What a text has to match somewhere.
    """

    unit: Unit
    equals: float | str | None = None
    least: float | None = None
    most: float | None = None
    pattern: str | None = None

    def accepts(self, value: Value) -> bool:
        """Whether a value is as it has to be; nothing is never."""
        if value is None:
            return False
        if self.pattern is not None:
            return re.search(self.pattern, str(value)) is not None
        if self.equals is not None:
            return value == self.equals
        if isinstance(value, str):
            return False
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"matches {self.pattern!r}"
        if self.equals is not None:
            return show(self.equals, self.unit)
        bounds = []
        if self.least is not None:
            bounds.append(f"at least {show(self.least, self.unit)}")
        if self.most is not None:
            bounds.append(f"at most {show(self.most, self.unit)}")
        return ", ".join(bounds)


class RangeKeys(Spec):
    """Keys of a range."""

    type: Literal["range"]
    range: Annotated[
        list[Any],
        Wanted("two bounds, e.g. `[100Gb/s, null]`"),
        Field(min_length=2, max_length=2, description="least and largest value; `null`: no bound"),
    ]


class RegexKeys(Spec):
    """Keys of a regular expression."""

    type: Literal["regex"]
    pattern: Annotated[str, Field(max_length=200, description="what the text has to match somewhere")]


_FORMS: Mapping[str, type[RangeKeys] | type[RegexKeys]] = {"range": RangeKeys, "regex": RegexKeys}


def read_tolerance(section: Section, unit: Unit) -> Tolerance | None:
    """A tolerance; a problem is noted where it does not fit the probe.

    Args:
        section: Where it stands.
        unit: What the probe gives.
    """
    value = section.value
    if isinstance(value, dict):
        return _read_form(section, unit)
    try:
        return Tolerance(unit, equals=_bound(value, unit))
    except ValueError as error:
        section.refuse(str(error))
        return None


def _read_form(section: Section, unit: Unit) -> Tolerance | None:
    form = section.value.get("type")
    if form not in _FORMS:
        section.refuse_name("type of tolerance", str(form), _FORMS, "type")
        return None
    keys = section.read(_FORMS[form])
    if isinstance(keys, RegexKeys):
        return _regex(section, keys, unit)
    return None if keys is None else _range(section, keys, unit)


def _regex(section: Section, keys: RegexKeys, unit: Unit) -> Tolerance | None:
    if unit is not Unit.TEXT:
        section.refuse(f"expected a {unit} or a range: this probe gives no text", "type")
        return None
    try:
        re.compile(keys.pattern)
    except re.error as error:
        section.refuse(f"not a regular expression: {error}", "pattern")
        return None
    return Tolerance(unit, pattern=keys.pattern)


def _range(section: Section, keys: RangeKeys, unit: Unit) -> Tolerance | None:
    if unit is Unit.TEXT:
        section.refuse("expected a text or a regex: this probe gives no number", "type")
        return None
    bounds: list[float | None] = []
    for index, bound in enumerate(keys.range):
        try:
            bounds.append(None if bound is None else float(_bound(bound, unit)))
        except ValueError as error:
            section.refuse(str(error), "range", index)
            return None
    least, most = bounds
    if least is None and most is None:
        section.refuse("expected a least or a largest value, got neither", "range")
        return None
    if least is not None and most is not None and least > most:
        section.refuse("the least value is above the largest", "range")
        return None
    return Tolerance(unit, least=least, most=most)


def _bound(value: Any, unit: Unit) -> Any:
    """A value as a file has it, in the unit of the probe; raises ValueError with what was expected."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if unit is Unit.TEXT:
        if isinstance(value, str):
            return value
        raise ValueError(f"expected a text, got {show_value(value)}")
    if unit in _PARSERS:
        if isinstance(value, str):
            return _PARSERS[unit](value)
        if value == 0 and is_number:
            return 0
        raise ValueError(f"expected a {unit} such as {_EXAMPLES[unit]}, got {show_value(value)}")
    if not is_number:
        raise ValueError(f"expected a {unit}, got {show_value(value)}")
    return value
