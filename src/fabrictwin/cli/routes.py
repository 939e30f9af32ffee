# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin routes``: forwarding tables without traffic, what they are worth, and whether they can
deadlock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from fabrictwin.cli.console import counted, diagnostics, output, print_warnings
from fabrictwin.cli.options import JsonTarget, ScenarioFile
from fabrictwin.cli.output_file import (
    STANDARD_OUTPUT,
    check_folder,
    check_writable,
    write_json,
    write_text,
)
from fabrictwin.cli.tables import fact_table
from fabrictwin.errors import EXIT_NO, InputError
from fabrictwin.model.fabric import Technology
from fabrictwin.model.qos import DROP_VL, SERVICE_LEVELS
from fabrictwin.model.routing_names import engine_problem
from fabrictwin.model.scenario import Scenario, load_scenario
from fabrictwin.subnet.balance import measure_balance
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.dump import FDBS_FILE, LID_MATRIX_FILE, fdbs_lines, lid_matrix_lines
from fabrictwin.subnet.reachability import check_reachability
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import route_fabric
from fabrictwin.subnet.trees import path_trees

DUMPS: dict[str, Callable[[Routes], Iterator[str]]] = {
    LID_MATRIX_FILE: lid_matrix_lines,
    FDBS_FILE: fdbs_lines,
}
"""Files that ``--dump`` writes."""

BUSIEST = 10
"""Channels that are named with their number of paths."""


def routes(
    scenario: ScenarioFile,
    engine: Annotated[
        str | None,
        typer.Option(metavar="E", help="Routing engine instead of the scenario's.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 on an unreachable pair or a credit loop.")
    ] = False,
    dump: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write opensm-lid-matrix.dump and opensm.fdbs there.", show_default=False
        ),
    ] = None,
    json: JsonTarget = None,
) -> None:
    """Computes forwarding tables: reachability, hops, paths per link, credit loops.

    Example: fabrictwin routes deploy/scenarios/demo.yaml --engine ftree --check
    """
    check_writable([json], inputs=[scenario])
    if dump is not None:
        check_folder(dump)
    loaded = load_scenario(scenario)
    problem = engine_problem(engine, loaded.fabric.technology) if engine else ""
    if problem:
        raise InputError.of(problem, field="--engine")
    print_warnings(loaded.warnings)
    routing = replace(loaded.routing, engine=engine or loaded.routing.engine)
    computed = route_fabric(loaded.fabric, routing, loaded.data_vls)
    numbers = examine(loaded, computed)
    _print_numbers(diagnostics() if json == STANDARD_OUTPUT else output(), numbers)
    if json is not None:
        write_json(numbers, json)
    if dump is not None:
        _write_dumps(dump, computed)
    if check and (numbers["reachability"]["unreachable"] or numbers["credit_loop"] is not None):
        raise typer.Exit(EXIT_NO)


def examine(scenario: Scenario, computed: Routes) -> dict[str, Any]:
    """Everything worth knowing about routes, as ``fabrictwin.routes/1``."""
    trees = path_trees(computed)
    reached = check_reachability(computed, trees)
    balance = measure_balance(computed, trees)
    loops = check_credit_loops(computed, trees, _lanes(scenario))
    graph = computed.graph
    busiest = np.argsort(-balance.paths, kind="stable")[:BUSIEST]
    return {
        "schema": "fabrictwin.routes/1",
        "scenario": {"name": scenario.name, "sha256": scenario.sha256},
        "engine": computed.engine,
        "switches": graph.switch_count,
        "hca_ports": len(graph.end_node),
        "lmc": computed.lids.lmc,
        "lids": len(computed.lids.targets.lid),
        "lft_blocks": computed.blocks,
        "vls": computed.vls,
        "reachability": {
            "pairs": reached.pairs,
            "unreachable": reached.unreachable,
            "examples": [
                {"src": pair.source, "dst": pair.destination, "lid": pair.lid, "failure": pair.failure.value}
                for pair in reached.examples
            ],
        },
        "hops": [{"switches": n, "pairs": pairs} for n, pairs in enumerate(reached.hops.tolist()) if pairs],
        "paths_per_link": {
            "links": len(balance.paths),
            "max": round(balance.most, 3),
            "mean": round(balance.mean, 3),
            "stddev": round(balance.spread, 3),
            "unused": balance.unused,
            "busiest": [
                {"port": graph.channel_name(c), "paths": round(balance.paths[c].item(), 3)} for c in busiest
            ],
        },
        "credit_loop": {"cycle": list(loops.cycle)} if loops.found else None,
    }


def _lanes(scenario: Scenario) -> Sequence[int]:
    """VL by SL of the traffic that can wait in a circle: on RoCE only what is lossless can."""
    if scenario.fabric.technology is Technology.ROCE:
        return [min(scenario.qos.lossless, default=DROP_VL)] * SERVICE_LEVELS
    return scenario.qos.sl2vl


def _print_numbers(console: Console, numbers: dict[str, Any]) -> None:
    reached, links, loop = numbers["reachability"], numbers["paths_per_link"], numbers["credit_loop"]
    hops = ", ".join(f"{row['switches']}: {row['pairs']:,}" for row in numbers["hops"])
    busiest = ", ".join(f"{row['port']} {row['paths']:,}" for row in links["busiest"][:3])
    spread = f"max {links['max']:,}, mean {links['mean']:,.1f}, std. dev. {links['stddev']:,.1f}"
    rows = [
        ("engine", f"{numbers['engine']}, {counted(numbers['vls'], 'data VL')}"),
        (
            "LIDs",
            f"{numbers['lids']:,} (LMC {numbers['lmc']}), "
            f"{counted(numbers['lft_blocks'], 'LFT block')} a switch",
        ),
        (
            "reachability",
            f"{reached['unreachable']:,} of {reached['pairs']:,} pairs of HCA ports unreachable",
        ),
        *(("", f"{pair['src']} to {pair['dst']}: {pair['failure']}") for pair in reached["examples"]),
        ("switches passed", hops),
        ("paths per link", f"{spread}, {links['unused']:,} of {links['links']:,} directions unused"),
        ("busiest", busiest),
        ("credit loop", "none" if loop is None else " -> ".join([*loop["cycle"], loop["cycle"][0]])),
    ]
    console.print(fact_table(rows))


def _write_dumps(folder: Path, computed: Routes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in DUMPS.items():
        write_text(folder / name, "".join(f"{line}\n" for line in lines(computed)))
