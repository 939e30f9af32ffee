# SPDX-License-Identifier: Apache-2.0
"""The verdict: what of the course of a drill is as expected, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabrictwin.drills.course import METHOD, RECOVERY, Course, Sample
from fabrictwin.drills.drill import BlastRadius, Drill, Sign, Verdict
from fabrictwin.drills.events import find_events
from fabrictwin.drills.look import EVERY, event_ps
from fabrictwin.drills.probes import PROBES
from fabrictwin.drills.tolerance import show
from fabrictwin.units import PS_PER_S, show_time

CLEAN = "clean-up"
WORST_FIRST = (
    *(Verdict.ABORTED, Verdict.INVALID, Verdict.FAIL_INVARIANT),
    *(Verdict.FAIL_DETECT, Verdict.FAIL_MITIGATE, Verdict.FAIL_SLO),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was judged.

    Attributes:
        part: What it belongs to, as a person reads it.
        name: What was judged.
        ok: Whether it is as expected.
        text: What was found, and what was expected.
        verdict: What the drill is if it is not.
        seen_ps: Fabric time from the fault, or the rollback, until it was seen; -1: there is none.
    """

    part: str
    name: str
    ok: bool
    text: str
    verdict: Verdict
    seen_ps: int = -1


@dataclass(frozen=True, slots=True)
class HitFlow:
    """A flow that has lost goodput.

    Attributes:
        name: Its name.
        loss: Largest share of its goodput in the baseline that it lost in a span.
        lost_bytes: Payload that was not delivered while the drill lasted, against the baseline.
        is_spared: Whether it should not have been hit.
    """

    name: str
    loss: float
    lost_bytes: float
    is_spared: bool


@dataclass(frozen=True, slots=True)
class Slo:
    """How a probe of the hypothesis did.

    Attributes:
        name: Its name.
        objective: Its tolerance in words.
        worst: Its worst value in words.
        out_ps: Fabric time for which it was out of its tolerance.
        budget_ps: Fabric time for which it may be; None: any.
    """

    name: str
    objective: str
    worst: str
    out_ps: int
    budget_ps: int | None

    @property
    def is_breached(self) -> bool:
        """Whether it was out for too long."""
        return self.budget_ps is not None and self.out_ps > self.budget_ps


@dataclass(frozen=True)
class Judgement:
    """What came out of a drill.

    Attributes:
        verdict: In a word.
        reasons: Why, unless it passed.
        findings: Everything that was judged, in order.
        slos: Every probe of the hypothesis.
        hit: Flows that were hit, worst first.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]
    slos: tuple[Slo, ...] = ()
    hit: tuple[HitFlow, ...] = field(default=())


def judge(drill: Drill, course: Course) -> Judgement:
    """Judges a drill."""
    slos = tuple(_slos(drill, course))
    hit = tuple(find_hit_flows(course, drill.expect.blast_radius))
    findings = [*_validity(course)]
    if course.before is not None and not course.aborted and not course.invalid:
        findings += [*_signs(drill, course), *_alerts(course), *_method(course), *_ending(drill, course)]
        findings += [*_objectives(slos), *_blast_radius(drill, course, hit)]
    findings += [
        Finding("invariants", each.name, each.ok, each.text, Verdict.FAIL_INVARIANT)
        for each in course.invariants
    ]
    findings += [Finding(CLEAN, "rollback", False, text, Verdict.FAIL_SLO) for text in course.rollback_errors]
    findings += [Finding(CLEAN, "left over", False, text, Verdict.FAIL_SLO) for text in course.left_overs]
    failed = [finding for finding in findings if not finding.ok]
    verdict = next(
        (worst for worst in WORST_FIRST if any(finding.verdict is worst for finding in failed)), Verdict.PASS
    )
    reasons = tuple(f"{finding.name}: {finding.text}" for finding in failed)
    return Judgement(verdict, reasons, tuple(findings), slos, hit)


def _validity(course: Course) -> Iterator[Finding]:
    if course.aborted:
        yield Finding("run", "aborted", False, course.aborted, Verdict.ABORTED)
    for text in course.invalid:
        yield Finding("run", "invalid", False, text, Verdict.INVALID)
    if course.before is not None:
        yield Finding("run", "baseline", True, "the hypothesis holds before the fault", Verdict.INVALID)
    for record in course.records:
        if record.fault and record.confirmed:
            text = "listed as active by the director"
            yield Finding("run", f"injection {record.name}", True, text, Verdict.INVALID)


def _signs(drill: Drill, course: Course) -> Iterator[Finding]:
    parts = (
        ("detection", drill.expect.detection, Verdict.FAIL_DETECT),
        ("mitigation", drill.expect.mitigation, Verdict.FAIL_MITIGATE),
    )
    for part, signs, verdict in parts:
        for sign in signs:
            yield _judge_sign(part, sign, verdict, course)


def _judge_sign(part: str, sign: Sign, verdict: Verdict, course: Course) -> Finding:
    from_ps = course.rollback_ps if sign.after_rollback else course.fault_ps
    if from_ps < 0 and course.before is not None:
        # Nothing was done: then nothing may be seen either.
        from_ps = course.before.at_ps
    seen_ps = _when_event(sign, course, from_ps)
    if sign.probe is not None:
        find = _when_lasting if verdict is Verdict.FAIL_MITIGATE else _when_first
        seen_ps = find(sign, course, from_ps)
    behind = "the rollback" if sign.after_rollback else "the fault"
    limit = f"expected within {show_time(sign.within_ps)}"
    if seen_ps is None:
        return Finding(
            part, sign.name, False, f"never seen; {limit} of {behind}{_last(sign, course)}", verdict
        )
    after_ps = seen_ps - from_ps - _watched(from_ps, seen_ps, course)
    text = f"{show_time(after_ps)} after {behind}, {limit}"
    return Finding(part, sign.name, after_ps <= sign.within_ps, text, verdict, after_ps)


def _watched(from_ps: int, seen_ps: int, course: Course) -> int:
    """Fabric time between two that went by only because alerts were waited for."""
    begin_ps, end_ps = course.watch_ps
    return end_ps - begin_ps if from_ps <= begin_ps and end_ps < seen_ps else 0


def _last(sign: Sign, course: Course) -> str:
    """What a probe gave in the end."""
    if sign.probe is None or not course.samples:
        return ""
    value = course.samples[-1].signs.get(sign.name)
    return f"; last {show(value, PROBES[sign.probe.func].unit)}, expected {sign.probe.tolerance}"


def _when_event(sign: Sign, course: Course, from_ps: int) -> int | None:
    events = find_events(course.events, sign.event, sign.node, sign.text)
    return min((event_ps(event) for event in events if event_ps(event) >= from_ps), default=None)


def _when_first(sign: Sign, course: Course, from_ps: int) -> int | None:
    """When a probe was within its tolerance for the first time."""
    seen = (each.at_ps for each in course.samples if sign.name in each.seen)
    return next((at_ps for at_ps in seen if at_ps > from_ps), None)


def _when_lasting(sign: Sign, course: Course, from_ps: int) -> int | None:
    """From when on a probe was within its tolerance until the rollback: one good moment does not count."""
    until_ps = course.rollback_ps if not sign.after_rollback else course.samples[-1].at_ps
    found: int | None = None
    for sample in course.samples:
        if sample.since_ps >= from_ps and sample.at_ps <= until_ps:
            found = None if sign.name not in sample.seen else found or sample.at_ps
    return found


def _alerts(course: Course) -> Iterator[Finding]:
    for record in course.alerts:
        if record.expected:
            fired_s = record.firing_s
            limit = f"expected within {record.within_s:g} s of wall time"
            text = f"never fired; {limit}" if fired_s is None else f"fired after {fired_s:.1f} s, {limit}"
            ok = fired_s is not None and fired_s <= record.within_s
            yield Finding("alerts", record.alert, ok, text, Verdict.FAIL_DETECT)


def _method(course: Course) -> Iterator[Finding]:
    for record in course.records:
        if record.tolerance:
            text = f"{show(record.output, PROBES[record.func].unit)}, expected {record.tolerance}"
            yield Finding("method", record.name, record.ok, text, Verdict.FAIL_SLO)


def _ending(drill: Drill, course: Course) -> Iterator[Finding]:
    expected, stopped = drill.expect.stopped, course.last.stopped if course.last else ""
    if expected or stopped:
        text = f"the twin has stopped by {stopped}" if stopped else "the twin has not stopped"
        text += f", expected {expected}" if expected else ", expected it to go on"
        yield Finding("ending", "the twin stops", stopped == expected, text, Verdict.FAIL_DETECT)
    if expected:
        return
    limit = f"expected within {show_time(drill.expect.recovery_ps)}"
    if course.recovered_ps < 0:
        text = f"the hypothesis does not hold again after the rollback; {limit}"
        yield Finding("recovery", "steady state", False, text, Verdict.FAIL_SLO)
        return
    after_ps = max(0, course.recovered_ps - course.rollback_ps)
    ok = after_ps <= drill.expect.recovery_ps + drill.every_ps
    text = f"{show_time(after_ps)} after the rollback, {limit}"
    yield Finding("recovery", "steady state", ok, text, Verdict.FAIL_SLO, after_ps)


def _slos(drill: Drill, course: Course) -> Iterator[Slo]:
    samples = [
        sample for sample in course.in_phase(METHOD, RECOVERY) if sample.at_ps > max(course.fault_ps, 0)
    ]
    for activity in drill.hypothesis:
        unit = PROBES[activity.func].unit
        out = [sample for sample in samples if activity.name in sample.out]
        values = [sample.values[activity.name] for sample in out or samples]
        numbers = [value for value in values if isinstance(value, int | float)]
        is_floor = activity.tolerance is not None and activity.tolerance.least is not None
        worst = (min(numbers) if is_floor else max(numbers)) if numbers else (values[-1] if values else None)
        out_ps = sum(sample.span_ps for sample in out)
        yield Slo(activity.name, str(activity.tolerance), show(worst, unit), out_ps, drill.expect.budget_ps)


def _objectives(slos: tuple[Slo, ...]) -> Iterator[Finding]:
    for slo in slos:
        if slo.budget_ps is not None:
            text = f"out for {show_time(slo.out_ps)} of {show_time(slo.budget_ps)}, worst {slo.worst}"
            yield Finding("objectives", slo.name, not slo.is_breached, text, Verdict.FAIL_SLO)


def find_hit_flows(course: Course, radius: BlastRadius | None) -> Iterator[HitFlow]:
    """Flows that have lost more of their goodput than a share, worst first."""
    radius = radius or BlastRadius()
    baseline = course.in_phase("baseline")
    samples = [each for each in course.in_phase(METHOD, RECOVERY) if each.at_ps > max(course.fault_ps, 0)]
    names = baseline[-1].goodput_bps if baseline else {}
    hit = []
    for name in names:
        before_bps = sum(each.goodput_bps.get(name, 0.0) for each in baseline) / len(baseline)
        losses = [_loss(each, name, before_bps) for each in samples]
        worst = max(losses, default=0.0)
        if worst > radius.loss:
            lost = sum(
                loss * before_bps * each.span_ps / PS_PER_S / 8
                for loss, each in zip(losses, samples, strict=True)
            )
            hit.append(HitFlow(name, worst, lost, is_spared(name, radius)))
    yield from sorted(hit, key=lambda flow: (-flow.loss, flow.name))


def _loss(sample: Sample, name: str, before_bps: float) -> float:
    return 1 - sample.goodput_bps.get(name, 0.0) / before_bps if before_bps > 0 else 0.0


def is_spared(name: str, radius: BlastRadius) -> bool:
    """Whether a flow is among those that must not be hit."""
    return any(
        name == spared or (spared.endswith(EVERY) and name.startswith(spared[:-1]))
        for spared in radius.spared
    )


def _blast_radius(drill: Drill, course: Course, hit: tuple[HitFlow, ...]) -> Iterator[Finding]:
    radius = drill.expect.blast_radius
    if radius is None:
        return
    if radius.flows is not None:
        text = f"{len(hit)} flows hit, expected at most {radius.flows}"
        yield Finding("blast radius", "flows", len(hit) <= radius.flows, text, Verdict.FAIL_SLO)
    if radius.ports is not None:
        most = max((each.ports_down for each in course.in_phase(METHOD, RECOVERY)), default=0)
        text = f"{most} ports down, expected at most {radius.ports}"
        yield Finding("blast radius", "ports", most <= radius.ports, text, Verdict.FAIL_SLO)
    if radius.spared:
        victims = [flow.name for flow in hit if flow.is_spared]
        text = f"hit: {', '.join(victims)}" if victims else "none is hit"
        yield Finding("blast radius", "spared flows", not victims, text, Verdict.FAIL_SLO)
