# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin simulate``: runs a scenario and says what happened."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fabrictwin.cli.console import diagnostics, output, print_warnings, printable
from fabrictwin.cli.expectations import judge
from fabrictwin.cli.memory import peak_rss_bytes
from fabrictwin.cli.options import JsonTarget, ReportTarget, ScenarioFile, UntilTime
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.cli.progress import fabric_progress
from fabrictwin.cli.result_rows import Result
from fabrictwin.cli.run_end import check_end, known_end
from fabrictwin.cli.summary import print_summary
from fabrictwin.cli.time_option import read_time_ps
from fabrictwin.engine.simulation import Progress, Simulation
from fabrictwin.model.command import read_command_log
from fabrictwin.model.scenario import Scenario, load_scenario
from fabrictwin.runtime.offline import open_simulation


def simulate(
    scenario: ScenarioFile,
    until: UntilTime = None,
    shards: Annotated[
        int, typer.Option(min=1, metavar="N", help="Split the fabric into N logical processes.")
    ] = 1,
    commands: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="Do what people did to a live twin (its log).", show_default=False),
    ] = None,
    json: JsonTarget = None,
    report: ReportTarget = None,
) -> None:
    """Runs a scenario, packet by packet, and says what happened.

    Example: fabrictwin simulate deploy/scenarios/demo.yaml --until 2ms --report demo.html

    A deadlock is a result, not an error. Exit code 1: an expectation of the scenario is not met.
    """
    until_ps = None if until is None else read_time_ps(until, "--until")
    check_writable([json, report], inputs=[scenario] if commands is None else [scenario, commands])
    loaded = load_scenario(scenario)
    print_warnings(loaded.warnings)
    check_end(loaded, until_ps, str(scenario))
    replayed = () if commands is None else read_command_log(commands, loaded)
    simulation = open_simulation(loaded, shards=shards, commands=replayed)
    times = _run(simulation, until_ps, loaded)
    result = simulation.result() | times | {"peak_rss_bytes": peak_rss_bytes()}
    if json != STANDARD_OUTPUT:
        print_summary(output(), result)
    if json is not None:
        write_json(result, json)
    if report is not None:
        _write_report(report, simulation, result)
    judge(text for expectation in loaded.expectations for text in expectation.failures(result))


def _run(simulation: Simulation, until_ps: int | None, scenario: Scenario) -> dict[str, float]:
    """Runs it; returns the wall time of the whole and of the start, in which the first run compiles."""
    reports_s: list[float] = []
    started_s = time.perf_counter()
    with fabric_progress(known_end(until_ps, scenario)) as show:

        def observe(progress: Progress) -> None:
            if not reports_s:
                reports_s.append(time.perf_counter() - started_s)
            if show is not None:
                show(progress)

        simulation.run(until_ps, observe)
    wall_s = time.perf_counter() - started_s
    return {"wall_s": round(wall_s, 6), "startup_s": round(min(reports_s, default=wall_s), 6)}


def _write_report(target: Path, simulation: Simulation, result: Result) -> None:
    # Plotly is slow to import; only a report needs it.
    from fabrictwin.cli.report.page import report_page

    jobs = simulation.plan.scenario.jobs
    job_of = {flow.name: job.name for job in jobs for flow in job.flows}
    flow_jobs = [job_of[flow["name"]] for flow in result["flows"]]
    page = report_page(result, simulation.samples, simulation.message_latencies_ps, flow_jobs)
    write_text(target, page)
    diagnostics().print(Text.assemble("wrote ", (printable(str(target)), "bold")), soft_wrap=True)
