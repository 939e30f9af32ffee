# SPDX-License-Identifier: Apache-2.0
"""Charts of what the flows got: throughput by job, the slowest flows, those that a fault hit, latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fabrictwin.cli.report.layout import BLUE, GREY, VERMILLION, Clock, name_marks, style, style_over_time
from fabrictwin.cli.report.series import (
    Floats,
    Integers,
    by_group,
    cdf,
    deepest_drops,
    middles_ps,
    rates_bps,
    round_steps,
    short_label,
    time_axis,
)
from fabrictwin.cli.result_rows import Result, flow_name, slowest_flows
from fabrictwin.engine.samples import Samples
from fabrictwin.units import show_time

FLOWS_DRAWN = 7
JOBS_DRAWN = 8
LEGEND_CHARACTERS = 72
HEIGHT = 380
TERABITS_FROM_GBPS = 2_000
RATE_HOVER = "%{y:,.1f} Gb/s"


def _delivered_gbps(samples: Samples) -> Floats:
    return rates_bps(samples.delivered_bytes, samples.times_ps) / 1e9


def throughput(samples: Samples, flow_jobs: Sequence[str], clock: Clock) -> go.Figure:
    """Delivered payload over time, stacked by job, with the events named."""
    jobs = by_group(_delivered_gbps(samples), list(flow_jobs))
    largest = sorted(jobs, key=lambda name: -float(jobs[name].sum()))
    drawn = {name: jobs[name] for name in largest[:JOBS_DRAWN]}
    if len(largest) > JOBS_DRAWN:
        drawn["other jobs"] = np.sum([jobs[name] for name in largest[JOBS_DRAWN:]], axis=0)
    most_gbps = max((float(rate.max()) for rate in jobs.values()), default=0.0)
    unit, scale = ("Tb/s", 1e3) if most_gbps >= TERABITS_FROM_GBPS else ("Gb/s", 1.0)
    figure = go.Figure()
    x = clock.axis.of(middles_ps(samples.times_ps))
    for name, rate in drawn.items():
        figure.add_scatter(
            x=x,
            y=rate / scale,
            name=name,
            mode="lines",
            stackgroup="jobs",
            line={"width": 1},
            hovertemplate="%{y:,.4~g} " + unit,
        )
    style_over_time(figure, HEIGHT, clock)
    figure.update_layout(hovermode="x unified", showlegend=True, margin_t=110 if clock.marks else 50)
    figure.update_yaxes(title=f"delivered ({unit})", rangemode="tozero", tickformat=",")
    name_marks(figure, clock)
    return figure


def slow_flows(samples: Samples, flows: Sequence[Result], clock: Clock) -> go.Figure:
    """The flows with the least goodput, over time, beside the median of all."""
    column_of = {flow["name"]: column for column, flow in enumerate(flows)}
    columns = [column_of[flow["name"]] for flow in slowest_flows(flows, FLOWS_DRAWN)]
    return _flow_lines(samples, flows, columns, clock)


def hit_flows(samples: Samples, flows: Sequence[Result], clock: Clock, *, all_done: bool) -> go.Figure | None:
    """The flows whose rate fell furthest below their own median; None where none lost half of it.

    Args:
        samples: State over fabric time.
        flows: Flows of the result.
        clock: The time axis.
        all_done: Whether the run stopped because nothing was left to do.
    """
    ended = np.array([all_done and not flow["failed_messages"] for flow in flows], dtype=np.bool_)
    columns = deepest_drops(_delivered_gbps(samples), FLOWS_DRAWN, ended)
    return _flow_lines(samples, flows, columns, clock) if columns else None


def _flow_lines(samples: Samples, flows: Sequence[Result], columns: Sequence[int], clock: Clock) -> go.Figure:
    rates = _delivered_gbps(samples)
    x = clock.axis.of(middles_ps(samples.times_ps))
    figure = go.Figure()
    for column in columns:
        name = short_label(flow_name(flows[column]), LEGEND_CHARACTERS)
        figure.add_scatter(x=x, y=rates[:, column], name=name, mode="lines", hovertemplate=RATE_HOVER)
    if len(flows) > len(columns):
        figure.add_scatter(
            x=x,
            y=np.median(rates, axis=1),
            name=f"median of {len(flows)} flows",
            mode="lines",
            line={"width": 3, "color": GREY},
            hovertemplate=RATE_HOVER,
        )
    style_over_time(figure, HEIGHT, clock)
    figure.update_layout(hovermode="x unified", margin_t=90, showlegend=True)
    figure.update_yaxes(title="delivered (Gb/s)", rangemode="tozero", tickformat=",")
    return figure


def latencies(latencies_ps: Integers) -> go.Figure:
    """Cumulative distribution of message latency, with the percentiles that people quote."""
    axis = time_axis(10 * int(np.median(latencies_ps)))
    x, y = cdf(latencies_ps)
    figure = go.Figure()
    figure.add_scatter(
        x=axis.of(x),
        y=y * 100,
        mode="lines",
        line={"color": BLUE, "width": 2.5, "shape": "hv"},
        showlegend=False,
        hovertemplate="%{y:.2f} % within %{x:.4g} " + axis.unit + "<extra></extra>",
    )
    marks = {"p50": 50.0, "p99": 99.0, "max": 100.0}
    at_ps = np.percentile(latencies_ps, list(marks.values()), method="inverted_cdf")
    figure.add_scatter(
        x=axis.of(at_ps),
        y=list(marks.values()),
        mode="markers+text",
        marker={"color": VERMILLION, "size": 9},
        text=[f"{name} {show_time(value)}" for name, value in zip(marks, at_ps.tolist(), strict=True)],
        textposition=["middle right", "bottom right", "top left"],
        showlegend=False,
        hoverinfo="skip",
    )
    style(figure, 490)
    figure.update_layout(margin_l=70, margin_r=20)
    least, most = float(axis.of(x[0])), float(axis.of(x[-1]))
    ticks = round_steps(least, most)
    # Room for the texts beside the last points.
    room = max(0.35 * math.log10(most / least), 0.2)
    figure.update_xaxes(
        title=f"latency of a message ({axis.unit})",
        type="log",
        range=[math.log10(least) - room / 4, math.log10(most) + room],
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
    )
    figure.update_yaxes(title="messages not slower (%)", range=[0, 108])
    return figure
