# SPDX-License-Identifier: Apache-2.0
"""What a benchmark case is: one measured value with a goal, and what peers make of the same work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

REPEATS = 3


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program's figure for the same work, in the unit of the case.

    Attributes:
        name: The program, and how it was set.
        value: Its figure.
        source: Where the figure comes from.
    """

    name: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one case gave.

    Attributes:
        values: One value a repeat.
        details: Whatever else is worth a look.
    """

    values: list[float]
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        name: Name on the command line.
        unit: Unit of the value.
        goal: The value to reach.
        higher_is_better: Whether the goal is a least value; otherwise it is a largest one.
        measure: Takes the measurement, warmed up, with ``REPEATS`` repeats.
        peers: Figures of others.
    """

    name: str
    unit: str
    goal: float
    higher_is_better: bool
    measure: Callable[[], Measurement]
    peers: tuple[Peer, ...] = ()


def run_case(case: Case) -> dict[str, Any]:
    """Measures a case and returns its line: the median of the repeats beside goal and peers."""
    measurement = case.measure()
    value = median(measurement.values)
    return {
        "name": case.name,
        "value": round(value, 4),
        "unit": case.unit,
        "goal": case.goal,
        "met": value >= case.goal if case.higher_is_better else value <= case.goal,
        "repeats": [round(repeat, 4) for repeat in measurement.values],
        **measurement.details,
        "peers": [{"name": peer.name, "value": peer.value, "source": peer.source} for peer in case.peers],
    }
