# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin up``: starts a live twin on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from fabrictwin.api.v1.director_pb2 import StatusResponse
from fabrictwin.cli.clock import show_state
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import diagnostics, output, print_warnings, printable
from fabrictwin.cli.first_step import load_scenario_into, wait_for_first_step
from fabrictwin.cli.options import DirectorAddress, ScenarioFile
from fabrictwin.cli.supervisor import start_twin
from fabrictwin.cli.tables import fact_table
from fabrictwin.errors import InputError
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.bus.server import hide_password
from fabrictwin.runtime.local_twins import TARGETS_FILE, LocalTwin
from fabrictwin.units import show_clock


def up(
    scenario: ScenarioFile,
    twin: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its name; default: the scenario's.", show_default=False),
    ] = None,
    redis: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A Redis server; default: one of its own.", show_default=False),
    ] = None,
    attach: Annotated[bool, typer.Option("--attach", help="Stay and watch, as 'watch' does.")] = False,
    director: DirectorAddress = None,
) -> None:
    """Starts the services of a twin in the background; returns when fabric time goes on.

    Example: fabrictwin up deploy/scenarios/live.yaml

    With --director the services are there already, and get the scenario. Exit code 3: it did not start, and
    nothing of it is left.
    """
    if director is None:
        name = _start(scenario, twin, redis)
    elif twin is None and redis is None:
        name = None
        _load(scenario, director)
    else:
        raise InputError.of("with '--director' the twin has its name and its Redis server already")
    if attach:
        # The view is slow to import; only --attach needs it.
        from fabrictwin.cli.watch import watch

        watch(name, director)


def _start(scenario: Path, twin: str | None, redis: str | None) -> str:
    """Starts a twin on this machine; returns its name."""
    loaded = load_scenario(scenario)
    print_warnings(loaded.warnings)
    name = twin or loaded.name
    started_s = monotonic()
    with _spinner(name), start_twin(name, scenario, redis) as (running, status):
        pass
    _print_twin(output(), running, status, monotonic() - started_s)
    return name


def _load(scenario: Path, address: str) -> None:
    """Gives a twin that runs elsewhere its scenario."""
    started_s = monotonic()
    with open_director(None, address) as director, _spinner(address):
        load_scenario_into(director, scenario)
        status = wait_for_first_step(director, lambda: None)
    output().print(_headline(status, monotonic() - started_s), soft_wrap=True)


@contextmanager
def _spinner(name: str) -> Iterator[None]:
    console = diagnostics()
    if not console.is_terminal:
        yield
        return
    with console.status(f"starting {printable(name)} (the first start compiles the kernels, about a minute)"):
        yield


def _headline(status: StatusResponse, start_s: float) -> Text:
    state, clock = show_state(status.state), show_clock(status.fabric_time_ps)
    rest = f" is up after {start_s:.1f} s: {state} at {clock} of {show_clock(status.duration_ps)}"
    return Text.assemble((printable(status.twin), "bold"), rest)


def _print_twin(console: Console, twin: LocalTwin, status: StatusResponse, start_s: float) -> None:
    console.print(_headline(status, start_s), soft_wrap=True)
    rows = [("director", twin.director)]
    rows += [
        (f"metrics of {process}", f"http://{service['metrics_address']}/metrics")
        for process, service in twin.services.items()
    ]
    option = f" --twin {twin.name}"
    rows += [
        ("Redis", hide_password(twin.redis)),
        ("logs", f"{twin.folder}/*.log"),
        ("for Prometheus", f"{twin.folder}/{TARGETS_FILE}, a file for its file_sd_configs"),
        ("to watch it", f"fabrictwin watch{option}"),
        ("to break it", f"fabrictwin fault inject{option} …"),
        ("to end it", f"fabrictwin down{option}"),
    ]
    console.print(fact_table(rows))
