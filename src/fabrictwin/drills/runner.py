# SPDX-License-Identifier: Apache-2.0
"""Runs a drill: baseline, method, watch, rollback, recovery, and the check for what is left over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import time

from fabrictwin.drills.actions import ACTIONS, BREAKS, Hands, end_fault
from fabrictwin.drills.alerts import watch_alerts
from fabrictwin.drills.course import BASELINE, METHOD, RECOVERY, WATCH, Course, Invariant, Record, Sample
from fabrictwin.drills.drill import Activity, Clock, Drill, Sign
from fabrictwin.drills.invariants import IDLE, check_invariants
from fabrictwin.drills.look import Look, Span
from fabrictwin.drills.monitor import Monitor
from fabrictwin.drills.probes import PROBES, Measurement
from fabrictwin.drills.tolerance import Value, show
from fabrictwin.drills.twin import RefusedError, StoppedByUserError
from fabrictwin.errors import FabricTwinError
from fabrictwin.units import PS_PER_MS, PS_PER_S

BASELINE_LOOKS = 3
"""Spans of the baseline in which the hypothesis has to hold."""
DRAIN_PS = 100 * PS_PER_MS
"""Fabric time in which a fabric that nobody sends into is empty."""

Show = Callable[[str, str], None]
"""Takes the phase that begins or goes on, and what happens in it."""


class Runner:
    """Runs one drill on one twin.

    Args:
        drill: The drill.
        hands: What its actions work with.
        monitor: The monitoring chain; None: there is none.
        is_ours: Whether the twin was brought up for this drill, and may be drained at the end.
        show: Takes what happens, for a person.
    """

    def __init__(
        self, drill: Drill, hands: Hands, monitor: Monitor | None, is_ours: bool, show: Show
    ) -> None:
        self._drill = drill
        self._hands = hands
        self._twin = hands.twin
        self._monitor = monitor
        self._is_ours = is_ours
        self._show = show
        self._looks: list[Look] = []
        self._phase = BASELINE
        self.course = Course(monitored=monitor is not None)

    def run(self) -> Course:
        """Runs it to its end, whatever happens; everything that was done is undone."""
        course = self.course
        try:
            self._measure_baseline()
            if not course.invalid:
                self._perform_method()
        except StoppedByUserError as stop:
            course.aborted = str(stop)
        except FabricTwinError as error:
            course.invalid.append(str(error))
        try:
            self._roll_back()
            if not course.invalid and not course.aborted:
                self._recover()
        except StoppedByUserError as stop:
            course.aborted = course.aborted or str(stop)
        except FabricTwinError as error:
            course.invalid.append(str(error))
        self._clean_up()
        return course

    # Time

    def _advance(self, span_ps: int) -> None:
        """Lets the twin go on for a while, and looks at it again and again."""
        left_ps = span_ps
        while left_ps > 0 and not (self._looks and self._looks[-1].stopped):
            # A rest of less than half a step belongs to the last one: rates over a short span say little.
            step_ps = left_ps if 2 * left_ps < 3 * self._drill.every_ps else self._drill.every_ps
            if self._drill.clock is Clock.WALL:
                self._twin.go_for(step_ps / PS_PER_S)
            else:
                self._twin.go_to(self._looks[-1].at_ps + step_ps)
            left_ps -= step_ps
            self._look()

    def _look(self) -> Look:
        look = self._twin.look()
        if self._looks and look.at_ps > self._looks[-1].at_ps:
            self._looks.append(look)
            self._confirm(look)
            self._sample()
        else:
            self._looks[-1:] = [look]
        return look

    def _measurement(self) -> Measurement:
        last = self._looks[-1]
        recent = Span(self._looks[-2] if len(self._looks) > 1 else last, last)
        whole = recent if self.course.before is None else Span(self.course.before, last)
        query = None if self._monitor is None else self._monitor.query
        return Measurement(recent, whole, self._drill.scenario, query)

    def _sample(self) -> None:
        """Evaluates every probe of the hypothesis, also those behind one that is out."""
        of = self._measurement()
        in_span = replace(of, whole=of.recent)
        values = {each.name: _measure(each, in_span) for each in self._drill.hypothesis}
        out = tuple(each.name for each in self._drill.hypothesis if not _accepts(each, values[each.name]))
        signs = {
            probe.name: _measure(probe, of)
            for probe in (sign.probe for sign in self._signs())
            if probe is not None and self.course.before is not None
        }
        seen = tuple(
            sign.name
            for sign in self._signs()
            if sign.probe is not None and sign.name in signs and _accepts(sign.probe, signs[sign.name])
        )
        sample = Sample(
            of.now.at_ps,
            of.now.wall_s,
            self._phase,
            values,
            out,
            signs,
            seen,
            {name: of.recent.goodput_bps(name) for name in of.now.flows},
            len(of.now.ports_down),
            of.recent.first.at_ps,
        )
        self.course.samples.append(sample)
        self.course.last = of.now
        self._show(self._phase, _describe(sample, self._drill))

    def _signs(self) -> tuple[Sign, ...]:
        return (*self._drill.expect.detection, *self._drill.expect.mitigation)

    def _confirm(self, look: Look) -> None:
        """Notes which injected faults the director lists as active, or over."""
        open_records = [each for each in self.course.records if each.fault and not each.confirmed]
        if not open_records:
            return
        states = {fault.id: fault.state for fault in self._twin.faults()}
        for record in open_records:
            if record.at_ps <= look.at_ps:
                record.confirmed = states.get(record.fault) in ("active", "over", "cleared")

    # Phases

    def _measure_baseline(self) -> None:
        drill = self._drill
        self._show(BASELINE, f"warming up for {drill.warm_up_ps / PS_PER_MS:g} ms")
        begin_ps = self._twin.pause()
        self._twin.go_to(begin_ps + drill.warm_up_ps)
        self._look_first()
        self._advance(BASELINE_LOOKS * drill.every_ps)
        for sample in self.course.samples:
            for activity in drill.hypothesis:
                if activity.name in sample.out:
                    value = show(sample.values[activity.name], PROBES[activity.func].unit)
                    self.course.invalid.append(
                        f"the baseline is red: {activity.name} is {value}, expected {activity.tolerance}"
                    )
            if self.course.invalid:
                return
        if self._looks[-1].stopped:
            self.course.invalid.append(f"the twin has stopped by itself: {self._looks[-1].stopped}")
        self.course.before = self._looks[-1]

    def _look_first(self) -> None:
        self._looks = [self._twin.look()]
        self.course.last = self._looks[-1]

    def _perform_method(self) -> None:
        self._phase = METHOD
        for activity in self._drill.method:
            self._advance(activity.before_ps)
            record = self._perform(activity, METHOD)
            if activity.is_action and not record.ok:
                self.course.invalid.append(f"{activity.name} could not be done: {record.error}")
                return
            self._advance(self._until_in_effect(record) + activity.after_ps)
            if self.course.fault_ps >= 0 and not self.course.alerts:
                self._watch_alerts()
        for record in self.course.records:
            if record.fault and not record.confirmed:
                self.course.invalid.append(f"the director never listed {record.fault} as active")

    def _until_in_effect(self, record: Record) -> int:
        """Time until an action takes effect, where that is not next to nothing: a pause begins behind it.

        A twin looks around the less often the longer it has been running.
        """
        ahead_ps = record.at_ps - self._looks[-1].at_ps
        is_far = self._drill.clock is Clock.FABRIC and 2 * ahead_ps > self._drill.every_ps
        return ahead_ps if is_far else 0

    def _perform(self, activity: Activity, part: str) -> Record:
        now_ps = self._looks[-1].at_ps if self._looks else int(self._twin.status().fabric_time_ps)
        record = Record(activity.name, activity.func, part, now_ps, time())
        self.course.records.append(record)
        if activity.is_action:
            self._act(activity, record)
        else:
            value = _measure(activity, self._measurement())
            record.at_ps, record.output = now_ps, value
            record.tolerance = str(activity.tolerance or "")
            record.ok = activity.tolerance is None or activity.tolerance.accepts(value)
        return record

    def _act(self, activity: Activity, record: Record) -> None:
        try:
            done = ACTIONS[activity.func].act(activity.name, activity.arguments, self._hands)
        except FabricTwinError as error:
            record.ok, record.error = False, str(error)
            self._show(self._phase, f"{activity.name} failed: {error}")
            return
        record.at_ps, record.output, record.fault = done.at_ps, done.text, done.fault
        self._show(self._phase, done.text)
        if record.part == METHOD and self.course.fault_ps < 0 and activity.func in self._breaking():
            self.course.fault_ps, self.course.fault_wall_s = done.at_ps, time()

    def _breaking(self) -> set[str]:
        """The actions of this drill that are its fault."""
        funcs = {activity.func for activity in self._drill.method if activity.is_action}
        return funcs & set(BREAKS) or funcs

    def _watch_alerts(self) -> None:
        """Lets the twin go on with its fault until the alerts have fired that are expected."""
        if self._monitor is None or not self._drill.expect.alerts:
            return
        self._phase = WATCH
        begin_ps = self._looks[-1].at_ps
        self._twin.resume()
        try:
            watch_alerts(self._monitor, self._drill.expect.alerts, self.course, self._twin.sleep, self._show)
        finally:
            self._twin.pause()
        self.course.watch_ps = begin_ps, self._look().at_ps
        self._phase = METHOD

    def _roll_back(self) -> None:
        """Does every rollback, also behind one that fails, and ends what no rollback has ended.

        Whoever wants the drill to end has to wait for this.
        """
        self._phase = RECOVERY
        self._twin.heeds = False
        self._twin.pause()
        done_ps = int(self._twin.status().fabric_time_ps)
        for activity in self._drill.rollbacks:
            record = self._perform(activity, "rollbacks")
            if not record.ok:
                self.course.rollback_errors.append(f"{activity.name}: {record.error}")
            done_ps = max(done_ps, record.at_ps)
        done_ps = max(done_ps, self._end_faults())
        if self._hands.services is not None:
            for text in self._hands.services.restore():
                self._show(RECOVERY, text)
        self.course.rollback_ps = done_ps
        self._twin.go_to(done_ps)
        self._twin.heeds = not self.course.aborted

    def _end_faults(self) -> int:
        """Ends every fault of this drill that is still active; returns when the last one is over."""
        done_ps = 0
        if self._twin.has_ended():
            return done_ps
        ours = set(self._hands.faults.values())
        for fault in self._twin.faults():
            if fault.id in ours and fault.state in ("active", "scheduled"):
                try:
                    done_ps = max(done_ps, end_fault(self._twin, fault.id, self._hands.owner))
                except RefusedError as error:
                    self.course.rollback_errors.append(f"{fault.id}: {error}")
        return done_ps

    def _recover(self) -> None:
        """Waits until the hypothesis holds again, but not beyond what is allowed."""
        if self._drill.expect.stopped or not self._looks:
            return
        limit_ps = self.course.rollback_ps + self._drill.expect.recovery_ps
        while not self._looks[-1].stopped:
            sample = self.course.samples[-1]
            if sample.since_ps >= self.course.rollback_ps and not sample.out:
                self.course.recovered_ps = sample.since_ps
                break
            if self._looks[-1].at_ps > limit_ps + self._drill.every_ps:
                return
            self._advance(self._drill.every_ps)
        last_ps = max((sign.within_ps for sign in self._signs() if sign.after_rollback), default=0)
        rest_ps = self.course.rollback_ps + last_ps - self._looks[-1].at_ps
        if rest_ps > 0 and self._drill.clock is Clock.FABRIC:
            steps = -(-rest_ps // self._drill.every_ps)
            self._advance(steps * self._drill.every_ps)

    def _clean_up(self) -> None:
        """Empties a fabric that is ours, checks what always holds, and what is left over."""
        course = self.course
        self._twin.heeds = not course.aborted
        try:
            self._twin.pause()
            if self._is_ours and not course.aborted and not self._twin.has_ended():
                self._drain()
            course.end = self._twin.look()
            ours = set(self._hands.faults.values())
            course.invariants += check_invariants(self._drill.scenario, course.end, ours)
            if not course.end.stopped:
                left = sorted(ours & set(course.end.active_faults))
                course.left_overs += [f"fault {fault} is still active" for fault in left]
        except StoppedByUserError as stop:
            course.aborted = course.aborted or str(stop)
        except FabricTwinError as error:
            course.left_overs.append(f"the twin could not be looked at in the end: {error}")
        if self._hands.services is not None:
            course.left_overs += self._hands.services.left_overs()

    def _drain(self) -> None:
        """Ends all traffic and waits until nothing moves, so that every packet can be accounted for."""
        self._show("drain", "ending the traffic")
        for workload in self._twin.workloads():
            if workload.stop_ps < 0 and not self._twin.has_ended():
                self._twin.stop_workload(workload.name, self._hands.owner)
        now_ps = int(self._twin.status().fabric_time_ps)
        self._twin.go_to(now_ps + DRAIN_PS)
        has_drained = self._twin.has_ended()
        how = f"{IDLE} within" if has_drained else "still busy after"
        text = f"{how} {DRAIN_PS / PS_PER_MS:g} ms without traffic"
        self.course.invariants.append(Invariant("fabric drains", has_drained, text))


def _measure(activity: Activity, of: Measurement) -> Value:
    return PROBES[activity.func].measure(activity.arguments, of)


def _accepts(activity: Activity, value: Value) -> bool:
    return activity.tolerance is None or activity.tolerance.accepts(value)


def _describe(sample: Sample, drill: Drill) -> str:
    parts = [f"{sample.at_ps / PS_PER_MS:.3f} ms"]
    for activity in drill.hypothesis:
        mark = "out: " if activity.name in sample.out else ""
        parts.append(
            f"{activity.name} {mark}{show(sample.values[activity.name], PROBES[activity.func].unit)}"
        )
    return ", ".join(parts)
