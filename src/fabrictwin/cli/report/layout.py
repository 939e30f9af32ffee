# SPDX-License-Identifier: Apache-2.0
"""What all charts share: colours, fonts, margins, the time axis, and the lines that mark events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from fabrictwin.cli.report.series import TimeAxis
from fabrictwin.cli.result_rows import Result
from fabrictwin.units import PS_PER_NS

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D00", "#000000")
"""Okabe and Ito's colours, told apart with any colour vision; their yellow darkened for a white page."""
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#6b7280"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"

LEFT_MARGIN, RIGHT_MARGIN = 210, 110
"""Of every chart over time, so that they align."""
MOST_MARKS = 20
KINDS_NAMED = 2
MARK_DISTANCE = 0.025
"""Events that are closer than this share of the run make one mark, since their texts would overlap."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time axis of a page.

    Attributes:
        axis: Its unit.
        end: Where it ends, in that unit.
        marks: (time in that unit, text) of the events that are drawn.
    """

    axis: TimeAxis
    end: float
    marks: tuple[tuple[float, str], ...]


def make_clock(axis: TimeAxis, end_ps: int, events: Sequence[Result]) -> Clock:
    """The time axis of a run, with marks for its events: those that nearly coincide share one."""
    end = float(axis.of(end_ps))
    groups: list[tuple[float, list[str]]] = []
    for event in events:
        at = float(axis.of(event["fabric_ns"] * PS_PER_NS))
        if not groups or at - groups[-1][0] > MARK_DISTANCE * end:
            groups.append((at, []))
        if event["kind"] not in groups[-1][1]:
            groups[-1][1].append(event["kind"])
    return Clock(axis, end, tuple((at, _mark_text(kinds)) for at, kinds in groups[:MOST_MARKS]))


def _mark_text(kinds: Sequence[str]) -> str:
    more = ", …" if len(kinds) > KINDS_NAMED else ""
    return ", ".join(kinds[:KINDS_NAMED]).replace("_", " ") + more


def style(figure: go.Figure, height: int) -> go.Figure:
    """Gives a figure the look of the page."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": LEFT_MARGIN, "r": RIGHT_MARGIN, "t": 30, "b": 48},
        font={"family": FONT, "size": 13, "color": "#1f2937"},
        colorway=PALETTE,
        hoverlabel={"font": {"family": FONT, "size": 13}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    return figure


def style_over_time(figure: go.Figure, height: int, clock: Clock) -> go.Figure:
    """Gives a figure over time the look of the page, the common axis and the lines of the events."""
    style(figure, height)
    figure.update_xaxes(title=f"fabric time ({clock.axis.unit})", range=[0, clock.end])
    figure.update_layout(shapes=[_line(at) for at, _ in clock.marks])
    return figure


def name_marks(figure: go.Figure, clock: Clock) -> None:
    """Writes what happened above the lines of the events."""
    for at, text in clock.marks:
        figure.add_annotation(
            x=at,
            y=1,
            yref="paper",
            text=text,
            showarrow=False,
            textangle=-35,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12, "color": VERMILLION},
        )


def _line(at: float) -> dict[str, Any]:
    look = {"color": VERMILLION, "width": 1.2, "dash": "dot"}
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": look}
