# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin drill``: lists drills, runs them, shows what came out, exports them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fabrictwin.cli.console import output, printable
from fabrictwin.cli.drill_session import Session
from fabrictwin.cli.drill_view import print_journal, print_scoreboard, progress_of_drill
from fabrictwin.cli.options import JsonTarget, Owner
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.cli.owner import owner_or_user
from fabrictwin.cli.tables import plain_table
from fabrictwin.drills.catalogue import drill_files, drills_folder, find_drill
from fabrictwin.drills.drill import EXIT_ABORTED, EXIT_LEFT_OVERS, Drill
from fabrictwin.drills.junit import junit_report
from fabrictwin.drills.load import load_drill
from fabrictwin.drills.page import report_page
from fabrictwin.drills.runs import read_journal, runs_root
from fabrictwin.drills.variant import make_negative
from fabrictwin.errors import InputError, Problem

app = typer.Typer(help="Drills: faults with a verdict.", no_args_is_help=True)

DrillsFolder = Annotated[
    Path | None,
    typer.Option("--drills", metavar="DIR", help="Folder of drills; default: the project's own."),
]
RunsFolder = Annotated[
    Path | None,
    typer.Option("--runs", metavar="DIR", help="Where runs are kept.", show_default=False),
]
HtmlTarget = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page here.", show_default=False)
]
JunitTarget = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write JUnit XML here.", show_default=False),
]


@app.command("list")
def list_drills(drills: DrillsFolder = None, json: JsonTarget = None) -> None:
    """Lists the drills that are at hand.

    Example: fabrictwin drill list
    """
    check_writable([json])
    loaded = [load_drill(path) for path in drill_files(drills or drills_folder()).values()]
    if json is not None:
        write_json({"schema": "fabrictwin.drills/1", "drills": [_summary(drill) for drill in loaded]}, json)
    if json == STANDARD_OUTPUT:
        return
    table = plain_table("", ["drill", "what it shows", "tags", "negatives"])
    for drill in loaded:
        negatives = ", ".join(negative.name for negative in drill.negatives)
        cells = (drill.name, drill.title, ", ".join(drill.tags), negatives)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    output().print(table if loaded else "no drills")


def _summary(drill: Drill) -> dict[str, Any]:
    return {
        "name": drill.name,
        "title": drill.title,
        "description": drill.description,
        "tags": list(drill.tags),
        "file": str(drill.file),
        "scenario": str(drill.scenario_file),
        "negatives": [
            {"name": each.name, "why": each.why, "verdict": str(each.verdict)} for each in drill.negatives
        ],
    }


@app.command("run")
def run_drills(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Drills, by name or file.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run every drill of the folder.")] = False,
    negative: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Run this negative, which has to fail.", show_default=False),
    ] = None,
    drills: DrillsFolder = None,
    director: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="A twin that runs; default: an own one.", show_default=False),
    ] = None,
    containers: Annotated[
        bool, typer.Option("--containers", help="The twin of --director runs in containers of this machine.")
    ] = False,
    prometheus: Annotated[
        str | None, typer.Option(metavar="URL", help="Prometheus, for alerts.", show_default=False)
    ] = None,
    alertmanager: Annotated[
        str | None, typer.Option(metavar="URL", help="Alertmanager, likewise.", show_default=False)
    ] = None,
    owner: Owner = None,
    runs: RunsFolder = None,
    json: JsonTarget = None,
    html: HtmlTarget = None,
    junit: JunitTarget = None,
) -> None:
    """Runs drills, one after the other, and says what came out.

    Example: fabrictwin drill run link-flap --html link-flap.html

    Exit codes: 0 passed, 1 failed, 2 wrong input, 3 invalid (a red baseline, an injection that failed),
    4 aborted, 5 something is left over. What is undone is undone also after Ctrl-C.
    """
    check_writable([json, html, junit])
    chosen = [_load(name, drills, negative) for name in _names(names, every, drills)]
    if html is not None and len(chosen) > 1:
        raise InputError.of("one page shows one drill: give one, or leave '--html' out", field="--html")
    session = Session(
        runs or runs_root(), owner_or_user(owner), director, containers, prometheus, alertmanager
    )
    session.check(chosen)
    session.clear_left_overs()
    journals = []
    for drill in chosen:
        with progress_of_drill(drill.name) as show:
            journals.append(session.run(drill, negative or "", show))
        if journals[-1]["exit_code"] == EXIT_ABORTED:
            break
    _write(journals, json, html, junit)
    if json != STANDARD_OUTPUT:
        if len(chosen) > 1:
            print_scoreboard(output(), journals)
        else:
            print_journal(output(), journals[0])
    raise typer.Exit(_worst([journal["exit_code"] for journal in journals]))


def _names(names: list[str] | None, every: bool, drills: Path | None) -> list[str]:
    if every == bool(names):
        raise InputError.of("name the drills to run, or give '--all'")
    return names or [str(path) for path in drill_files(drills or drills_folder()).values()]


def _load(name: str, drills: Path | None, negative: str | None) -> Drill:
    drill = load_drill(find_drill(drills or drills_folder(), name))
    return drill if negative is None else make_negative(drill, negative)


def _worst(codes: list[int]) -> int:
    """The most urgent exit code: left-overs, aborted, invalid, failed."""
    return max(codes, default=EXIT_LEFT_OVERS)


def _write(journals: list[dict[str, Any]], json: str | None, html: Path | None, junit: Path | None) -> None:
    if json is not None:
        write_json(
            journals[0] if len(journals) == 1 else {"schema": "fabrictwin.drills/1", "runs": journals}, json
        )
    if html is not None:
        write_text(html, report_page(journals[0]))
    if junit is not None:
        write_text(junit, junit_report(journals))


@app.command("report")
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run; 'last' is the latest one.")],
    runs: RunsFolder = None,
    json: JsonTarget = None,
    html: HtmlTarget = None,
    junit: JunitTarget = None,
) -> None:
    """Shows what came out of a run.

    Example: fabrictwin drill report last --html report.html
    """
    check_writable([json, html, junit])
    journal = read_journal(runs or runs_root(), run)
    if json != STANDARD_OUTPUT:
        print_journal(output(), journal)
    _write([journal], json, html, junit)


@app.command("export")
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A drill, by name or file.")],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="What to write: chaostoolkit.")
    ] = "chaostoolkit",
    drills: DrillsFolder = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File; default: standard output."),
    ] = None,
) -> None:
    """Writes a drill for another tool.

    Example: fabrictwin drill export link-flap -o link-flap.json
    """
    # Only this command needs it.
    from fabrictwin.drills.export import FORMATS

    if form not in FORMATS:
        raise InputError([Problem(f"expected one of {', '.join(FORMATS)}, got {form!r}", field="--format")])
    check_writable([out])
    exported = FORMATS[form](load_drill(find_drill(drills or drills_folder(), name)))
    write_json(exported, STANDARD_OUTPUT if out is None else str(out))
