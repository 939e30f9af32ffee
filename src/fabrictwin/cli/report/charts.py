# SPDX-License-Identifier: Apache-2.0
"""The charts of the report, as plotly figures. Time charts share axis and left margin, so they align."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from fabrictwin.cli.report.series import (
    Integers,
    Samples,
    TimeAxis,
    by_group,
    cdf,
    middles_ps,
    port_label,
    rates_bps,
    shares,
    strongest,
    time_axis,
    utilisation,
)
from fabrictwin.cli.result_rows import Result, slowest_flows
from fabrictwin.units import show_time

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D00", "#000000")
"""Okabe and Ito's colours, told apart with any colour vision; their yellow darkened for a white page."""
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#6b7280"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"

FLOWS_DRAWN = 7
JOBS_DRAWN = 8
PORTS_IN_BARS = 20
PORTS_IN_HEAT = 40
EVENTS_DRAWN = 20
LEFT_MARGIN = 210
ROW_HEIGHT = 19


def _layout(figure: go.Figure, height: int, **more: Any) -> go.Figure:
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": LEFT_MARGIN, "r": 110, "t": 30, "b": 48},
        font={"family": FONT, "size": 13, "color": "#1f2937"},
        colorway=PALETTE,
        hoverlabel={"font": {"family": FONT, "size": 13}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        **more,
    )
    return figure


def _time_chart(
    figure: go.Figure, axis: TimeAxis, samples: Samples, events: Sequence[Result], height: int
) -> go.Figure:
    end = float(axis.of(int(samples.times_ps[-1])))
    _layout(figure, height)
    figure.update_xaxes(title=f"fabric time ({axis.unit})", range=[0, end], showgrid=True)
    figure.update_layout(shapes=[_event_line(event, axis) for event in events[:EVENTS_DRAWN]])
    return figure


def _event_time(event: Result, axis: TimeAxis) -> float:
    return float(axis.of(event["fabric_ns"] * 1_000))


def _event_line(event: Result, axis: TimeAxis) -> dict[str, Any]:
    at = _event_time(event, axis)
    line = {"color": VERMILLION, "width": 1.2, "dash": "dot"}
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def throughput(
    samples: Samples, flow_jobs: Sequence[str], axis: TimeAxis, events: Sequence[Result]
) -> go.Figure:
    """Delivered payload over time, stacked by job, with the events named."""
    delivered = rates_bps(samples.delivered_bytes, samples.times_ps) / 1e9
    jobs = by_group(delivered, list(flow_jobs))
    largest = sorted(jobs, key=lambda name: -float(jobs[name].sum()))
    figure = go.Figure()
    x = axis.of(middles_ps(samples.times_ps))
    drawn = {name: jobs[name] for name in largest[:JOBS_DRAWN]}
    if len(largest) > JOBS_DRAWN:
        drawn["other jobs"] = sum((jobs[name] for name in largest[JOBS_DRAWN:]), np.zeros(len(x)))
    for name, rate in drawn.items():
        figure.add_scatter(
            x=x,
            y=rate,
            name=name,
            mode="lines",
            stackgroup="jobs",
            line={"width": 1},
            hovertemplate="%{y:.1f} Gb/s",
        )
    _time_chart(figure, axis, samples, events, 380)
    figure.update_layout(hovermode="x unified", showlegend=True, margin_t=80 if events else 50)
    figure.update_yaxes(title="delivered (Gb/s)", rangemode="tozero")
    for event in events[:EVENTS_DRAWN]:
        figure.add_annotation(
            x=_event_time(event, axis),
            y=1,
            yref="paper",
            text=event["kind"],
            showarrow=False,
            textangle=-35,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12, "color": VERMILLION},
        )
    return figure


def slow_flows(
    samples: Samples, flows: Sequence[Result], axis: TimeAxis, events: Sequence[Result]
) -> go.Figure:
    """The flows with the least goodput, over time, beside the median of all."""
    rates = rates_bps(samples.delivered_bytes, samples.times_ps) / 1e9
    x = axis.of(middles_ps(samples.times_ps))
    figure = go.Figure()
    column_of = {flow["name"]: column for column, flow in enumerate(flows)}
    for flow in slowest_flows(flows, FLOWS_DRAWN):
        name = f"{flow['name']}: {flow['src']} → {flow['dst']}"
        figure.add_scatter(
            x=x, y=rates[:, column_of[flow["name"]]], name=name, mode="lines", hovertemplate="%{y:.1f} Gb/s"
        )
    if len(flows) > FLOWS_DRAWN:
        line = {"width": 3, "color": GREY}
        figure.add_scatter(
            x=x,
            y=np.median(rates, axis=1),
            name=f"median of {len(flows)} flows",
            mode="lines",
            line=line,
            hovertemplate="%{y:.1f} Gb/s",
        )
    _time_chart(figure, axis, samples, events, 380)
    figure.update_layout(hovermode="x unified", margin_t=70)
    figure.update_yaxes(title="delivered (Gb/s)", rangemode="tozero")
    return figure


def latencies(latencies_ps: Integers) -> go.Figure:
    """Cumulative distribution of message latency, with the percentiles that people quote."""
    figure = go.Figure()
    x, y = cdf(latencies_ps)
    scale = time_axis(int(np.median(latencies_ps)))
    figure.add_scatter(
        x=scale.of(x),
        y=y * 100,
        mode="lines",
        line={"color": BLUE, "width": 2.5, "shape": "hv"},
        showlegend=False,
        hovertemplate="%{y:.2f} % within %{x:.3g} " + scale.unit + "<extra></extra>",
    )
    marks = {"p50": 50.0, "p99": 99.0, "max": 100.0}
    at_ps = [float(np.percentile(latencies_ps, percent, method="inverted_cdf")) for percent in marks.values()]
    figure.add_scatter(
        x=[scale.of(value) for value in at_ps],
        y=list(marks.values()),
        mode="markers+text",
        marker={"color": VERMILLION, "size": 9},
        text=[f"{name} {show_time(value)}" for name, value in zip(marks, at_ps, strict=True)],
        textposition=["middle right", "bottom right", "top left"],
        showlegend=False,
        hoverinfo="skip",
    )
    _layout(figure, 490)
    figure.update_layout(margin_l=70, margin_r=90)
    figure.update_xaxes(title=f"latency of a message ({scale.unit})", type="log")
    figure.update_yaxes(title="messages not slower (%)", range=[0, 108])
    return figure


def busiest_links(samples: Samples) -> go.Figure:
    """How much of the run each of the busiest ports sent, and how much of it it waited for credits."""
    end_ps = int(samples.times_ps[-1])
    sent = samples.port_xmit_bytes[-1] * 8e12 / end_ps
    rate = np.array([max(port["rate_bps"], 1) for port in samples.ports], dtype=np.float64)
    busy, waited = sent / rate * 100, samples.xmit_wait_ps[-1] / end_ps * 100
    order = np.argsort(-np.maximum(busy, waited), kind="stable")[:PORTS_IN_BARS][::-1]
    labels = [port_label(samples.ports[index]) for index in order]
    figure = go.Figure()
    for name, values, colour in (("waited for credits", waited, VERMILLION), ("sent", busy, BLUE)):
        figure.add_bar(
            y=labels,
            x=values[order],
            name=name,
            orientation="h",
            marker_color=colour,
            hovertemplate="%{y}: %{x:.1f} %<extra>" + name + "</extra>",
        )
    _layout(figure, 110 + ROW_HEIGHT * len(labels), barmode="group", bargap=0.25)
    figure.update_layout(margin_r=30, margin_t=50, legend_traceorder="reversed")
    figure.update_xaxes(title="share of the run (%)", range=[0, 100])
    figure.update_yaxes(automargin=True)
    return figure


def _heat(
    values: NDArray[Any], samples: Samples, axis: TimeAxis, events: Sequence[Result], look: dict[str, Any]
) -> go.Figure | None:
    """A map of port over time, strongest port on top; None where every value is zero."""
    rows = strongest(values, PORTS_IN_HEAT)[::-1]
    if not rows:
        return None
    labels = [port_label(samples.ports[row]) for row in rows]
    unit = look["unit"]
    figure = go.Figure(
        go.Heatmap(
            x=axis.of(middles_ps(samples.times_ps)),
            y=labels,
            z=np.round(values[:, rows].T, 3),
            zmin=0,
            zmax=look.get("zmax"),
            colorscale=look["colours"],
            colorbar={"title": {"text": unit}, "thickness": 14, "outlinewidth": 0},
            hovertemplate="%{y}<br>%{x:.4g} " + axis.unit + ": %{z:.4g} " + unit + "<extra></extra>",
        )
    )
    _time_chart(figure, axis, samples, events, 90 + ROW_HEIGHT * max(len(rows), 4))
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False, tickmode="array", tickvals=labels, tickfont={"size": 11})
    return figure


def queue_heat(samples: Samples, axis: TimeAxis, events: Sequence[Result]) -> go.Figure | None:
    """Bytes that waited for each output port, over time."""
    look = {"unit": "KiB", "colours": "YlOrBr"}
    return _heat(samples.queued_bytes / 1024, samples, axis, events, look)


def wait_heat(samples: Samples, axis: TimeAxis, events: Sequence[Result]) -> go.Figure | None:
    """Share of each step in which a port had data and no credits."""
    look = {"unit": "%", "colours": "Purples", "zmax": 100}
    return _heat(shares(samples.xmit_wait_ps, samples.times_ps) * 100, samples, axis, events, look)


def load_heat(samples: Samples, axis: TimeAxis, events: Sequence[Result]) -> go.Figure | None:
    """Share of its rate at which each port sent, over time."""
    look = {"unit": "%", "colours": "Blues", "zmax": 100}
    return _heat(utilisation(samples) * 100, samples, axis, events, look)
