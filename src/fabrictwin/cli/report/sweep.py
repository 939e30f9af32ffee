# SPDX-License-Identifier: Apache-2.0
"""The page of a sweep: a chart for each metric against the parameters, and the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from fabrictwin.cli.report.html import bullets, chart, document, header, section, table
from fabrictwin.cli.report.layout import PALETTE, style
from fabrictwin.cli.sweep_rows import show_value_of, sweep_row
from fabrictwin.study.metric import Metric
from fabrictwin.study.points import Point, short_names, show_written
from fabrictwin.study.sweep import Sweep

HEIGHT = 380
MOST_LINES = 24
_DASHES = ("solid", "dash", "dot")
_SCALES = {"_bps": (1e9, "Gb/s"), "_ns": (1e3, "us"), "bytes": (2**10, "KiB")}


def sweep_page(sweep: Sweep, points: Sequence[Point], values: Sequence[list[Any]]) -> str:
    """Writes the page.

    Args:
        sweep: The sweep.
        points: Its points.
        values: Metrics of each.

    Returns:
        A complete HTML document; it holds its scripts and styles and fetches nothing.
    """
    return document(sweep.name, _body(sweep, points, values))


def _body(sweep: Sweep, points: Sequence[Point], values: Sequence[list[Any]]) -> Iterable[str]:
    names = short_names(sweep)
    yield header(sweep.name, f"{len(points)} points: {', '.join(names) or 'the scenario as it is'}")
    yield '<div class="pair">'
    if sweep.parameters:
        across = max(range(len(names)), key=lambda index: len(sweep.parameters[index].values))
        for number, metric in enumerate(sweep.metrics):
            figure = _lines(sweep, points, [found[number] for found in values], metric, across)
            if figure is not None:
                others = ", ".join(names[:across] + names[across + 1 :])
                how = f"Against {names[across]}" + (f"; a line for each {others}." if others else ".")
                yield section(escape(metric.name), escape(how), chart(figure))
    yield "</div>"
    rows = [sweep_row(point, sweep.metrics, found) for point, found in zip(points, values, strict=True)]
    yield section(
        "All points", "In the order of the file.", table(names, [one.name for one in sweep.metrics], rows)
    )
    warnings = {warning.message: None for point in points for warning in point.warnings}
    if warnings:
        yield section("What is unwise?", "Legal, but with a consequence.", bullets(warnings))


def _lines(
    sweep: Sweep, points: Sequence[Point], values: Sequence[Any], metric: Metric, across: int
) -> go.Figure | None:
    """A metric against a parameter, a line for each combination of the others; None where it is no number."""
    scale, unit = next((entry for end, entry in _SCALES.items() if metric.unit_name.endswith(end)), (1, ""))
    lines: dict[str, list[tuple[Any, Any]]] = {}
    for point, value in zip(points, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            return None
        shown = [show_written(one) for one in point.values]
        name = ", ".join(shown[:across] + shown[across + 1 :])
        lines.setdefault(name, []).append((point.values[across], value))
    figure = go.Figure()
    for index, (name, line) in enumerate(list(lines.items())[:MOST_LINES]):
        figure.add_scatter(
            x=[_tick(x) for x, _ in line],
            y=[None if y is None else y / scale for _, y in line],
            name=name,
            mode="lines+markers",
            showlegend=bool(name),
            line={
                "color": PALETTE[index % len(PALETTE)],
                "dash": _DASHES[index // len(PALETTE) % len(_DASHES)],
                "width": 2,
            },
            text=[show_value_of(metric, y) for _, y in line],
            hovertemplate="%{x}: %{text}",
        )
    style(figure, HEIGHT)
    others = [name for number, name in enumerate(short_names(sweep)) if number != across]
    figure.update_layout(margin_l=80, margin_r=24, margin_t=60, legend_title_text=", ".join(others))
    figure.update_xaxes(title=short_names(sweep)[across], type="category", tickangle=0)
    figure.update_yaxes(
        title=f"{metric.name}" + (f" ({unit})" if unit else ""), rangemode="tozero", tickformat=","
    )
    return figure


def _tick(value: Any) -> str:
    """A value below its chart; a mapping takes a line for each key."""
    if isinstance(value, dict):
        return "<br>".join(escape(show_written({key: item})) for key, item in value.items())
    return escape(show_written(value))
