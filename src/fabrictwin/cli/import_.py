# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin import``: makes a scenario from a real fabric."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabrictwin.cli.console import diagnostics, output, print_warnings, printable
from fabrictwin.cli.options import JsonTarget
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.errors import InputError
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.ibnetdiscover import (
    ImportResult,
    count_rates,
    models_of,
    parse,
    read_file,
    scenario_yaml,
)
from fabrictwin.model.topology import Equipment
from fabrictwin.units import show_rate

app = typer.Typer(help="Makes a scenario from a real fabric.", no_args_is_help=True)


@app.command("ibnetdiscover")
def import_ibnetdiscover(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Output of ibnetdiscover, plain or of --ports.", show_default=False
        ),
    ],
    scenario: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="SCENARIO", help="Scenario to write.", show_default=False),
    ],
    json: JsonTarget = None,
) -> None:
    """Reads the output of ibnetdiscover and writes a scenario that refers to it.

    Example: fabrictwin import ibnetdiscover fabric.ibnetdiscover -o fabric.yaml
    """
    if str(scenario) == STANDARD_OUTPUT:
        raise InputError.of("expected a file: the scenario names the fabric's by its path", field="--output")
    check_writable([scenario, json], inputs=[file])
    result = parse(read_file(file), str(file))
    # The scenario will be refused if its fabric is not usable, so it is not written either.
    result.fabric(Equipment.of(*models_of(result)))
    from_scenario = Path(os.path.relpath(file.resolve(), scenario.resolve().parent)).as_posix()
    write_text(scenario, scenario_yaml(result, from_scenario, scenario.stem))
    if json is not None:
        write_json(_as_json(result), json)
    _print_counts(diagnostics() if json == STANDARD_OUTPUT else output(), result, scenario)
    print_warnings(result.warnings)


def _as_json(result: ImportResult) -> dict[str, Any]:
    return {
        "schema": "fabrictwin.import/1",
        "file": result.file,
        "switches": result.count(NodeKind.SWITCH),
        "hcas": result.count(NodeKind.HCA),
        "links": [{"rate_bps": rate_bps, "count": count} for rate_bps, count in count_rates(result)],
        "warnings": [{"line": warning.line, "message": warning.message} for warning in result.warnings],
    }


def _print_counts(console: Console, result: ImportResult, scenario: Path) -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_row("switches", f"{result.count(NodeKind.SWITCH):,}")
    table.add_row("HCAs", f"{result.count(NodeKind.HCA):,}")
    for rate_bps, count in count_rates(result):
        table.add_row(f"links at {show_rate(rate_bps)}", f"{count:,}")
    table.add_row("warnings", f"{len(result.warnings):,}")
    console.print(table)
    console.print(Text.assemble("wrote ", (printable(str(scenario)), "bold")), soft_wrap=True)
