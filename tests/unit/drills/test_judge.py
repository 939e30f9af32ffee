# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.drills.course import AlertRecord, Course, Invariant, Record, Sample
from fabrictwin.drills.drill import BlastRadius, Drill, Verdict
from fabrictwin.drills.journal import Run, exit_code, write_journal
from fabrictwin.drills.judge import judge
from fabrictwin.drills.junit import junit_report
from fabrictwin.drills.load import load_drill
from fabrictwin.drills.look import Look
from fabrictwin.drills.page import report_page
from unit.drills.drill_files import write_drill

MS, US = 10**9, 10**6


def _look(at_ps: int, events: list[dict[str, Any]], stopped: str = "") -> Look:
    result = {"events": events, "ports": [], "flows": [], "jobs": [], "digest": "d"}
    return Look(at_ps, 0.0, result, (), stopped)


def _sample(at_ps: int, phase: str, goodput_bps: float) -> Sample:
    out = () if goodput_bps >= 100e9 else ("goodput",)
    values: Mapping[str, Any] = {"goodput": goodput_bps}
    return Sample(at_ps, 0.0, phase, values, out, {}, (), {"s0": goodput_bps}, 0, at_ps - 100 * US)


@pytest.fixture
def drill(tmp_path: Path) -> Drill:
    loaded = load_drill(write_drill(tmp_path))
    radius = BlastRadius(flows=1, ports=2, spared=("other*",))
    return replace(
        loaded,
        expect=replace(loaded.expect, recovery_ps=MS, budget_ps=300 * US, blast_radius=radius),
    )


def _course(trap_ps: int = 1100 * US) -> Course:
    """A fault at 1 ms that a trap tells of, and that costs one span of goodput."""
    course = Course(
        records=[Record("cut", "inject_fault", "method", MS, 0.0, MS, fault="f", confirmed=True)],
        before=_look(MS, []),
        fault_ps=MS,
        rollback_ps=2 * MS,
        recovered_ps=2 * MS,
        invariants=[Invariant("packets conserved", True, "")],
    )
    events = [{"kind": "trap", "fabric_ns": trap_ps / 1000, "source": "subnet_manager"}]
    course.last = course.end = _look(3 * MS, events)
    course.samples = [
        _sample(900 * US, "baseline", 390e9),
        _sample(1100 * US, "method", 10e9),
        _sample(1200 * US, "method", 390e9),
        _sample(2100 * US, "recovery", 390e9),
    ]
    return course


def test_course_as_expected_passes(drill: Drill) -> None:
    judgement = judge(drill, _course())
    assert judgement.reasons == ()
    assert judgement.verdict is Verdict.PASS
    assert [(slo.name, slo.out_ps, slo.worst) for slo in judgement.slos] == [("goodput", 100 * US, "10 Gb/s")]
    assert [flow.name for flow in judgement.hit] == ["s0"]


def test_sign_that_comes_late_fails_detection(drill: Drill) -> None:
    judgement = judge(drill, _course(trap_ps=1300 * US))
    assert judgement.verdict is Verdict.FAIL_DETECT
    assert judgement.reasons == ("trap: 300 us after the fault, expected within 200 us",)


def test_sign_before_the_fault_does_not_count(drill: Drill) -> None:
    assert judge(drill, _course(trap_ps=900 * US)).verdict is Verdict.FAIL_DETECT


def test_alert_that_does_not_fire_fails_detection(drill: Drill) -> None:
    course = _course()
    course.alerts = [AlertRecord("LinkDown", True, 30.0, firing_s=40.0)]
    assert judge(drill, course).verdict is Verdict.FAIL_DETECT
    course.alerts = [AlertRecord("LinkDown", True, 30.0, firing_s=20.0), AlertRecord("Other", False)]
    assert judge(drill, course).verdict is Verdict.PASS


def test_budget_that_is_overdrawn_fails_the_objective(drill: Drill) -> None:
    course = _course()
    course.samples[2:3] = [_sample(at_ps, "method", 10e9) for at_ps in (1200 * US, 1300 * US, 1400 * US)]
    judgement = judge(drill, course)
    assert judgement.verdict is Verdict.FAIL_SLO
    assert judgement.slos[0].out_ps == 400 * US


def test_spared_flow_that_is_hit_fails_the_objective(drill: Drill) -> None:
    course = _course()
    course.samples = [
        replace(sample, goodput_bps={**sample.goodput_bps, "other0": sample.goodput_bps["s0"]})
        for sample in course.samples
    ]
    judgement = judge(drill, course)
    assert judgement.verdict is Verdict.FAIL_SLO
    assert "spared flows: hit: other0" in judgement.reasons


def test_no_recovery_fails_the_objective(drill: Drill) -> None:
    course = _course()
    course.recovered_ps = -1
    assert judge(drill, course).verdict is Verdict.FAIL_SLO


def test_broken_invariant_outweighs_detection(drill: Drill) -> None:
    course = _course(trap_ps=1300 * US)
    course.invariants = [Invariant("packets conserved", False, "one is nowhere")]
    assert judge(drill, course).verdict is Verdict.FAIL_INVARIANT


def test_failed_injection_is_invalid_whatever_else_is(drill: Drill) -> None:
    course = _course()
    course.invalid = ["cut could not be done: no"]
    judgement = judge(drill, course)
    assert judgement.verdict is Verdict.INVALID
    assert exit_code(judgement, course) == 3


def test_aborted_run_outweighs_all(drill: Drill) -> None:
    course = _course()
    course.invalid, course.aborted = ["no"], "somebody wanted it"
    assert judge(drill, course).verdict is Verdict.ABORTED


def test_left_overs_have_an_exit_code_of_their_own(drill: Drill) -> None:
    course = _course()
    course.left_overs = ["fault f is still active"]
    judgement = judge(drill, course)
    assert judgement.verdict is not Verdict.PASS
    assert exit_code(judgement, course) == 5


def test_twin_that_stops_by_itself_fails(drill: Drill) -> None:
    course = _course()
    course.last = replace(course.last or _look(0, []), stopped="deadlock")
    assert judge(drill, course).verdict is Verdict.FAIL_DETECT


def test_reports_escape_what_a_drill_says(drill: Drill) -> None:
    hostile = replace(drill, title="<script>alert(1)</script>\x1b[31m", description="a & b")
    course = _course()
    run = Run("r", "o", "", "embedded", "t", "v", 0.0, 1.0)
    journal = write_journal(run, hostile, course, judge(hostile, course), "")
    page = report_page(journal)
    assert "<script>" not in page
    assert "a &amp; b" in page
    assert "\x1b" not in junit_report([journal])
