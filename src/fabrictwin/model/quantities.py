# SPDX-License-Identifier: Apache-2.0
"""Field types of the scenario format: quantities with units, names and ports, as pydantic types.

Each carries a :class:`Wanted` that says in words what a person writes there; error messages and the reference
in ``docs/scenario.md`` both use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from fabrictwin.model.program import FOREVER
from fabrictwin.units import PS_PER_S, parse_length_mm, parse_rate_bps, parse_size_bytes, parse_time_ps

LONGEST_TIME_PS = 1_000_000 * PS_PER_S
"""Eleven days; sums of a few such times still fit into 63 bits."""
LARGEST_MESSAGE_BYTES = 2**31
"""The largest message of a reliable connection (IBTA volume 1)."""

LARGEST_COUNT = 10**9
LARGEST_RATE_BPS = 10**13
LONGEST_CABLE_MM = 10**9
FOREVER_WORD = "forever"
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person writes in a field, in words."""

    text: str


def wanted_in(info: FieldInfo) -> str:
    """What a person writes in a field, in words; empty where its type does not say."""
    parts = [*info.metadata, *_annotations(info.annotation)]
    return next((part.text for part in parts if isinstance(part, Wanted)), "")


def _annotations(annotation: Any) -> list[Any]:
    """Everything that stands beside a type, also where the type may be left out."""
    inner = [part for argument in get_args(annotation) for part in _annotations(argument)]
    return [*getattr(annotation, "__metadata__", ()), *inner]


class Spec(BaseModel):
    """Root of every part of a scenario: unknown keys are errors, nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _quantity(parse: Callable[[str], int], what: str, example: str, largest: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, str):
            raise ValueError(f"expected a {what} with its unit such as {example!r}, got {show_value(value)}")
        number = parse(value)
        if number > largest:
            raise ValueError(f"{value!r} is too large for a {what} here")
        return number

    return read


def show_value(value: Any) -> str:
    """A value as it stood in the file, shortened, for a message."""
    words: dict[Any, str] = {None: "nothing", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…'"


read_time = _quantity(parse_time_ps, "time", "10us", LONGEST_TIME_PS)
_read_size = _quantity(parse_size_bytes, "size", "64KiB", 2**50)
_read_message = _quantity(parse_size_bytes, "size", "1MiB", LARGEST_MESSAGE_BYTES)
_read_rate = _quantity(parse_rate_bps, "rate", "400Gb/s", LARGEST_RATE_BPS)
_read_length = _quantity(parse_length_mm, "length", "10m", LONGEST_CABLE_MM)

TimePs = Annotated[int, BeforeValidator(read_time), Wanted("a time, e.g. `10us`")]
SizeBytes = Annotated[int, Field(gt=0), BeforeValidator(_read_size), Wanted("a size, e.g. `64KiB`")]
SizeOrNothing = Annotated[int, BeforeValidator(_read_size), Wanted("a size; `0B` is none")]
MessageBytes = Annotated[
    int, Field(gt=0), BeforeValidator(_read_message), Wanted("a size up to 2 GiB, e.g. `1MiB`")
]
RateBps = Annotated[int, Field(gt=0), BeforeValidator(_read_rate), Wanted("a rate, e.g. `400Gb/s`")]
RateOrStopBps = Annotated[int, BeforeValidator(_read_rate), Wanted("a rate; `0Gb/s` stops")]
LengthMm = Annotated[int, BeforeValidator(_read_length), Wanted("a length, e.g. `10m`")]


def _name(value: Any) -> str:
    if not isinstance(value, str) or not NAME_PATTERN.match(value):
        raise ValueError(
            f"expected a name of up to 64 letters, digits, '_', '.' and '-', got {show_value(value)}"
        )
    return value


Name = Annotated[str, BeforeValidator(_name), Wanted("a name")]


@dataclass(frozen=True, slots=True)
class PortText:
    """A node or one of its ports, as written: ``h0`` or ``leaf0/5``.

    Attributes:
        node: Node name.
        port: Port number, None where only the node is named.
    """

    node: str
    port: int | None = None

    def __str__(self) -> str:
        return self.node if self.port is None else f"{self.node}/{self.port}"


_PORT = re.compile(r"([A-Za-z0-9_.-]{1,128})(?:/([1-9][0-9]{0,3}))?\Z")


def _port_text(value: Any, wanted: str) -> PortText:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"expected {wanted}, got the number {value}; quote a name that looks like a number")
    match = _PORT.match(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"expected {wanted}, got {show_value(value)}")
    return PortText(match[1], int(match[2]) if match[2] else None)


def read_endpoint(value: Any) -> PortText:
    """A node or a port from text; raises ValueError with what was expected."""
    return _port_text(value, "a node name such as 'h0', or 'h0/2' for its second port")


def read_port(value: Any) -> PortText:
    """A port from text; raises ValueError with what was expected."""
    port = _port_text(value, "a port such as 'leaf0/5'")
    if port.port is None:
        raise ValueError(f"expected a port such as '{port.node}/1', got {value!r}")
    return port


Endpoint = Annotated[
    PortText,
    BeforeValidator(read_endpoint),
    Wanted("an HCA, e.g. `h0`, or one of its ports, e.g. `h0/2`"),
]
Port = Annotated[PortText, BeforeValidator(read_port), Wanted("a port, e.g. `leaf0/5`")]
Cable = Annotated[
    list[Port],
    Field(min_length=2, max_length=2),
    Wanted("the two ends of a cable, e.g. `[leaf0/5, spine0/1]`"),
]


def _count(value: Any) -> int:
    if value == FOREVER_WORD:
        return FOREVER
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_COUNT:
        raise ValueError(f"expected a number from 1 to {LARGEST_COUNT} or 'forever', got {show_value(value)}")
    return value


Count = Annotated[int, BeforeValidator(_count), Wanted("a number, or `forever`")]
"""A number of messages; ``program.FOREVER`` where the file says ``forever``."""

_FRACTION = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?(/[1-9][0-9]{0,11})?\Z")


def read_fraction(value: Any) -> Fraction:
    """An exact number from ``0.125`` or ``1/8``; raises ValueError with what was expected."""
    text = (
        ""
        if isinstance(value, bool)
        else f"{Decimal(str(value)):f}"
        if isinstance(value, float)
        else str(value)
    )
    if not isinstance(value, int | float | str) or not _FRACTION.match(text):
        raise ValueError(f"expected a number such as 0.125 or 1/8, got {show_value(value)}")
    number, _, below = text.partition("/")
    return Fraction(number) / int(below or 1)
