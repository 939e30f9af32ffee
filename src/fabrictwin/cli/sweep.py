# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin sweep``: a scenario with every combination of some values."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fabrictwin.cli.console import counted, diagnostics, output, print_warnings, printable
from fabrictwin.cli.options import JsonTarget, Processes, ReportTarget
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.cli.progress import count_progress
from fabrictwin.cli.result_rows import Result
from fabrictwin.cli.sweep_folder import SweepFolder
from fabrictwin.cli.sweep_rows import sweep_row
from fabrictwin.cli.tables import print_rows
from fabrictwin.errors import Problem
from fabrictwin.study.parallel import Task, cores, run_all
from fabrictwin.study.points import Point, describe_values, expand_points, run_point, short_names
from fabrictwin.study.sweep import Sweep, read_sweep

SCHEMA = "fabrictwin.sweep/1"


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP", help="Sweep file (YAML).", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Keep each result here; default: NAME.results in this folder.",
            show_default=False,
        ),
    ] = None,
    jobs: Processes = None,
    json: JsonTarget = None,
    report: ReportTarget = None,
) -> None:
    """Runs a scenario with every combination of some values, on all cores.

    Example: fabrictwin sweep deploy/sweeps/ecn-pfc-watermarks.yaml --report sweep.html

    Every error of every point is shown before anything runs. A sweep that was stopped goes on where it was.
    """
    check_writable([json, report], inputs=[file])
    read = read_sweep(file)
    points = expand_points(read)
    print_warnings(list({str(one): one for point in points for one in point.warnings}.values()))
    results, text = _run(read, points, SweepFolder(folder or Path(f"{read.name}.results")), jobs or cores())
    values = [[metric.value(results[point.key]) for metric in read.metrics] for point in points]
    if json != STANDARD_OUTPUT:
        _print(read, points, values, text)
    if json is not None:
        write_json(describe(read, points, values, results), json)
    if report is not None:
        # Plotly is slow to import; only a report needs it.
        from fabrictwin.cli.report.sweep import sweep_page

        write_text(report, sweep_page(read, points, values))
        diagnostics().print(Text.assemble("wrote ", (printable(str(report)), "bold")), soft_wrap=True)


def _run(
    sweep: Sweep, points: Sequence[Point], folder: SweepFolder, processes: int
) -> tuple[dict[str, Result], str]:
    """(result of each point by its key, a line about the work)."""
    started_s = time.perf_counter()
    by_key = {point.key: point for point in points}
    results = {key: found for key in by_key if (found := folder.find(key)) is not None}
    print_warnings([Problem(f"{text}; the point is run again") for text in folder.bad])
    known = len(results)
    tasks: dict[str, Task[Result]] = {
        key: (run_point, (point.source, sweep.until_ps))
        for key, point in by_key.items()
        if key not in results
    }
    with count_progress("points", len(tasks)) as done:
        for key, result in run_all(tasks, processes):
            text = describe_values(sweep, by_key[key].values)
            folder.keep(key, text, result)
            results[key] = result
            done(text)
    _warn_of_deadlocks(sweep, points, results)
    spent_s = time.perf_counter() - started_s
    return results, f"{counted(len(tasks), 'run')} in {spent_s:.1f} s, {known} were there already"


def _warn_of_deadlocks(sweep: Sweep, points: Sequence[Point], results: Mapping[str, Result]) -> None:
    found = [point for point in points if results[point.key]["stopped"] == "deadlock"]
    print_warnings(
        [
            Problem(f"with {describe_values(sweep, point.values)}: the run ended in a deadlock")
            for point in found
        ]
    )


def describe(
    sweep: Sweep, points: Sequence[Point], values: Sequence[Sequence[Any]], results: Mapping[str, Result]
) -> dict[str, Any]:
    """The result of a sweep, ``fabrictwin.sweep/1``."""
    return {
        "schema": SCHEMA,
        "name": sweep.name,
        "parameters": [parameter.key for parameter in sweep.parameters],
        "metrics": [metric.name for metric in sweep.metrics],
        "points": [
            {
                "values": dict(zip((one.key for one in sweep.parameters), point.values, strict=True)),
                "metrics": dict(zip((one.name for one in sweep.metrics), found, strict=True)),
                "stopped": results[point.key]["stopped"],
                "digest": results[point.key]["digest"],
                "key": point.key,
                "warnings": [warning.message for warning in point.warnings],
            }
            for point, found in zip(points, values, strict=True)
        ],
    }


def _print(sweep: Sweep, points: Sequence[Point], values: Sequence[list[Any]], work: str) -> None:
    console = output()
    head = f": {counted(len(points), 'point')}, {work}"
    console.print(Text.assemble((printable(sweep.name), "bold"), head))
    names = [printable(name) for name in (*short_names(sweep), *(metric.name for metric in sweep.metrics))]
    rows = [sweep_row(point, sweep.metrics, found) for point, found in zip(points, values, strict=True)]
    print_rows(console, names[: len(sweep.parameters)], names[len(sweep.parameters) :], rows)
