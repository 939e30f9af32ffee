# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin bench``: the project's own benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from fabrictwin.cli.bench_bus import bus_cases
from fabrictwin.cli.bench_case import Case, run_case
from fabrictwin.cli.bench_engine import engine_cases
from fabrictwin.cli.bench_live import live_cases
from fabrictwin.cli.bench_routing import routing_cases
from fabrictwin.cli.bench_start import start_cases
from fabrictwin.cli.bench_telemetry import telemetry_cases
from fabrictwin.errors import InputError, nearest

_LIVE = "live-"
"""What the names of cases of live twins begin with."""


def bench(
    case: Annotated[
        str | None, typer.Option(metavar="NAME", help="Measure this case alone.", show_default=False)
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Measure live twins, which run on this machine.")
    ] = False,
) -> None:
    """Measures speed, memory and start-up, and prints one JSON line a case, with goals and peers' figures.

    Example: fabrictwin bench --case permutation-128

    Engine and routing are measured in CPU time, the others in wall time. Values are medians of three. Live
    twins are measured with --live, or by their names.
    """
    cases = all_cases()
    if case is None:
        _run_apart([name for name in cases if name.startswith(_LIVE) == live])
        return
    if case not in cases:
        raise InputError.of(f"{case!r} is not a case{nearest(case, cases)}", field="--case")
    sys.stdout.write(json.dumps(run_case(cases[case])) + "\n")


def all_cases() -> dict[str, Case]:
    """Every case by its name, in the order in which they run."""
    groups = (engine_cases(), routing_cases(), bus_cases(), telemetry_cases(), start_cases(), live_cases())
    return {case.name: case for group in groups for case in group}


def _run_apart(names: Iterable[str]) -> None:
    """Runs each case in a process of its own, so that none inherits the memory of another."""
    for name in names:
        command = [sys.executable, "-m", "fabrictwin.cli.main", "bench", "--case", name]
        subprocess.run(command, check=True)
