# SPDX-License-Identifier: Apache-2.0
"""The course of a drill as a picture: goodput over fabric time, the fault, and what was seen when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fabrictwin.units import show_rate

WIDTH, HEIGHT = 1040, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 40, 30
NS_PER_MS = 1e6


class _Scale:
    """Fabric time and rates as places of the picture."""

    def __init__(self, first_ns: float, last_ns: float, most_bps: float) -> None:
        self.first_ns = first_ns
        self.last_ns = max(last_ns, first_ns + 1)
        self.most_bps = most_bps or 1.0

    def x(self, at_ns: float) -> float:
        share = (min(max(at_ns, self.first_ns), self.last_ns) - self.first_ns) / (
            self.last_ns - self.first_ns
        )
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, bps: float) -> float:
        return HEIGHT - BOTTOM - bps / self.most_bps * (HEIGHT - TOP - BOTTOM)


def draw_chart(journal: Mapping[str, Any]) -> str:
    """The picture as SVG; empty where nothing was measured."""
    samples = journal["samples"]
    if not samples:
        return ""
    totals = [sum(sample["goodput_bps"].values()) for sample in samples]
    scale = _Scale(
        samples[0]["fabric_ns"] - samples[0]["span_ns"], samples[-1]["fabric_ns"], 1.1 * max(totals)
    )
    parts = [
        *_bands(journal, scale),
        *_grid(scale),
        _steps(samples, totals, scale),
        *_marks(journal, scale),
    ]
    label = "Goodput of all flows over fabric time, with the fault and what was seen of it"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>\n'


def _bands(journal: Mapping[str, Any], scale: _Scale) -> Iterator[str]:
    """When the fault was there, and below it when the hypothesis did not hold."""
    fault = journal["fault"]
    if fault["active_ns"] is not None:
        end_ns = fault["cleared_ns"] if fault["cleared_ns"] is not None else scale.last_ns
        yield _band(scale, fault["active_ns"], end_ns, TOP, HEIGHT - TOP - BOTTOM, "var(--bad)", 0.08)
    for sample in journal["samples"]:
        if sample["out"]:
            begin_ns = sample["fabric_ns"] - sample["span_ns"]
            yield _band(scale, begin_ns, sample["fabric_ns"], HEIGHT - BOTTOM, 5, "var(--warn)", 0.9)


def _band(
    scale: _Scale, begin_ns: float, end_ns: float, y: float, height: float, colour: str, opacity: float
) -> str:
    x, width = scale.x(begin_ns), scale.x(end_ns) - scale.x(begin_ns)
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" '
        f'fill="{colour}" fill-opacity="{opacity}"/>'
    )


def _grid(scale: _Scale) -> Iterator[str]:
    for number in range(5):
        bps = scale.most_bps * number / 4
        y = scale.y(bps)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>'
        label = escape(show_rate(bps)) if bps else "0"
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    for number in range(6):
        at_ns = scale.first_ns + (scale.last_ns - scale.first_ns) * number / 5
        anchor = "end" if number == 5 else "middle"
        text = f"{at_ns / NS_PER_MS:.2f} ms"
        yield f'<text x="{scale.x(at_ns):.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">{text}</text>'


def _steps(samples: Sequence[Mapping[str, Any]], totals: Sequence[float], scale: _Scale) -> str:
    """The goodput of each span as a step."""
    points = []
    for sample, total in zip(samples, totals, strict=True):
        begin_ns = sample["fabric_ns"] - sample["span_ns"]
        points += [(scale.x(begin_ns), scale.y(total)), (scale.x(sample["fabric_ns"]), scale.y(total))]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="var(--blue)" stroke-width="2"/>'


def _marks(journal: Mapping[str, Any], scale: _Scale) -> Iterator[str]:
    """Lines where something was seen for the first time."""
    for row, (at_ns, text, colour) in enumerate(sorted(_moments(journal))):
        x = scale.x(at_ns)
        y = 12 + 13 * (row % 2)
        near_end = x > WIDTH * 0.8
        anchor, shift = ("end", -4) if near_end else ("start", 4)
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{HEIGHT - BOTTOM}" stroke="{colour}" '
            f'stroke-dasharray="3 3"/>'
            f'<text x="{x + shift:.1f}" y="{y}" text-anchor="{anchor}" style="fill:{colour}">'
            f"{escape(text)}</text>"
        )


def _moments(journal: Mapping[str, Any]) -> Iterator[tuple[float, str, str]]:
    fault, detection, mitigation = journal["fault"], journal["detection"], journal["mitigation"]
    active_ns, cleared_ns = fault["active_ns"], fault["cleared_ns"]
    if active_ns is None:
        return
    yield active_ns, "fault", "var(--bad)"
    if detection["fabric_ttd_ns"]:
        yield active_ns + detection["fabric_ttd_ns"], "detected", "var(--odd)"
    if mitigation["ttm_ns"]:
        yield active_ns + mitigation["ttm_ns"], "mitigated", "var(--good)"
    if cleared_ns is not None:
        yield cleared_ns, "rollback", "var(--dim)"
        if mitigation["ttr_ns"] is not None:
            yield cleared_ns + mitigation["ttr_ns"], "recovered", "var(--good)"
