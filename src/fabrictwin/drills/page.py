# SPDX-License-Identifier: Apache-2.0
"""The report of a run as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fabrictwin.drills.chart import draw_chart
from fabrictwin.drills.tolerance import Unit, show
from fabrictwin.units import PS_PER_NS, PS_PER_S, show_clock, show_size, show_time

Journal = Mapping[str, Any]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --dim: #667085; --line: #e2e6ee; --paper: #ffffff;
  --panel: #f6f8fb; --good: #12805c; --bad: #c4320a; --odd: #6941c6; --warn: #b54708; --blue: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --dim: #98a2b3; --line: #2f3747;
  --paper: #12161f; --panel: #1a202c; --good: #4ade80; --bad: #fb7185; --odd: #b692f6; --warn: #fdb022;
  --blue: #7aa2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 32px 24px 64px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 8px 0 4px; } h2 { font-size: 17px; margin: 36px 0 10px; }
p { margin: 4px 0 12px; } .dim { color: var(--dim); } code { font: 13px ui-monospace, monospace; }
.verdict { display: inline-block; padding: 4px 14px; border-radius: 999px; color: #fff; font-weight: 650; }
.PASS { background: #12805c; } .INVALID { background: #6941c6; } .ABORTED { background: #b54708; }
.FAIL { background: #c4320a; }
.reasons { border-left: 4px solid var(--bad); background: var(--panel); padding: 8px 14px; margin: 12px 0; }
.reasons li { margin: 2px 0; } .reasons ul { margin: 0; padding-left: 18px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px;
  margin: 18px 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 10px 14px; }
.card b { display: block; font-size: 20px; font-weight: 650; }
.card span { color: var(--dim); font-size: 13px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 550; color: var(--dim); }
th, td { border-bottom: 1px solid var(--line); padding: 5px 14px 5px 0; vertical-align: top;
  overflow-wrap: anywhere; }
td.num, th.num { text-align: right; white-space: nowrap; }
td.ok { color: var(--good); } td.not { color: var(--bad); }
.scroll { max-height: 420px; overflow: auto; border: 1px solid var(--line); border-radius: 10px;
  padding: 0 12px; }
svg { width: 100%; height: auto; display: block; }
svg text { font: 11px system-ui, sans-serif; fill: var(--dim); }
"""


def report_page(journal: Journal) -> str:
    """The page of a run."""
    drill = journal["drill"]
    parts = [
        _head(journal),
        _cards(journal),
        draw_chart(journal),
        _section("What was judged", _findings(journal)),
        _section("Steady state", _slos(journal), journal["baseline"]["title"]),
        _section("Flows that were hit", _hit(journal)),
        _section("What was done", _activities(journal)),
        _section("Alerts", _alerts(journal)),
        _section("Counters of errors", _counters(journal)),
        _section("Timeline", _timeline(journal)),
        _section("Run", _facts(journal)),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{escape(drill['id'])}: {escape(journal['verdict'])}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{''.join(part for part in parts if part)}</body></html>\n"
    )


def _head(journal: Journal) -> str:
    drill, run, verdict = journal["drill"], journal["run"], journal["verdict"]
    style = verdict if verdict in ("PASS", "INVALID", "ABORTED") else "FAIL"
    negative = f" · negative <code>{escape(run['negative'])}</code>" if run["negative"] else ""
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in journal["reasons"])
    box = f'<div class="reasons"><ul>{reasons}</ul></div>' if reasons else ""
    return (
        f'<span class="verdict {style}">{escape(verdict)}</span><h1>{escape(drill["title"])}</h1>'
        f'<p class="dim"><code>{escape(drill["id"])}</code>{negative} · {escape(run["started"])} · '
        f"by {escape(run['operator'])}</p><p>{escape(drill['description'])}</p>{box}"
    )


def _cards(journal: Journal) -> str:
    detection, mitigation = journal["detection"], journal["mitigation"]
    monitored = detection["monitoring_ttd_s"]
    rows = [
        ("detected, fabric time", _fabric(detection["fabric_ttd_ns"])),
        ("detected, monitoring chain", "–" if monitored is None else show_time(monitored * PS_PER_S)),
        ("mitigated", _fabric(mitigation["ttm_ns"])),
        ("recovered after the rollback", _fabric(mitigation["ttr_ns"])),
        ("flows hit", str(len(journal["blast_radius"]["flows"]))),
        ("ports down", str(journal["blast_radius"]["ports_down"])),
    ]
    cards = "".join(
        f'<div class="card"><b>{escape(text)}</b><span>{label}</span></div>' for label, text in rows
    )
    return f'<div class="cards">{cards}</div>\n'


def _fabric(ns: float | None) -> str:
    return "–" if ns is None else show_time(ns * PS_PER_NS)


def _section(title: str, body: str, lead: str = "") -> str:
    if not body:
        return ""
    lead = f'<p class="dim">{escape(lead)}</p>' if lead else ""
    return f"<h2>{escape(title)}</h2>{lead}{body}\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; texts are escaped. A cell ``✓`` or ``✗`` gets its colour."""
    shown = [_row(row, numbers) for row in rows]
    if not shown:
        return ""
    cells = "".join(f"<th{_number(column, numbers)}>{escape(text)}</th>" for column, text in enumerate(head))
    return f"<table><tr>{cells}</tr>{''.join(shown)}</table>"


def _row(row: Sequence[str], numbers: Sequence[int]) -> str:
    cells = []
    for column, text in enumerate(row):
        mark = {"✓": ' class="ok"', "✗": ' class="not"'}.get(text, _number(column, numbers))
        cells.append(f"<td{mark}>{escape(text)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _number(column: int, numbers: Sequence[int]) -> str:
    return ' class="num"' if column in numbers else ""


def _mark(ok: bool) -> str:
    return "✓" if ok else "✗"


def _findings(journal: Journal) -> str:
    rows = [(_mark(each["ok"]), each["part"], each["name"], each["text"]) for each in journal["findings"]]
    return _table(("", "part", "what", "found"), rows)


def _slos(journal: Journal) -> str:
    slos = {slo["sli"]: slo for slo in journal["slo"]}
    rows = []
    for probe in journal["baseline"]["probes"]:
        slo = slos.get(probe["name"])
        budget = "any" if slo is None or slo["budget_ns"] is None else _fabric(slo["budget_ns"])
        rows.append(
            (
                _mark(probe["ok"] and not (slo and slo["breached"])),
                probe["name"],
                probe["tolerance"],
                show(probe["value"], Unit(probe["unit"])),
                slo["worst"] if slo else "–",
                _fabric(slo["out_ns"]) if slo else "–",
                budget,
            )
        )
    head = ("", "probe", "tolerance", "baseline", "worst", "out for", "budget")
    return _table(head, rows, (3, 4, 5, 6))


def _hit(journal: Journal) -> str:
    rows = [
        (
            flow["name"],
            f"{flow['loss']:.0%}",
            show_size(max(0.0, flow["lost_bytes"])),
            "should not have been hit" if flow["is_spared"] else "",
        )
        for flow in journal["blast_radius"]["flows"]
    ]
    return _table(("flow", "lost at most", "not delivered", ""), rows, (1, 2))


def _activities(journal: Journal) -> str:
    rows = [
        (
            _mark(each["ok"]),
            each["part"],
            each["name"],
            show_clock(round(each["active_ns"] * PS_PER_NS)),
            str(each["error"] or each["output"])
            + (f" (expected {each['tolerance']})" if each["tolerance"] else ""),
        )
        for each in journal["activities"]
    ]
    return _table(("", "part", "name", "in effect", "what came of it"), rows, (3,))


def _outcome(activity: Mapping[str, Any]) -> str:
    expected = f" (expected {activity['tolerance']})" if activity["tolerance"] else ""
    return f"{activity['error'] or activity['output']}{expected}"


def _alerts(journal: Journal) -> str:
    rows = [
        (
            _mark(each["firing_s"] is not None) if each["expected"] else "",
            each["alert"],
            "yes" if each["expected"] else "no",
            *(_seconds(each[f"{state}_s"]) for state in ("pending", "firing", "notified")),
            each["text"],
        )
        for each in journal["alerts"]["seen"]
    ]
    head = ("", "alert", "expected", "pending", "firing", "at Alertmanager", "about")
    return _table(head, rows, (3, 4, 5))


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def _counters(journal: Journal) -> str:
    rows = [
        (each["port"], each["counter"], f"{each['before']:,}", f"{each['after']:,}", f"{each['delta']:+,}")
        for each in journal["counters"]
    ]
    return _table(("port", "counter", "before", "after", "change"), rows, (2, 3, 4))


def _timeline(journal: Journal) -> str:
    table = _table(("when", "who", "what"), _moments(journal), (0,))
    return f'<div class="scroll">{table}</div>' if table else ""


def _moments(journal: Journal) -> Iterator[tuple[str, str, str]]:
    for row in journal["timeline"]:
        when = row["wall"] if "wall" in row else show_clock(round(row["fabric_ns"] * PS_PER_NS))
        yield str(when), row["source"], row["event"]


def _facts(journal: Journal) -> str:
    run, env, drill = journal["run"], journal["env"], journal["drill"]
    topology = env["topology"]
    size = f"{topology['technology']}, {topology['nodes']} nodes, {topology['links']} links"
    rows = [
        ("run", run["id"]),
        ("twin", f"{run['twin']}, {run['mode']}, FabricTwin {run['twin_version']}"),
        ("host", run["host"]),
        ("scenario", f"{env['scenario']}: {size}"),
        ("seed", str(run["seed"])),
        ("clock", env["clock"]),
        ("drill file", f"{drill['file']}, sha256 {drill['file_sha256']}"),
        ("scenario sha256", env["scenario_sha256"]),
        ("digest of the twin", str(journal["determinism"]["digest"])),
        ("exit code", str(journal["exit_code"])),
    ]
    return _table(("", ""), rows)
