# SPDX-License-Identifier: Apache-2.0
"""Where two traces part, for people: the last common events and the first that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

COMMON_ROWS = 6
DIFFERENT_ROWS = 4

Row = tuple[Any, ...]


def first_difference(what: str, names: Sequence[str], oracle: Sequence[Row], engine: Sequence[Row]) -> str:
    """A text that shows where two sequences of rows part; empty where they are equal.

    Args:
        what: What the rows are.
        names: Names of the columns.
        oracle: Rows of the oracle.
        engine: Rows of the engine.
    """
    if list(oracle) == list(engine):
        return ""
    shorter = min(len(oracle), len(engine))
    at = next((index for index in range(shorter) if oracle[index] != engine[index]), shorter)
    lines = [
        f"{what} differ at row {at} (oracle {len(oracle)} rows, engine {len(engine)}): {', '.join(names)}"
    ]
    lines += [f"  both    {row}" for row in oracle[max(0, at - COMMON_ROWS) : at]]
    lines += [f"  oracle  {row}" for row in oracle[at : at + DIFFERENT_ROWS]]
    lines += [f"  engine  {row}" for row in engine[at : at + DIFFERENT_ROWS]]
    return "\n".join(lines)
