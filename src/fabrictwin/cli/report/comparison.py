# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: what was mapped, charts, tables, origins, and what is not modelled."""

from __future__ import annotations

from collections.abc import Iterable

from fabrictwin.cli.compare_rows import TextTable, idle_parts, tables
from fabrictwin.cli.report import comparison_charts as charts
from fabrictwin.cli.report.html import bullets, chart, document, header, section, table
from fabrictwin.cli.result_rows import Result
from fabrictwin.model.fabric import Technology
from fabrictwin.study.comparison import Findings


def comparison_page(result: Result, findings: Findings) -> str:
    """Writes the page.

    Args:
        result: A result of schema ``fabrictwin.compare/1``.
        findings: What it was made of, for the curves.

    Returns:
        A complete HTML document; it holds its scripts and styles and fetches nothing.
    """
    scenario = result["scenario"]
    own = Technology(scenario["technology"]).label
    lead = f"InfiniBand and RoCE, side by side · the scenario is of {own} · seed {scenario['seed']}"
    return document(scenario["name"], [header(scenario["name"], lead), *_body(result, findings)])


def _body(result: Result, findings: Findings) -> Iterable[str]:
    shown = tables(result)
    yield section(
        "What is compared?",
        "The same hosts, cables and workload. Parts and settings of one technology are replaced by those of "
        "the other; what has no counterpart is left out.",
        "".join(_forms(result)) + _table(shown["settings"]),
    )
    yield _with_table(shown["delivery"])
    yield _with_table(shown["congestion"])
    yield section(
        "How much data arrived, and when?",
        "Payload delivered to all receivers. A line that ends early was done early.",
        chart(charts.throughput(result["variants"], findings.outcomes)),
    )
    if any(len(outcome.latencies_ps) for outcome in findings.outcomes.values()):
        yield section(
            "How long did messages take?",
            "Share of the messages that took no longer; steep is even, a flat tail is a few that suffer.",
            chart(charts.latencies(result["variants"], findings.outcomes)),
        )
    if "jobs" in shown:
        yield _with_table(shown["jobs"])
    if "clusters" in shown:
        yield _with_table(shown["clusters"], chart(charts.clusters(result)), "Solid: mean; dotted: slowest.")
    yield _with_table(
        shown["idle"],
        chart(charts.idle(result["idle_latency"])) + bullets(_field(result)),
        "Shaded: what people in the field say.",
    )
    yield _with_table(idle_parts(result["idle_latency"]))
    yield section(
        "What is not modelled?", "Read these numbers with it in mind.", bullets(result["not_modelled"])
    )


def _forms(result: Result) -> Iterable[str]:
    for technology, form in result["forms"].items():
        texts = [*form["mapped"], *(f"dropped: {text}" for text in form["dropped"])]
        yield f"<h3>as {Technology(technology).label}</h3>{bullets(texts or ['nothing is changed'])}"


def _field(result: Result) -> list[str]:
    return [text for one in result["idle_latency"] for text in one["field"]]


def _with_table(content: TextTable, above: str = "", note: str = "") -> str:
    return section(content.title, f"{content.note} {note}", above + _table(content))


def _table(content: TextTable) -> str:
    return table(content.texts, content.numbers, content.rows)
