# SPDX-License-Identifier: Apache-2.0
"""Drills on a terminal: the phases as they go by, what came out, and a scoreboard of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from fabrictwin.cli.console import diagnostics, printable
from fabrictwin.cli.tables import fact_table, plain_table
from fabrictwin.drills.runner import Show
from fabrictwin.units import PS_PER_NS, PS_PER_S, show_time

STYLES = {"PASS": "bold green", "INVALID": "bold magenta", "ABORTED": "bold yellow"}
FAILED_STYLE = "bold red"
_NUMBERS = ("detected", "mitigated", "recovered", "hit", "wall")


@contextmanager
def progress_of_drill(name: str) -> Iterator[Show]:
    """Shows the phase that a drill is in, on a terminal."""
    console = diagnostics()
    if not console.is_terminal:
        yield lambda _phase, _text: None
        return
    with console.status(f"{printable(name)}: begins") as status:
        yield lambda phase, text: status.update(
            Text.assemble((printable(name), "bold"), f"  {phase:9} ", (printable(text), "dim"))
        )


def style_of(verdict: str) -> str:
    """The style of a verdict."""
    return STYLES.get(verdict, FAILED_STYLE)


def print_journal(console: Console, journal: Mapping[str, Any]) -> None:
    """Prints what came out of a drill, and everything that was judged."""
    verdict, drill, run = journal["verdict"], journal["drill"], journal["run"]
    negative = f" ({run['negative']})" if run["negative"] else ""
    head = Text.assemble(
        (f" {verdict} ", f"{style_of(verdict)} reverse"),
        " ",
        (drill["id"] + negative, "bold"),
        f"  {drill['title']}",
    )
    console.print(head, soft_wrap=True)
    table = plain_table("", ["", "part", "what", "found"])
    for finding in journal["findings"]:
        mark = Text("✓", "green") if finding["ok"] else Text("✗", FAILED_STYLE)
        cells = (finding["part"], finding["name"], finding["text"])
        table.add_row(mark, *(Text(printable(cell)) for cell in cells))
    console.print(table)
    console.print(fact_table(_facts(journal)))


def _facts(journal: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    detection, mitigation = journal["detection"], journal["mitigation"]
    yield "detected, fabric time", _fabric(detection["fabric_ttd_ns"])
    if journal["env"]["monitored"]:
        yield "detected, monitoring", _wall(detection["monitoring_ttd_s"])
    yield "mitigated", _fabric(mitigation["ttm_ns"])
    yield "recovered", _fabric(mitigation["ttr_ns"])
    hit = journal["blast_radius"]["flows"]
    if hit:
        names = ", ".join(f"{flow['name']} -{flow['loss']:.0%}" for flow in hit[:4])
        yield "flows hit", f"{len(hit)}: {names}{', …' if len(hit) > 4 else ''}"
    yield "digest", str(journal["determinism"]["digest"])
    yield "run", f"{journal['run']['id']}, {journal['run']['wall_s']:.1f} s"


def _fabric(ns: float | None) -> str:
    return "-" if ns is None else show_time(ns * PS_PER_NS)


def _wall(seconds: float | None) -> str:
    return "-" if seconds is None else show_time(seconds * PS_PER_S)


def print_scoreboard(console: Console, journals: Sequence[Mapping[str, Any]]) -> None:
    """Prints a line for each drill, and how many of them passed."""
    table = plain_table("", ["verdict", "drill", "title"], list(_NUMBERS))
    for journal in journals:
        verdict = journal["verdict"]
        table.add_row(
            Text(verdict, style_of(verdict)),
            Text(printable(journal["drill"]["id"])),
            Text(printable(journal["drill"]["title"])),
            _fabric(journal["detection"]["fabric_ttd_ns"]),
            _fabric(journal["mitigation"]["ttm_ns"]),
            _fabric(journal["mitigation"]["ttr_ns"]),
            f"{len(journal['blast_radius']['flows'])} flows",
            f"{journal['run']['wall_s']:.1f} s",
        )
    console.print(table)
    for journal in journals:
        for reason in journal["reasons"]:
            line = Text.assemble((journal["drill"]["id"], "bold"), f": {printable(reason)}")
            console.print(line, soft_wrap=True)
    passed = sum(journal["verdict"] == "PASS" for journal in journals)
    style = "bold green" if passed == len(journals) else FAILED_STYLE
    console.print(Text(f"{passed} of {len(journals)} drills passed", style=style))
