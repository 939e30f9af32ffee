# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin compare``: a scenario as InfiniBand and as RoCE, side by side."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from fabrictwin.cli.compare_rows import idle_parts, tables
from fabrictwin.cli.console import diagnostics, output, print_warnings, printable
from fabrictwin.cli.options import JsonTarget, Processes, ReportTarget, ScenarioFile, UntilTime
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.cli.progress import count_progress
from fabrictwin.cli.result_rows import Result
from fabrictwin.cli.run_end import check_end
from fabrictwin.cli.tables import print_rows
from fabrictwin.cli.time_option import read_time_ps
from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Technology
from fabrictwin.study.cluster import DEFAULT_SIZES, check_sizes
from fabrictwin.study.comparison import (
    Comparison,
    Findings,
    collect,
    describe,
    plan_comparison,
    run_comparison,
)
from fabrictwin.study.parallel import cores
from fabrictwin.study.source import read_source

NO_SIZES = "none"


def compare(
    scenario: ScenarioFile,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="N,N,…",
            help="Hosts of the clusters for effective bandwidth, up to 1024; 'none': no clusters.",
        ),
    ] = ",".join(map(str, DEFAULT_SIZES)),
    until: UntilTime = None,
    jobs: Processes = None,
    json: JsonTarget = None,
    report: ReportTarget = None,
) -> None:
    """Runs the same hosts, cables and workload as InfiniBand and as RoCE, in several variants.

    Example: fabrictwin compare deploy/scenarios/victim-flow.yaml --report compare.html

    The file may be of either technology; what was mapped and what was dropped is said.
    """
    until_ps = None if until is None else read_time_ps(until, "--until")
    hosts = _read_sizes(sizes)
    check_writable([json, report], inputs=[scenario])
    source = read_source(scenario)
    loaded = source.expand()
    print_warnings(loaded.warnings)
    check_end(loaded, until_ps, str(scenario))
    comparison = plan_comparison(source, loaded, hosts)
    print_warnings(comparison.warnings)
    findings, text = _run(comparison, until_ps, jobs or cores())
    result = describe(findings)
    if json != STANDARD_OUTPUT:
        _print(output(), result, text)
    if json is not None:
        write_json(result, json)
    if report is not None:
        # Plotly is slow to import; only a report needs it.
        from fabrictwin.cli.report.comparison import comparison_page

        write_text(report, comparison_page(result, findings))
        diagnostics().print(Text.assemble("wrote ", (printable(str(report)), "bold")), soft_wrap=True)


def _read_sizes(text: str) -> list[int]:
    if text == NO_SIZES:
        return []
    parts = [part.strip() for part in text.split(",")]
    wrong = [part for part in parts if not part.isdecimal()]
    if wrong:
        raise InputError.of(
            f"expected numbers such as 64,128 or {NO_SIZES!r}, got {wrong[0]!r}", field="--sizes"
        )
    sizes = sorted({int(part) for part in parts})
    check_sizes(sizes, "--sizes")
    return sizes


def _run(comparison: Comparison, until_ps: int | None, processes: int) -> tuple[Findings, str]:
    """(what came of it, a line about the work)."""
    started_s = time.perf_counter()
    total = len(comparison.tasks(until_ps))
    parts = {}
    with count_progress("runs", total) as done:
        for key, part in run_comparison(comparison, until_ps, processes):
            parts[key] = part
            done(" ".join(key))
    text = f"{total} runs in {time.perf_counter() - started_s:.1f} s, {min(processes, total)} at a time"
    return collect(comparison, parts), text


def _print(console: Console, result: Result, work: str) -> None:
    scenario = result["scenario"]
    head = f" (seed {scenario['seed']}, {Technology(scenario['technology']).label}): {work}"
    console.print(Text.assemble((printable(scenario["name"]), "bold"), head))
    for technology, form in result["forms"].items():
        for what in ("mapped", "dropped"):
            for text in form[what]:
                line = f"as {Technology(technology).label}, {what}: {text}"
                console.print(Text(printable(line), style="dim"), soft_wrap=True)
    for table in tables(result).values():
        console.print(Text(f"\n{table.title}", style="bold"))
        print_rows(console, table.texts, table.numbers, table.rows)
    _print_origins(console, result)


def _print_origins(console: Console, result: Result) -> None:
    console.print(Text("\nwhere the idle latencies come from", style="bold"))
    for name, spent, source in idle_parts(result["idle_latency"]).rows:
        console.print(Text(f"  {name}: {spent} · {source}"))
    for one in result["idle_latency"]:
        for text in one["field"]:
            console.print(Text(f"  {text}", style="bold" if "DISAGREES" in text else ""))
    console.print(Text("\nwhat is not modelled", style="bold"))
    for text in result["not_modelled"]:
        console.print(Text(f"  {text}"))
