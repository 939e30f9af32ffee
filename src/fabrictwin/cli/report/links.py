# SPDX-License-Identifier: Apache-2.0
"""Charts of what the links did: load, waiting for credits, queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fabrictwin.cli.report.layout import BLUE, VERMILLION, Clock, style, style_over_time
from fabrictwin.cli.report.series import (
    Floats,
    largest,
    middles_ps,
    port_label,
    shares,
    short_label,
    spreads,
    utilisation,
)
from fabrictwin.engine.samples import Samples
from fabrictwin.units import PS_PER_S

PORTS_IN_BARS = 10
PORTS_IN_HEAT = 40
ROW_HEIGHT = 19


def busiest_links(samples: Samples, held_back: str) -> go.Figure:
    """The ports that sent most and those that waited most: how much of the run they did either.

    Args:
        samples: State over fabric time.
        held_back: What a wait is called.
    """
    end_ps = int(samples.times_ps[-1])
    rate_bps = np.array([max(port["rate_bps"], 1) for port in samples.ports], dtype=np.float64)
    sent = samples.port_xmit_bytes[-1] * (8 * PS_PER_S * 100 / end_ps) / rate_bps
    waited = samples.xmit_wait_ps[-1] * (100 / end_ps)
    chosen = dict.fromkeys([*largest(sent, PORTS_IN_BARS), *largest(waited, PORTS_IN_BARS)])
    rows = list(chosen)[::-1]
    labels = [port_label(samples.ports[row]) for row in rows]
    figure = go.Figure()
    for name, values, colour in ((held_back, waited, VERMILLION), ("sent", sent, BLUE)):
        figure.add_bar(
            y=labels,
            x=values[rows],
            name=name,
            orientation="h",
            marker_color=colour,
            hovertemplate="%{y}: %{x:.1f} %<extra>" + name + "</extra>",
        )
    style(figure, 110 + ROW_HEIGHT * len(labels))
    figure.update_layout(barmode="group", bargap=0.25, margin_r=30, margin_t=50, legend_traceorder="reversed")
    figure.update_xaxes(title="share of the run (%)", range=[0, 100])
    figure.update_yaxes(automargin=True, **_ticks(labels))
    return figure


def queue_heat(samples: Samples, clock: Clock) -> go.Figure | None:
    """Bytes that waited for each output port, over time."""
    queued_kib = samples.queued_bytes / 1024
    return _heat(queued_kib, largest(queued_kib.sum(axis=0), PORTS_IN_HEAT), samples, clock, "KiB", "YlOrBr")


def wait_heat(samples: Samples, clock: Clock) -> go.Figure | None:
    """Share of each step in which a port had data and no credits, or was paused."""
    waited = shares(samples.xmit_wait_ps, samples.times_ps) * 100
    return _heat(waited, largest(waited.sum(axis=0), PORTS_IN_HEAT), samples, clock, "%", "Purples")


def change_heat(samples: Samples, clock: Clock) -> go.Figure | None:
    """Share of its rate at which each port sent, over time, for the ports where it changed most."""
    load = utilisation(samples) * 100
    return _heat(load, largest(spreads(load), PORTS_IN_HEAT), samples, clock, "%", "Blues")


def _heat(
    values: Floats, rows: Sequence[int], samples: Samples, clock: Clock, unit: str, colours: str
) -> go.Figure | None:
    """A map of port over time, the first of the rows on top; None without rows."""
    if not rows:
        return None
    upwards = list(rows)[::-1]
    labels = [port_label(samples.ports[row]) for row in upwards]
    figure = go.Figure(
        go.Heatmap(
            x=clock.axis.of(middles_ps(samples.times_ps)),
            y=labels,
            z=np.round(values[:, upwards].T, 3),
            zmin=0,
            zmax=100 if unit == "%" else None,
            colorscale=colours,
            colorbar=_colour_bar(unit),
            hovertemplate="%{y}<br>%{x:.4g} " + clock.axis.unit + ": %{z:.4g} " + unit + "<extra></extra>",
        )
    )
    style_over_time(figure, 90 + ROW_HEIGHT * max(len(labels), 4), clock)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False, tickfont={"size": 11}, **_ticks(labels))
    return figure


def _ticks(labels: Sequence[str]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": labels, "ticktext": [short_label(label) for label in labels]}


def _colour_bar(unit: str) -> dict[str, Any]:
    return {"title": {"text": unit}, "thickness": 14, "outlinewidth": 0}
