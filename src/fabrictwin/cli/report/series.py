# SPDX-License-Identifier: Apache-2.0
"""From the engine's samples to what the charts draw. Arrays are [steps, ports] or [steps, flows]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrictwin.engine.samples import Samples
from fabrictwin.units import PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CDF_POINTS = 1_000
COARSE_STEPS = 25
LABEL_CHARACTERS = 36


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The unit in which a page shows fabric time.

    Attributes:
        unit: ``ns``, ``us``, ``ms`` or ``s``.
        scale_ps: Picoseconds in one unit.
    """

    unit: str
    scale_ps: int

    def of(self, times_ps: Integers | Floats | float) -> Any:
        """The same times in this unit."""
        return times_ps / self.scale_ps


def time_axis(end_ps: int) -> TimeAxis:
    """The largest unit in which a run lasts at least ten units."""
    for unit, scale_ps in (("s", PS_PER_S), ("ms", PS_PER_MS), ("us", PS_PER_US)):
        if end_ps >= 10 * scale_ps:
            return TimeAxis(unit, scale_ps)
    return TimeAxis("ns", PS_PER_NS)


def steps_ps(times_ps: Integers) -> Integers:
    """Length of each step [steps]; the first began at time 0."""
    return np.maximum(np.diff(times_ps, prepend=0), 1)


def middles_ps(times_ps: Integers) -> Floats:
    """Middle of each step [steps]."""
    return times_ps - steps_ps(times_ps) / 2


def rates_bps(counters_bytes: Integers, times_ps: Integers) -> Floats:
    """Bits per second in each step, from byte counters [steps, columns]."""
    grown = np.diff(counters_bytes, axis=0, prepend=0)
    return grown * (8.0 * PS_PER_S) / steps_ps(times_ps)[:, None]


def shares(counters_ps: Integers, times_ps: Integers) -> Floats:
    """Share of each step, from counters of picoseconds [steps, columns]."""
    return np.diff(counters_ps, axis=0, prepend=0) / steps_ps(times_ps)[:, None]


def utilisation(samples: Samples) -> Floats:
    """Share of its rate at which each port sent [steps, ports]."""
    rate_bps = np.array([port["rate_bps"] for port in samples.ports], dtype=np.float64)
    return rates_bps(samples.port_xmit_bytes, samples.times_ps) / np.maximum(rate_bps, 1)


def by_group(columns: Floats, groups: list[str]) -> dict[str, Floats]:
    """Sums the columns [steps, columns] of each group, in order of first appearance."""
    names = list(dict.fromkeys(groups))
    index = np.array([names.index(group) for group in groups], dtype=np.int64)
    return {name: columns[:, index == number].sum(axis=1) for number, name in enumerate(names)}


def largest(totals: Floats | Integers, count: int) -> list[int]:
    """Indices of the largest values, largest first, without those that are not above zero."""
    order = np.argsort(-totals, kind="stable")[:count]
    return [int(index) for index in order if totals[index] > 0]


def coarse(columns: Floats) -> Floats:
    """Means over stretches of the run [``COARSE_STEPS``, columns], without the noise of single steps."""
    stretches = np.array_split(columns, min(COARSE_STEPS, len(columns)))
    return np.stack([stretch.mean(axis=0) for stretch in stretches])


def spreads(columns: Floats) -> Floats:
    """How far each column moves between stretches of the run [columns]."""
    rough = coarse(columns)
    spread: Floats = rough.max(axis=0) - rough.min(axis=0)
    return spread


def deepest_drops(columns: Floats, count: int, ended: NDArray[np.bool_]) -> list[int]:
    """Columns that fell below half of what was usual for them for a stretch, the deepest first.

    Usual is the median from the first to the last stretch in which a column is above zero, or to the end of
    the run. What comes before the first stretch near that is its start, not a fall; of a column that has
    ended, what comes after the last one is not a fall either.

    Args:
        columns: [steps, columns].
        count: Most of them.
        ended: [columns] Whether a column has nothing left to do at the end of the run.
    """
    rough = coarse(columns)
    moves = _between(rough > 0, ended)
    moves |= ~moves.any(axis=0)
    usual = np.nanmedian(np.where(moves, rough, np.nan), axis=0)
    counts = _between(rough >= usual / 2, ended)
    drops = usual - np.where(counts, rough, usual).min(axis=0)
    return [column for column in largest(drops, count) if drops[column] > usual[column] / 2]


def _between(marked: NDArray[np.bool_], ended: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From the first to the last marked stretch of a column [stretches, columns]; to the end if not ended."""
    after_first = np.maximum.accumulate(marked, axis=0)
    before_last = np.maximum.accumulate(marked[::-1], axis=0)[::-1]
    return after_first & (before_last | ~ended)


def round_steps(least: float, most: float) -> list[float]:
    """Ticks of a logarithmic axis from ``least`` to ``most``: 1, 2 and 5 times the powers of ten."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    return [factor * 10.0**power for power in powers for factor in (1, 2, 5)]


def cdf(values: Integers) -> tuple[Floats, Floats]:
    """A cumulative distribution as at most ``CDF_POINTS`` points: (value, share not above it)."""
    ordered = np.sort(values)
    count = len(ordered)
    picked = np.unique(np.linspace(0, count - 1, min(count, CDF_POINTS)).round().astype(np.int64))
    return ordered[picked].astype(np.float64), (picked + 1) / count


def port_label(port: dict[str, Any]) -> str:
    """``node/port → peer``."""
    name = f"{port['node']}/{port['port']}"
    return f"{name} → {port['peer']}" if port["peer"] else name


def short_label(label: str, characters: int = LABEL_CHARACTERS) -> str:
    """A label that finds room beside a chart: of the names of real fabrics only both ends are kept."""
    names = label.split(" → ")
    half = (characters // len(names)) // 2
    return " → ".join(name if len(name) <= 2 * half else f"{name[:half]}…{name[-half:]}" for name in names)
