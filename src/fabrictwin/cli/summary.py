# SPDX-License-Identifier: Apache-2.0
"""What a run looks like on the terminal: printed from the result alone."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabrictwin.cli.console import printable
from fabrictwin.cli.result_rows import (
    FLOW_NUMBERS,
    FLOW_TEXTS,
    JOB_NUMBERS,
    JOB_TEXTS,
    Result,
    event_row,
    flow_row,
    held_back_ns,
    held_back_words,
    iterating_jobs,
    job_row,
    port_load,
    port_name,
    share,
    show_ns,
    slowest_flows,
)
from fabrictwin.cli.tables import plain_table
from fabrictwin.units import show_rate, show_size

FLOWS_SHOWN = 20
PORTS_SHOWN = 10
EVENTS_SHOWN = 15
COMPILING_S = 3.0
"""A start that took longer than this has compiled the kernels."""


def print_summary(console: Console, result: Result) -> None:
    """Prints header, totals, flows, busiest ports, jobs, events, a deadlock's cycle and the digest.

    Args:
        console: Where to print.
        result: A result of schema ``fabrictwin.result/1``.
    """
    _print_header(console, result)
    _print_totals(console, result["totals"])
    _print_flows(console, result["flows"])
    _print_ports(console, result)
    _print_jobs(console, result["jobs"])
    _print_events(console, result["events"])
    _print_deadlock(console, result["deadlock"])
    console.print(f"\ndigest {result['digest']}", soft_wrap=True)


def _print_header(console: Console, result: Result) -> None:
    scenario, fabric = result["scenario"], result["fabric"]
    facts = (
        f" (seed {scenario['seed']}): {fabric['switches']} switches, {fabric['hcas']} HCAs, "
        f"{fabric['links']} links, {fabric['technology']}"
    )
    console.print(Text.assemble((printable(scenario["name"]), "bold"), facts))
    _print_run(console, result)


def _print_run(console: Console, result: Result) -> None:
    """How far it is, and how long that took where one process knows it."""
    how_far = show_ns(result["fabric_time_ns"])
    counts = f"{result['packet_hops']:,} packet-hops"
    events = f"{result['engine_events']:,} events"
    if "wall_s" not in result:
        console.print(f"{how_far} of fabric time, {_why(result)}: {counts}, {events}")
        return
    running_s = result["wall_s"] - result["startup_s"]
    speed = share(result["packet_hops"], running_s) / 1e6
    if result["startup_s"] > COMPILING_S:
        console.print(f"compiled the kernels in {result['startup_s']:.0f} s; the next run finds them")
    console.print(
        f"simulated {how_far} in {running_s:.2f} s, {_why(result)}: {counts} ({speed:.2f} M/s), "
        f"{events}, {show_size(result['peak_rss_bytes'])} of memory"
    )


def _why(result: Result) -> str:
    return "paused" if result["stopped"] == "paused" else f"stopped by {result['stopped']}"


def _print_totals(console: Console, totals: Result) -> None:
    parts = [f"{name.replace('_', ' ')} {value:,}" for name, value in totals.items() if value]
    console.print("totals: " + (", ".join(parts) or "nothing moved"))


def _print_table(console: Console, table: Table) -> None:
    console.print()
    console.print(table)


def _print_flows(console: Console, flows: Sequence[Result]) -> None:
    if not flows:
        return
    slowest = slowest_flows(flows, FLOWS_SHOWN)
    title = "flows" if len(slowest) == len(flows) else f"the {len(slowest)} slowest of {len(flows)} flows"
    table = plain_table(title, FLOW_TEXTS, FLOW_NUMBERS)
    for flow in slowest:
        table.add_row(*flow_row(flow))
    table.add_row(
        f"all {len(flows)}",
        "",
        "",
        f"{sum(flow['messages'] for flow in flows):,}",
        show_size(sum(flow["bytes"] for flow in flows)),
        show_rate(sum(flow["goodput_bps"] for flow in flows)),
        style="bold",
    )
    _print_table(console, table)


def _print_ports(console: Console, result: Result) -> None:
    time_ns = result["fabric_time_ns"]
    sending = [port for port in result["ports"] if port["port_xmit_data"]]
    if not sending:
        return
    held_back = held_back_words(result["fabric"]["technology"])
    table = plain_table("busiest ports", ["port", "peer"], ["rate", "sent", "busy", held_back])
    for port in sorted(sending, key=lambda port: -port_load(port, time_ns))[:PORTS_SHOWN]:
        table.add_row(
            port_name(port),
            printable(port["peer"] or "-"),
            show_rate(port["rate_bps"]),
            show_size(port["port_xmit_data"]),
            f"{port_load(port, time_ns):.1%}",
            f"{share(held_back_ns(port), time_ns):.1%}",
        )
    _print_table(console, table)


def _print_jobs(console: Console, jobs: Sequence[Result]) -> None:
    shown = iterating_jobs(jobs)
    if not shown:
        return
    table = plain_table("jobs", JOB_TEXTS, JOB_NUMBERS)
    for job in shown:
        table.add_row(*job_row(job))
    _print_table(console, table)


def _print_events(console: Console, events: Sequence[Result]) -> None:
    if not events:
        return
    table = plain_table("events", ["fabric time", "what happened"], [])
    for event in events[:EVENTS_SHOWN]:
        table.add_row(*map(Text, event_row(event)))
    _print_table(console, table)
    if len(events) > EVENTS_SHOWN:
        console.print(f" and {len(events) - EVENTS_SHOWN} more (all of them are in --json)")


def _print_deadlock(console: Console, deadlock: Result | None) -> None:
    if deadlock is None:
        return
    cycle = [printable(entry) for entry in deadlock["cycle"]]
    text = "DEADLOCK, each waits for the next: " + " -> ".join([*cycle, *cycle[:1]])
    console.print()
    console.print(Text(text, style="bold red"), soft_wrap=True)
