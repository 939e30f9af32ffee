# SPDX-License-Identifier: Apache-2.0
"""The table of a sweep as text, the same on the terminal and on the page."""

from __future__ import annotations

from typing import Any

from fabrictwin.cli.console import printable
from fabrictwin.cli.result_rows import show_ns
from fabrictwin.study.metric import Metric
from fabrictwin.study.points import Point, show_written
from fabrictwin.units import show_rate, show_size


def show_value_of(metric: Metric, value: Any) -> str:
    """A value of a metric with its unit; ``-`` where a result has none."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(str(value))
    unit = metric.unit_name
    if unit.endswith("_bps"):
        return show_rate(value)
    if unit.endswith("_ns"):
        return show_ns(value)
    if unit.endswith("bytes"):
        return show_size(value)
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def sweep_row(point: Point, metrics: tuple[Metric, ...], values: list[Any]) -> list[str]:
    """Parameters of a point and its metrics."""
    shown = (show_value_of(metric, value) for metric, value in zip(metrics, values, strict=True))
    return [*(printable(show_written(value)) for value in point.values), *shown]
