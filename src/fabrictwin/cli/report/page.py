# SPDX-License-Identifier: Apache-2.0
"""The report page: facts, charts and tables, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import plotly.graph_objects as go

from fabrictwin.cli.report import flows, links
from fabrictwin.cli.report.html import chart, document, header, section, table
from fabrictwin.cli.report.layout import make_clock
from fabrictwin.cli.report.series import Integers, time_axis
from fabrictwin.cli.report.style import LINK_ZOOM
from fabrictwin.cli.result_rows import (
    FLOW_NUMBERS,
    FLOW_TEXTS,
    JOB_NUMBERS,
    JOB_TEXTS,
    Result,
    event_row,
    flow_row,
    held_back_words,
    iterating_jobs,
    job_row,
    show_ns,
    slowest_flows,
)
from fabrictwin.engine.samples import Samples
from fabrictwin.model.fabric import Technology
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
    body = [
        _header(result),
        _deadlock(result["deadlock"]),
        *_charts(result, samples, latencies_ps, flow_jobs),
        _jobs(result["jobs"]),
        _events(result["events"]),
        _flow_table(result["flows"]),
        _footer(result),
    ]
    return document(result["scenario"]["name"], body, LINK_ZOOM)


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
    lead = (
        f"{fabric['switches']} switches, {fabric['hcas']} HCAs, {fabric['links']} links, "
        f"{fabric['technology']} · seed {scenario['seed']}"
    )
    return header(scenario["name"], lead, tiles)


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
        "The ports that were sending for most of the run, and those that were held back although their link "
        "was free.",
        links.busiest_links(samples, held_back_words(result["fabric"]["technology"])),
    )
    yield "</div>"
    yield _over_time(
        "Where did packets queue?",
        "Bytes that waited for an output port; the ports with the longest queues on average.",
        links.queue_heat(samples, clock),
        "Nothing waited for an output port at any sample.",
    )
    yield _waits(result, links.wait_heat(samples, clock))
    yield _over_time(
        "On which links did the load change?",
        "Share of its rate at which each port sent; the ports where it changed most during the run.",
        links.change_heat(samples, clock),
        "The load of every port was the same all along.",
    )


def _waits(result: Result, figure: go.Figure | None) -> str:
    if result["fabric"]["technology"] == Technology.ROCE:
        return _over_time(
            "Which ports were paused, so that congestion spread upstream?",
            "Share of each step in which PFC kept a port from sending, summed over its priorities.",
            figure,
            "No port was ever paused.",
        )
    return _over_time(
        "Where did ports wait for credits, so that congestion spread upstream?",
        "Share of each step in which a port had a packet and could not send it for want of credits.",
        figure,
        "No port ever waited for credits.",
    )


def _section(
    title: str, how_to_read: str, figure: go.Figure | None, otherwise: str = "", kind: str = ""
) -> str:
    drawn = f"<p>{otherwise}</p>" if figure is None else chart(figure)
    return section(title, how_to_read, drawn, kind)


def _over_time(title: str, how_to_read: str, figure: go.Figure | None, otherwise: str = "") -> str:
    return _section(title, how_to_read, figure, otherwise, kind="over-time")


def _jobs(jobs: Sequence[Result]) -> str:
    shown = iterating_jobs(jobs)
    if not shown:
        return ""
    note = "Algorithm and bus bandwidth as nccl-tests defines them."
    return section("How did the jobs fare?", note, table(JOB_TEXTS, JOB_NUMBERS, map(job_row, shown)))


def _events(events: Sequence[Result]) -> str:
    if not events:
        return ""
    listed = events[:EVENTS_LISTED]
    note = f"{len(listed)} of {len(events):,}, in order of fabric time."
    rows = map(event_row, listed)
    return section("What happened?", note, table(("fabric time", "event"), (), rows))


def _flow_table(rows: Sequence[Result]) -> str:
    slowest = slowest_flows(rows, FLOWS_LISTED)
    note = f"{len(slowest)} of {len(rows)}, the slowest first."
    return section("Flows", note, table(FLOW_TEXTS, FLOW_NUMBERS, map(flow_row, slowest)))


def _footer(result: Result) -> str:
    work = f"{result['packet_hops']:,} packet-hops, {result['engine_events']:,} events"
    return (
        f"<footer>{work} in {result['wall_s']:.2f} s · "
        f"digest <code>{escape(result['digest'])}</code> · scenario sha256 "
        f"<code>{escape(result['scenario']['sha256'])}</code></footer>"
    )
