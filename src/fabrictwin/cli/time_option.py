# SPDX-License-Identifier: Apache-2.0
"""A fabric time on the command line."""

from __future__ import annotations

from fabrictwin.errors import InputError
from fabrictwin.units import parse_time_ps


def read_time_ps(text: str, field: str) -> int:
    """Picoseconds above 0 from a text.

    Args:
        text: What stands on the command line.
        field: Where.

    Raises:
        InputError: It is no time, or 0.
    """
    time_ps = read_time_or_0_ps(text, field)
    if time_ps == 0:
        raise InputError.of(f"expected a time above 0, got {text!r}", field=field)
    return time_ps


def read_time_or_0_ps(text: str, field: str) -> int:
    """Picoseconds from a text that may be 0.

    Args:
        text: What stands on the command line.
        field: Where.

    Raises:
        InputError: It is no time.
    """
    try:
        return parse_time_ps(text)
    except ValueError as error:
        raise InputError.of(str(error), field=field) from None
