# SPDX-License-Identifier: Apache-2.0
"""Charts of a comparison: a colour for each variant, the same in all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fabrictwin.cli.report.layout import GREY, PALETTE, style
from fabrictwin.cli.report.series import middles_ps, rates_bps, round_steps, time_axis
from fabrictwin.cli.result_rows import Result
from fabrictwin.model.fabric import Technology
from fabrictwin.study.cluster import REACHES
from fabrictwin.study.idle_latency import FIELD_FIGURES
from fabrictwin.study.outcome import Outcome

HEIGHT = 420
MARGINS = {"margin_l": 70, "margin_r": 24}
_DASHES = {Technology.INFINIBAND.value: "solid", Technology.ROCE.value: "dash"}


def _colours(variants: Sequence[Result]) -> dict[str, str]:
    return {one["name"]: PALETTE[index % len(PALETTE)] for index, one in enumerate(variants)}


def throughput(variants: Sequence[Result], outcomes: Mapping[str, Outcome]) -> go.Figure:
    """Payload delivered over time."""
    colours = _colours(variants)
    axis = time_axis(max(int(outcomes[one["name"]].times_ps[-1]) for one in variants))
    figure = go.Figure()
    for one in variants:
        outcome = outcomes[one["name"]]
        gbps = rates_bps(outcome.delivered_bytes[:, None], outcome.times_ps)[:, 0] / 1e9
        figure.add_scatter(
            x=axis.of(middles_ps(outcome.times_ps)),
            y=gbps,
            name=one["title"],
            mode="lines",
            line={"color": colours[one["name"]], "dash": _DASHES[one["technology"]], "width": 2},
            hovertemplate="%{y:,.1f} Gb/s",
        )
    style(figure, HEIGHT)
    figure.update_layout(hovermode="x unified", **MARGINS)
    figure.update_xaxes(title=f"fabric time ({axis.unit})", rangemode="tozero")
    figure.update_yaxes(title="delivered (Gb/s)", rangemode="tozero", tickformat=",")
    return figure


def latencies(variants: Sequence[Result], outcomes: Mapping[str, Outcome]) -> go.Figure:
    """Cumulative distributions of message latency."""
    colours = _colours(variants)
    found = [outcome.latencies_ps for outcome in outcomes.values() if len(outcome.latencies_ps)]
    axis = time_axis(10 * int(np.median(np.concatenate(found))))
    figure = go.Figure()
    for one in variants:
        ordered = outcomes[one["name"]].latencies_ps
        figure.add_scatter(
            x=axis.of(ordered),
            y=100 * np.arange(1, len(ordered) + 1) / max(len(ordered), 1),
            name=one["title"],
            mode="lines",
            line={
                "color": colours[one["name"]],
                "dash": _DASHES[one["technology"]],
                "width": 2,
                "shape": "hv",
            },
            hovertemplate="%{y:.1f} % within %{x:.4g} " + axis.unit,
        )
    style(figure, HEIGHT)
    least = float(axis.of(min(int(ordered[0]) for ordered in found)))
    most = float(axis.of(max(int(ordered[-1]) for ordered in found)))
    ticks = round_steps(least, most)
    figure.update_layout(**MARGINS)
    figure.update_xaxes(
        title=f"latency of a message ({axis.unit})",
        type="log",
        range=[math.log10(least) - 0.05, math.log10(most) + 0.05],
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
    )
    figure.update_yaxes(title="messages not slower (%)", range=[0, 102])
    return figure


def clusters(result: Result) -> go.Figure:
    """Effective bandwidth against hosts: one panel for each reach."""
    colours = _colours(result["variants"])
    figure = make_subplots(
        cols=len(REACHES), shared_yaxes=True, subplot_titles=REACHES, horizontal_spacing=0.04
    )
    measured = {one["variant"] for one in result["clusters"]}
    for one in result["variants"]:
        if one["name"] not in measured:
            continue
        for column, reach in enumerate(REACHES, start=1):
            rows = [
                row for row in result["clusters"] if (row["variant"], row["reach"]) == (one["name"], reach)
            ]
            for field, dash, width in (("mean_share", "solid", 2.5), ("min_share", "dot", 1.5)):
                figure.add_scatter(
                    x=[str(row["hosts"]) for row in rows],
                    y=[100 * row[field] for row in rows],
                    name=one["title"],
                    legendgroup=one["name"],
                    showlegend=column == 1 and field == "mean_share",
                    mode="lines+markers",
                    line={"color": colours[one["name"]], "dash": dash, "width": width},
                    hovertemplate="%{x} hosts: %{y:.1f} %",
                    row=1,
                    col=column,
                )
    style(figure, HEIGHT)
    figure.update_layout(margin_t=80, legend_y=1.1, **MARGINS)
    figure.update_xaxes(title="hosts", type="category")
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title="share of its link (%)", col=1)
    return figure


def idle(latencies: Sequence[Result]) -> go.Figure:
    """Latency of an idle fabric in its parts, over what the field says."""
    figure = go.Figure()
    labels = [
        f"{Technology(one['technology']).label}, {count}" for one in latencies for count in one["latency_ns"]
    ]
    for index, name in enumerate(("send", "cables", "switches", "receive")):
        figure.add_bar(
            y=labels,
            x=[_parts_ns(one, int(count))[index] for one in latencies for count in one["latency_ns"]],
            name=name,
            orientation="h",
            marker_color=PALETTE[index],
            hovertemplate="%{y}: %{x:,.0f} ns",
        )
    at = 0
    for one in latencies:
        figures = FIELD_FIGURES[Technology(one["technology"])]
        for count in one["latency_ns"]:
            if int(count) in figures.end_switches:
                least, most = figures.end_ns
                figure.add_shape(
                    type="rect",
                    x0=least,
                    x1=most,
                    y0=at - 0.48,
                    y1=at + 0.48,
                    fillcolor=GREY,
                    opacity=0.16,
                    line_width=0,
                )
            at += 1
    style(figure, 130 + 36 * len(labels))
    figure.update_layout(
        barmode="stack", bargap=0.45, margin_l=150, margin_r=24, legend_traceorder="normal", margin_t=50
    )
    figure.update_xaxes(title="latency of a small message (ns)", rangemode="tozero", tickformat=",")
    figure.update_yaxes(autorange="reversed", title="switches on the way")
    return figure


def _parts_ns(latency: Result, switches: int) -> tuple[float, float, float, float]:
    """(send, cables with the packet's bytes, switches, receive)."""
    send, switch, _, _, receive = (part["ns"] for part in latency["parts"])
    total = latency["latency_ns"][str(switches)]
    return send, total - send - receive - switches * switch, switches * switch, receive
