# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin validate``: reads, expands and checks a scenario, and says what it holds."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from fabrictwin.cli.console import counted, diagnostics, output, print_warnings, printable
from fabrictwin.cli.options import JsonTarget, ScenarioFile
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json
from fabrictwin.cli.tables import fact_table
from fabrictwin.model.scenario import Scenario, load_scenario
from fabrictwin.units import show_rate, show_time


def validate(
    scenario: ScenarioFile,
    json: JsonTarget = None,
) -> None:
    """Reads, expands and checks a scenario; shows every error at once, and runs nothing.

    Example: fabrictwin validate deploy/scenarios/two-leaf-incast.yaml

    Exit code 2: something is wrong; each line names file, line, field and what was expected.
    """
    check_writable([json], inputs=[scenario])
    loaded = load_scenario(scenario)
    summary = summarise(loaded)
    if json is not None:
        write_json(summary, json)
    _print_summary(diagnostics() if json == STANDARD_OUTPUT else output(), loaded, summary)
    print_warnings(loaded.warnings)


def summarise(scenario: Scenario) -> dict[str, Any]:
    """What a scenario holds, as ``fabrictwin.scenario/1``."""
    fabric = scenario.fabric
    rates: dict[int, int] = {}
    for link in fabric.links:
        rates[link.rate_bps] = rates.get(link.rate_bps, 0) + 1
    return {
        "schema": "fabrictwin.scenario/1",
        "name": scenario.name,
        "sha256": scenario.sha256,
        "seed": scenario.seed,
        "duration_ns": scenario.duration_ps // 1000,
        "fabric": {
            "technology": fabric.technology.value,
            "switches": len(fabric.switches),
            "hcas": len(fabric.hcas),
            "links": [{"rate_bps": rate_bps, "count": rates[rate_bps]} for rate_bps in sorted(rates)],
            "switch_models": sorted(scenario.switch_models),
            "hca_models": sorted(scenario.hca_models),
            "mtu_bytes": scenario.mtu_bytes,
            "data_vls": scenario.data_vls,
        },
        "routing": scenario.routing.engine,
        "congestion_control": scenario.congestion_control.algorithm,
        "jobs": [
            {"name": job.name, "kind": job.kind, "flows": len(job.flows), "ranks": len(job.programs)}
            for job in scenario.jobs
        ],
        "faults": [
            {"name": fault.name, "kind": fault.kind, "start_ns": fault.start_ps // 1000, "text": fault.text}
            for fault in scenario.faults
        ],
        "expectations": [expectation.path for expectation in scenario.expectations],
        "warnings": [{"line": warning.line, "message": warning.message} for warning in scenario.warnings],
    }


def _print_summary(console: Console, scenario: Scenario, summary: dict[str, Any]) -> None:
    fabric = summary["fabric"]
    links = ", ".join(f"{item['count']:,} at {show_rate(item['rate_bps'])}" for item in fabric["links"])
    rows = [
        ("duration", _duration(scenario)),
        ("switches", f"{fabric['switches']:,} {', '.join(fabric['switch_models'])}"),
        ("HCAs", f"{fabric['hcas']:,} {', '.join(fabric['hca_models'])}"),
        ("links", links),
        ("MTU, data VLs", f"{fabric['mtu_bytes']} B, {fabric['data_vls']}"),
        ("routing", summary["routing"]),
        ("congestion control", summary["congestion_control"]),
    ]
    rows += [
        (
            "workload",
            f"{job['name']}: {job['kind']}, {counted(job['flows'], 'flow')}, {counted(job['ranks'], 'rank')}",
        )
        for job in summary["jobs"]
    ]
    rows += [
        ("fault", f"{fault.name}: {fault.text} at {show_time(fault.start_ps)}{_until(fault.end_ps)}")
        for fault in scenario.faults
    ]
    rows += [("expectation", path) for path in summary["expectations"]]
    console.print(Text.assemble((printable(scenario.name), "bold"), f" is valid (seed {scenario.seed})"))
    console.print(fact_table(rows))


def _duration(scenario: Scenario) -> str:
    text = show_time(scenario.duration_ps)
    return text if scenario.says_duration else f"until all is done, {text} at most"


def _until(end_ps: int | None) -> str:
    return "" if end_ps is None else f", over at {show_time(end_ps)}"
