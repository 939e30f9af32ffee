# SPDX-License-Identifier: Apache-2.0
"""Quantities with units, as integers: picoseconds, bytes, bits per second, millimetres.

Inside FabricTwin no time, size, rate or length is ever a float. This module is the only place that reads or
prints units.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

PS_PER_NS = 1_000
PS_PER_US = 1_000_000
PS_PER_MS = 1_000_000_000
PS_PER_S = 1_000_000_000_000

TIME_UNITS = {"ps": 1, "ns": PS_PER_NS, "us": PS_PER_US, "ms": PS_PER_MS, "s": PS_PER_S}
SIZE_UNITS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
RATE_UNITS = {"Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12}
LENGTH_UNITS = {"m": 1_000, "km": 1_000_000}

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\Z")
_LARGEST = 2**62


def _parse(text: str, units: dict[str, int], what: str) -> int:
    example = f"a {what} such as '10{next(iter(units))}' (units: {', '.join(units)})"
    match = _QUANTITY.match(text.strip()) if len(text) <= 64 else None
    if match is None or match[2] not in units:
        raise ValueError(f"expected {example}, got {text!r}")
    try:
        value = Decimal(match[1]) * units[match[2]]
    except InvalidOperation:
        raise ValueError(f"expected {example}, got {text!r}") from None
    if value != int(value):
        raise ValueError(f"{text!r} is finer than the smallest step of a {what}")
    if value > _LARGEST:
        raise ValueError(f"{text!r} is too large for a {what}")
    return int(value)


def parse_time_ps(text: str) -> int:
    """Picoseconds from ``'2ms'``; raises ValueError with what was expected."""
    return _parse(text, TIME_UNITS, "time")


def parse_size_bytes(text: str) -> int:
    """Bytes from ``'64KiB'``; raises ValueError with what was expected."""
    return _parse(text, SIZE_UNITS, "size")


def parse_rate_bps(text: str) -> int:
    """Bits per second from ``'400Gb/s'``; raises ValueError with what was expected."""
    return _parse(text, RATE_UNITS, "rate")


def parse_length_mm(text: str) -> int:
    """Millimetres from ``'10m'``; raises ValueError with what was expected."""
    return _parse(text, LENGTH_UNITS, "length")


def _show(value: float, units: dict[str, int]) -> str:
    name, scale = "", 1
    for unit, unit_scale in sorted(units.items(), key=lambda item: item[1]):
        if value >= unit_scale or not name:
            name, scale = unit, unit_scale
    return f"{value / scale:.4g} {name}"


def show_time(ps: float) -> str:
    """A time for people: ``'1.5 ms'``."""
    return _show(ps, TIME_UNITS)


def show_clock(time_ps: int) -> str:
    """A fabric time to the nanosecond: ``'3.214567 ms'``."""
    return f"{time_ps / PS_PER_MS:,.6f} ms"


def show_size(size_bytes: float) -> str:
    """A size for people, in binary units: ``'64 KiB'``."""
    return _show(size_bytes, {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30})


def show_rate(bps: float) -> str:
    """A rate for people: ``'397.5 Gb/s'``."""
    return _show(bps, RATE_UNITS)


def femtoseconds_per_byte(rate_bps: int) -> int:
    """Wire time of one byte in femtoseconds, rounded to nearest: 400 Gb/s is exactly 20 000 fs."""
    return (8 * 10**15 + rate_bps // 2) // rate_bps
