# SPDX-License-Identifier: Apache-2.0
"""What has happened in a drill, as it is judged and reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabrictwin.drills.look import Look
from fabrictwin.drills.tolerance import Value

BASELINE, METHOD, WATCH, RECOVERY = "baseline", "method", "watch", "recovery"
"""Phases in which the twin is looked at."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one look has shown.

    Attributes:
        at_ps: Fabric time.
        wall_s: Wall time, seconds since the epoch.
        phase: In which phase of the drill.
        values: Value of each probe of the hypothesis.
        out: Names of those that are out of their tolerances.
        signs: Value of each probe of an expected sign.
        seen: Names of those that are within theirs.
        goodput_bps: Of each flow, since the look before.
        ports_down: Ports whose cable is down.
        since_ps: Fabric time of the look before.
    """

    at_ps: int
    wall_s: float
    phase: str
    values: Mapping[str, Value]
    out: tuple[str, ...]
    signs: Mapping[str, Value]
    seen: tuple[str, ...]
    goodput_bps: Mapping[str, float]
    ports_down: int
    since_ps: int

    @property
    def span_ps(self) -> int:
        """Fabric time since the look before."""
        return self.at_ps - self.since_ps


@dataclass(slots=True)
class Record:
    """What has become of an activity.

    Attributes:
        name: Its name.
        func: Row of its table.
        part: ``method`` or ``rollbacks``.
        requested_ps: Fabric time at which it was asked for.
        wall_s: Wall time of that.
        at_ps: Fabric time at which an action takes effect, as the director has acknowledged it.
        output: What it gave: a value or words.
        tolerance: What a probe had to be, in words.
        ok: Whether an action was done, or a probe within its tolerance.
        error: Why it was not done.
        fault: Id of a fault that was injected.
        fault_end_ps: When that ends by itself; -1: never.
        confirmed: Whether the director has listed that fault as active, or over.
    """

    name: str
    func: str
    part: str
    requested_ps: int
    wall_s: float
    at_ps: int = 0
    output: Value = None
    tolerance: str = ""
    ok: bool = True
    error: str = ""
    fault: str = ""
    fault_end_ps: int = -1
    confirmed: bool = False


@dataclass(slots=True)
class AlertRecord:
    """What has become of an alert.

    Attributes:
        alert: Its name.
        expected: Whether it had to fire.
        within_s: Wall time in which it had to.
        pending_s: Wall time behind the fault at which it was pending; None: it was not seen so.
        firing_s: Likewise at which it fired.
        notified_s: Likewise at which Alertmanager had it.
        text: Its labels.
    """

    alert: str
    expected: bool
    within_s: float = 0.0
    pending_s: float | None = None
    firing_s: float | None = None
    notified_s: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Invariant:
    """Something that has to hold whatever happens.

    Attributes:
        name: What.
        ok: Whether it does.
        text: What was found.
    """

    name: str
    ok: bool
    text: str


@dataclass(slots=True)
class Course:
    """What has happened in a drill.

    Attributes:
        invalid: Why nothing can be said; empty if something can.
        aborted: Why it was ended early; empty if it was not.
        records: Every activity.
        samples: Every look.
        before: The look at the end of the baseline.
        last: The last look before the fabric was drained.
        end: The last look of all.
        fault_ps: Fabric time at which the first action took effect; -1: none has.
        fault_wall_s: Wall time at which it was acknowledged.
        rollback_ps: Fabric time of the last rollback; -1: there was none.
        recovered_ps: Fabric time at which the hypothesis held again; -1: it did not.
        watch_ps: Fabric time of the beginning and the end of the watch for alerts; (0, 0): there was none.
        alerts: Every alert.
        monitored: Whether there was a Prometheus to ask.
        invariants: What has to hold whatever happens.
        rollback_errors: Rollbacks that failed, in words.
        left_overs: What was not as before at the end, in words.
    """

    invalid: list[str] = field(default_factory=list)
    aborted: str = ""
    records: list[Record] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    before: Look | None = None
    last: Look | None = None
    end: Look | None = None
    fault_ps: int = -1
    fault_wall_s: float = 0.0
    rollback_ps: int = -1
    recovered_ps: int = -1
    watch_ps: tuple[int, int] = (0, 0)
    alerts: list[AlertRecord] = field(default_factory=list)
    monitored: bool = False
    invariants: list[Invariant] = field(default_factory=list)
    rollback_errors: list[str] = field(default_factory=list)
    left_overs: list[str] = field(default_factory=list)

    def in_phase(self, *phases: str) -> list[Sample]:
        """The samples of some phases."""
        return [sample for sample in self.samples if sample.phase in phases]

    @property
    def events(self) -> list[dict[str, Any]]:
        """What has happened in the twin until the last look."""
        return [] if self.last is None else self.last.events
