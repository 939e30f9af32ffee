# SPDX-License-Identifier: Apache-2.0
"""The report page: facts, charts and tables, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from fabrictwin.cli.report import flows, links
from fabrictwin.cli.report.layout import make_clock
from fabrictwin.cli.report.series import Integers, time_axis
from fabrictwin.cli.report.style import CSS, LINK_ZOOM
from fabrictwin.cli.result_rows import (
    FLOW_NUMBERS,
    FLOW_TEXTS,
    JOB_NUMBERS,
    JOB_TEXTS,
    Result,
    event_row,
    flow_row,
    iterating_jobs,
    job_row,
    show_ns,
    slowest_flows,
)
from fabrictwin.engine.samples import Samples
from fabrictwin.units import show_rate, show_size

FLOWS_LISTED = 200
EVENTS_LISTED = 500


def report_page(result: Result, samples: Samples, latencies_ps: Integers, flow_jobs: Sequence[str]) -> str:
    """Writes the page.

    Args:
        result: A result of schema ``fabrictwin.result/1``.
        samples: State over fabric time, of the same run.
        latencies_ps: Latency of every message of the run, in any order.
        flow_jobs: Name of the job of each flow, in the order of ``result["flows"]``.

    Returns:
        A complete HTML document; it holds its scripts and styles and fetches nothing.
    """
    name = escape(result["scenario"]["name"])
    body = [
        _header(result),
        _deadlock(result["deadlock"]),
        *_charts(result, samples, latencies_ps, flow_jobs),
        _jobs(result["jobs"]),
        _events(result["events"]),
        _flow_table(result["flows"]),
        _footer(result),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name} · FabricTwin</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{CSS}</style>'
        f"<script>{get_plotlyjs()}</script></head>\n<body><main>\n"
        + "\n".join(part for part in body if part)
        + f"\n</main><script>{LINK_ZOOM}</script></body></html>\n"
    )


def _header(result: Result) -> str:
    scenario, fabric, totals = result["scenario"], result["fabric"], result["totals"]
    marks = "ecn_marked" if fabric["technology"] == "roce" else "fecn_marked"
    seconds = result["fabric_time_ns"] / 1e9
    tiles = {
        "fabric time": show_ns(result["fabric_time_ns"]),
        "stopped by": result["stopped"],
        "delivered": show_size(totals["bytes"]),
        "mean throughput": show_rate(totals["bytes"] * 8 / seconds) if seconds else "-",
        "dropped packets": f"{totals['dropped_packets']:,}",
        "retransmitted packets": f"{totals['retransmitted_packets']:,}",
        f"{marks.removesuffix('_marked').upper()} marks": f"{totals[marks]:,}",
    }
    shown = "".join(
        f'<div class="tile"><b>{escape(str(value))}</b><span>{label}</span></div>'
        for label, value in tiles.items()
    )
    return (
        f'<header><h1>{escape(scenario["name"])}</h1><p class="lead">{fabric["switches"]} switches, '
        f"{fabric['hcas']} HCAs, {fabric['links']} links, {escape(fabric['technology'])} · "
        f'seed {scenario["seed"]}</p></header>\n<div class="tiles">{shown}</div>'
    )


def _deadlock(deadlock: Result | None) -> str:
    if deadlock is None:
        return ""
    items = "".join(f"<li><code>{escape(entry)}</code></li>" for entry in deadlock["cycle"])
    return (
        '<section class="deadlock">Deadlock: each of these waits for credits that only the next can free, '
        f"and the last waits for the first.<ol>{items}</ol></section>"
    )


def _charts(
    result: Result, samples: Samples, latencies_ps: Integers, flow_jobs: Sequence[str]
) -> Iterable[str]:
    end_ps = int(samples.times_ps[-1])
    clock = make_clock(time_axis(end_ps), end_ps, result["events"])
    yield _over_time(
        "How much data arrived, and when did that change?",
        "Payload delivered to the receivers, by job. Dotted lines are events; drag to zoom, double-click to "
        "return: all charts over time move together.",
        flows.throughput(samples, flow_jobs, clock),
    )
    yield _over_time(
        "Which flows were hit?",
        "The flows whose rate fell furthest below what was usual for them.",
        flows.hit_flows(samples, result["flows"], clock, all_done=result["stopped"] == "idle"),
        "No flow lost half of its usual rate for long.",
    )
    yield _over_time(
        "Which flows got the least?",
        "The flows with the lowest goodput over the run, beside the median of all flows.",
        flows.slow_flows(samples, result["flows"], clock),
    )
    yield '<div class="pair">'
    if len(latencies_ps):
        yield _section(
            "How long did messages take?",
            "From posting to the last byte in the receiver's memory. A flat tail: a few messages suffer.",
            flows.latencies(latencies_ps),
        )
    yield _section(
        "Which links carried the most, and which were held back?",
        "The ports that were sending for most of the run, and those that had data but no credits.",
        links.busiest_links(samples),
    )
    yield "</div>"
    yield _over_time(
        "Where did packets queue?",
        "Bytes that waited for an output port; the ports with the longest queues on average.",
        links.queue_heat(samples, clock),
        "Nothing waited for an output port at any sample.",
    )
    yield _over_time(
        "Where did ports wait for credits, so that congestion spread upstream?",
        "Share of each step in which a port had a packet and could not send it for want of credits.",
        links.wait_heat(samples, clock),
        "No port ever waited for credits.",
    )
    yield _over_time(
        "On which links did the load change?",
        "Share of its rate at which each port sent; the ports where it changed most during the run.",
        links.change_heat(samples, clock),
        "The load of every port was the same all along.",
    )


def _section(
    title: str, how_to_read: str, figure: go.Figure | None, otherwise: str = "", kind: str = ""
) -> str:
    drawn = f"<p>{otherwise}</p>" if figure is None else _html(figure)
    return f'<section class="{kind}"><h2>{title}</h2><p>{how_to_read}</p>{drawn}</section>'


def _over_time(title: str, how_to_read: str, figure: go.Figure | None, otherwise: str = "") -> str:
    return _section(title, how_to_read, figure, otherwise, kind="over-time")


def _html(figure: go.Figure) -> str:
    config = {"displayModeBar": False, "responsive": True}
    html: str = figure.to_html(full_html=False, include_plotlyjs=False, config=config)
    return html


def _table(
    title: str, note: str, texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    side = [""] * len(texts) + [' class="number"'] * len(numbers)
    head = "".join(
        f"<th{place}>{escape(name)}</th>" for place, name in zip(side, [*texts, *numbers], strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{place}>{escape(cell)}</td>" for place, cell in zip(side, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<section><h2>{title}</h2><p>{note}</p><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _jobs(jobs: Sequence[Result]) -> str:
    shown = iterating_jobs(jobs)
    if not shown:
        return ""
    note = "Algorithm and bus bandwidth as nccl-tests defines them."
    return _table("How did the jobs fare?", note, JOB_TEXTS, JOB_NUMBERS, map(job_row, shown))


def _events(events: Sequence[Result]) -> str:
    if not events:
        return ""
    listed = events[:EVENTS_LISTED]
    note = f"{len(listed)} of {len(events):,}, in order of fabric time."
    rows = map(event_row, listed)
    return _table("What happened?", note, ("fabric time", "event"), (), rows)


def _flow_table(rows: Sequence[Result]) -> str:
    slowest = slowest_flows(rows, FLOWS_LISTED)
    note = f"{len(slowest)} of {len(rows)}, the slowest first."
    return _table("Flows", note, FLOW_TEXTS, FLOW_NUMBERS, map(flow_row, slowest))


def _footer(result: Result) -> str:
    work = f"{result['packet_hops']:,} packet-hops, {result['engine_events']:,} events"
    return (
        f"<footer>{work} in {result['wall_s']:.2f} s · "
        f"digest <code>{escape(result['digest'])}</code> · scenario sha256 "
        f"<code>{escape(result['scenario']['sha256'])}</code></footer>"
    )
