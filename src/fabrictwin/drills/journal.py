# SPDX-License-Identifier: Apache-2.0
"""The journal of a drill, ``fabrictwin.drill/1``: everything that was done, seen and judged, as JSON."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from fabrictwin.drills.course import BASELINE, Course, Record, Sample
from fabrictwin.drills.drill import EXIT_CODES, EXIT_LEFT_OVERS, Activity, Drill
from fabrictwin.drills.events import say_event
from fabrictwin.drills.judge import Judgement
from fabrictwin.drills.look import Look, event_ps
from fabrictwin.drills.probes import PROBES
from fabrictwin.units import PS_PER_NS

SCHEMA = "fabrictwin.drill/1"
MOST_EVENTS = 2_000
MOST_FLOWS = 64
_COUNTERS = ("port_xmit_discards", "symbol_error_counter", "link_downed_counter", "port_rcv_errors")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a drill.

    Attributes:
        id: Its id.
        operator: Who ran it.
        negative: Name of the negative that it was; empty: the drill itself.
        mode: ``embedded`` or the director's address.
        twin: Name of the twin.
        twin_version: Version of FabricTwin that it runs.
        started_s: Wall time, seconds since the epoch.
        ended_s: Likewise.
    """

    id: str
    operator: str
    negative: str
    mode: str
    twin: str
    twin_version: str
    started_s: float
    ended_s: float


def exit_code(judgement: Judgement, course: Course) -> int:
    """The exit code of a run: left-overs are more urgent than any verdict."""
    return EXIT_LEFT_OVERS if course.left_overs else EXIT_CODES[judgement.verdict]


def write_journal(
    run: Run, drill: Drill, course: Course, judgement: Judgement, commands: str
) -> dict[str, Any]:
    """The journal of a run.

    Args:
        run: Which run.
        drill: The drill.
        course: What has happened.
        judgement: What came out.
        commands: The twin's command log.
    """
    scenario = drill.scenario
    return {
        "schema": SCHEMA,
        "drill": {
            "id": drill.name,
            "title": drill.title,
            "description": drill.description,
            "tags": list(drill.tags),
            "file": str(drill.file),
            "file_sha256": drill.sha256,
        },
        "run": {
            **{key: value for key, value in asdict(run).items() if not key.endswith("_s")},
            "seed": drill.seed,
            "host": platform.node(),
            "started": wall_time(run.started_s),
            "ended": wall_time(run.ended_s),
            "wall_s": round(run.ended_s - run.started_s, 3),
        },
        "env": {
            "scenario": scenario.name,
            "scenario_sha256": scenario.sha256,
            "topology": {
                "technology": str(scenario.fabric.technology),
                "nodes": len(scenario.fabric.nodes),
                "links": len(scenario.fabric.links),
            },
            "clock": str(drill.clock),
            "monitored": course.monitored,
        },
        "baseline": _baseline(drill, course),
        "activities": [_activity(record) for record in course.records],
        "fault": _fault(course),
        "timeline": list(_timeline(drill, course)),
        "samples": [_sample(sample, drill) for sample in course.samples],
        "findings": [
            {
                "part": finding.part,
                "name": finding.name,
                "ok": finding.ok,
                "text": finding.text,
                "fabric_ns": None if finding.seen_ps < 0 else finding.seen_ps / PS_PER_NS,
            }
            for finding in judgement.findings
        ],
        "detection": _detection(course, judgement),
        "alerts": _alerts(course),
        "mitigation": _mitigation(course, judgement),
        "blast_radius": {
            "flows": [asdict(flow) for flow in judgement.hit],
            "ports_down": max((sample.ports_down for sample in course.samples), default=0),
        },
        "slo": [
            {
                "sli": slo.name,
                "objective": slo.objective,
                "worst": slo.worst,
                "out_ns": slo.out_ps / PS_PER_NS,
                "budget_ns": None if slo.budget_ps is None else slo.budget_ps / PS_PER_NS,
                "breached": slo.is_breached,
            }
            for slo in judgement.slos
        ],
        "counters": _counters(course.before, course.last),
        "invariants": [asdict(invariant) for invariant in course.invariants],
        "rollback": {"errors": course.rollback_errors, "left_overs": course.left_overs},
        "determinism": {
            "digest": course.end.result["digest"] if course.end else None,
            "commands_sha256": hashlib.sha256(_replayable(commands).encode()).hexdigest(),
        },
        "verdict": str(judgement.verdict),
        "exit_code": exit_code(judgement, course),
        "reasons": list(judgement.reasons),
    }


def _replayable(commands: str) -> str:
    """A command log without who gave the commands, which differs from run to run."""
    lines = [json.loads(line) for line in commands.splitlines()]
    rest = [{key: value for key, value in line.items() if key != "by"} for line in lines]
    return "\n".join(json.dumps(line, sort_keys=True) for line in rest)


def wall_time(seconds: float) -> str:
    """A wall time in ISO 8601, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _baseline(drill: Drill, course: Course) -> dict[str, Any]:
    samples = course.in_phase(BASELINE)
    last = samples[-1] if samples else None
    return {
        "title": drill.hypothesis_title,
        "window_ns": sum(sample.span_ps for sample in samples) / PS_PER_NS,
        "probes": [
            {
                "name": each.name,
                "probe": each.func,
                "arguments": _arguments(each),
                "unit": str(PROBES[each.func].unit),
                "tolerance": str(each.tolerance),
                "value": None if last is None else last.values.get(each.name),
                "ok": last is not None and all(each.name not in sample.out for sample in samples),
            }
            for each in drill.hypothesis
        ],
    }


def _arguments(activity: Activity) -> Mapping[str, Any]:
    arguments = activity.arguments
    return arguments if isinstance(arguments, dict) else dict(arguments.model_dump())


def _activity(record: Record) -> dict[str, Any]:
    return {
        "name": record.name,
        "func": record.func,
        "part": record.part,
        "requested_ns": record.requested_ps / PS_PER_NS,
        "requested_at": wall_time(record.wall_s),
        "active_ns": record.at_ps / PS_PER_NS,
        "output": record.output,
        "tolerance": record.tolerance or None,
        "ok": record.ok,
        "error": record.error or None,
        "fault": record.fault or None,
        "confirmed": record.confirmed if record.fault else None,
    }


def _fault(course: Course) -> dict[str, Any]:
    injected = [record for record in course.records if record.fault]
    return {
        "ids": [record.fault for record in injected],
        "active_ns": None if course.fault_ps < 0 else course.fault_ps / PS_PER_NS,
        "active_at": None if course.fault_ps < 0 else wall_time(course.fault_wall_s),
        "cleared_ns": None if course.rollback_ps < 0 else course.rollback_ps / PS_PER_NS,
        "confirmed": bool(injected) and all(record.confirmed for record in injected),
    }


def _timeline(drill: Drill, course: Course) -> Iterator[dict[str, Any]]:
    rows = [
        (record.at_ps, "drill", f"{record.name}: {record.output if record.ok else record.error}")
        for record in course.records
        if record.part != "method" or not record.tolerance
    ]
    from_ps = course.before.at_ps if course.before else 0
    events = [event for event in course.events if event_ps(event) >= from_ps]
    rows += [(event_ps(event), event["source"], say_event(event)) for event in events[:MOST_EVENTS]]
    if course.recovered_ps >= 0:
        rows.append((course.recovered_ps, "drill", "the hypothesis holds again"))
    if len(events) > MOST_EVENTS:
        rows.append((event_ps(events[-1]), "drill", f"and {len(events) - MOST_EVENTS:,} more events"))
    for at_ps, source, text in sorted(rows, key=lambda row: row[0]):
        yield {"fabric_ns": at_ps / PS_PER_NS, "source": source, "event": text}
    for alert in course.alerts:
        for state in ("pending", "firing", "notified"):
            at_s = getattr(alert, f"{state}_s")
            if at_s is not None:
                when = wall_time(course.fault_wall_s + at_s)
                yield {"wall": when, "source": "prometheus", "event": f"{alert.alert} {state} ({alert.text})"}


def _sample(sample: Sample, drill: Drill) -> dict[str, Any]:
    flows = dict(list(sample.goodput_bps.items())[:MOST_FLOWS])
    return {
        "fabric_ns": sample.at_ps / PS_PER_NS,
        "span_ns": sample.span_ps / PS_PER_NS,
        "wall": wall_time(sample.wall_s),
        "phase": sample.phase,
        "values": dict(sample.values),
        "out": list(sample.out),
        "signs": dict(sample.signs),
        "goodput_bps": {name: round(value) for name, value in flows.items()},
        "ports_down": sample.ports_down,
    }


def _detection(course: Course, judgement: Judgement) -> dict[str, Any]:
    """The two times to detect: in the fabric, and by way of the monitoring chain."""
    seen_ps = [each.seen_ps for each in judgement.findings if each.part == "detection" and each.seen_ps >= 0]
    fired_s = [each.firing_s for each in course.alerts if each.expected and each.firing_s is not None]
    return {
        "fabric_ttd_ns": min(seen_ps) / PS_PER_NS if seen_ps else None,
        "monitoring_ttd_s": round(min(fired_s), 3) if fired_s else None,
    }


def _alerts(course: Course) -> dict[str, Any]:
    fired = [each for each in course.alerts if each.firing_s is not None]
    return {
        "expected": [each.alert for each in course.alerts if each.expected],
        "fired": [each.alert for each in fired],
        "missed": [each.alert for each in course.alerts if each.expected and each.firing_s is None],
        "unexpected": [each.alert for each in fired if not each.expected],
        "seen": [asdict(each) for each in course.alerts],
    }


def _mitigation(course: Course, judgement: Judgement) -> dict[str, Any]:
    seen_ps = [each.seen_ps for each in judgement.findings if each.part == "mitigation" and each.seen_ps >= 0]
    recovered = course.recovered_ps >= 0
    return {
        "ttm_ns": max(seen_ps) / PS_PER_NS if seen_ps else None,
        "ttr_ns": max(0, course.recovered_ps - course.rollback_ps) / PS_PER_NS if recovered else None,
    }


def _counters(before: Look | None, after: Look | None) -> list[dict[str, Any]]:
    """Counters of errors that have grown, by port."""
    if before is None or after is None:
        return []
    return [
        {
            "port": name,
            "counter": counter,
            "before": before.ports[name][counter],
            "after": row[counter],
            "delta": row[counter] - before.ports[name][counter],
        }
        for name, row in after.ports.items()
        for counter in _COUNTERS
        if row[counter] != before.ports[name][counter]
    ]
