# SPDX-License-Identifier: Apache-2.0
"""What a drill is once it has been read and checked, and what can come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from fabrictwin.drills.tolerance import Tolerance
from fabrictwin.model.scenario import Scenario


class Verdict(StrEnum):
    """What came out of a drill."""

    PASS = "PASS"
    FAIL_SLO = "FAIL_SLO"
    FAIL_DETECT = "FAIL_DETECT"
    FAIL_MITIGATE = "FAIL_MITIGATE"
    FAIL_INVARIANT = "FAIL_INVARIANT"
    INVALID = "INVALID"
    ABORTED = "ABORTED"


EXIT_PASS, EXIT_FAIL, EXIT_USAGE, EXIT_INVALID, EXIT_ABORTED, EXIT_LEFT_OVERS = range(6)
"""Exit codes of ``drill run``."""

EXIT_CODES = {
    Verdict.PASS: EXIT_PASS,
    Verdict.FAIL_SLO: EXIT_FAIL,
    Verdict.FAIL_DETECT: EXIT_FAIL,
    Verdict.FAIL_MITIGATE: EXIT_FAIL,
    Verdict.FAIL_INVARIANT: EXIT_FAIL,
    Verdict.INVALID: EXIT_INVALID,
    Verdict.ABORTED: EXIT_ABORTED,
}


class Clock(StrEnum):
    """What pauses are counted in."""

    FABRIC = "fabric"
    WALL = "wall"


@dataclass(frozen=True, slots=True)
class Activity:
    """A probe or an action.

    Attributes:
        name: Its name, unique in the drill.
        func: Row of the table of probes or of actions.
        arguments: Its arguments: a spec, or an entry of a scenario.
        is_action: Whether it is an action.
        tolerance: What a probe's value has to be; None: anything.
        before_ps: Pause before it.
        after_ps: Pause behind it.
    """

    name: str
    func: str
    arguments: Any
    is_action: bool
    tolerance: Tolerance | None = None
    before_ps: int = 0
    after_ps: int = 0


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that has to be seen in time: an event, or a probe within its tolerance.

    Attributes:
        name: It in words.
        within_ps: Fabric time after the fault, or after the rollback, in which it has to be seen.
        after_rollback: Whether it is counted from the rollback.
        event: Kind of event; empty: it is a probe.
        node: Node that the event is about; empty: any.
        text: What the event's text holds.
        probe: The probe.
    """

    name: str
    within_ps: int
    after_rollback: bool = False
    event: str = ""
    node: str = ""
    text: str = ""
    probe: Activity | None = None


@dataclass(frozen=True, slots=True)
class ExpectedAlert:
    """An alert that has to fire.

    Attributes:
        alert: Its name.
        within_s: Wall time after the fault.
    """

    alert: str
    within_s: float


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """How far a fault may reach.

    Attributes:
        flows: Most flows that lose more than ``loss`` of their goodput.
        ports: Most ports that are down.
        loss: Share of a flow's goodput in the baseline, from which on it counts as hit.
        spared: Flows that must not be hit.
    """

    flows: int | None = None
    ports: int | None = None
    loss: float = 0.5
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expect:
    """What has to follow from the fault.

    Attributes:
        detection: What tells an operator of it.
        alerts: Alerts that have to fire, where a Prometheus is given.
        mitigation: What the fabric, or who rules it, does about it.
        recovery_ps: Fabric time after the rollback in which the hypothesis has to hold again.
        budget_ps: Fabric time for which a probe of the hypothesis may be out of its tolerance; None: any.
        blast_radius: How far it may reach.
        stopped: Why the twin is to stop; empty: it is to go on.
    """

    detection: tuple[Sign, ...] = ()
    alerts: tuple[ExpectedAlert, ...] = ()
    mitigation: tuple[Sign, ...] = ()
    recovery_ps: int = 0
    budget_ps: int | None = None
    blast_radius: BlastRadius | None = None
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Negative:
    """A change that makes the drill fail; a drill that cannot fail shows nothing.

    Attributes:
        name: Its name.
        why: What is shown, in a sentence.
        verdict: What comes out.
        without: Activities that are left out.
        changes: Values of the scenario that differ, by dotted path.
    """

    name: str
    why: str
    verdict: Verdict
    without: tuple[str, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Drill:
    """A drill.

    Attributes:
        name: Name of its file.
        file: The file.
        sha256: Of the file's text.
        title: One line.
        description: What it shows.
        tags: To choose by.
        scenario_file: The scenario that it runs on.
        scenario: The same, read; with the seed of the drill.
        clock: What pauses are counted in.
        seed: Seed of the scenario.
        lease_ps: How long a fault lasts at most that does not say.
        warm_up_ps: Fabric time before the baseline.
        every_ps: Time between two looks.
        hypothesis_title: The steady state in words.
        hypothesis: Its probes.
        method: What is done.
        rollbacks: What undoes it.
        expect: What has to follow.
        negatives: Changes that make it fail.
        changes: What differs from the scenario's file, by dotted path.
    """

    name: str
    file: Path
    sha256: str
    title: str
    description: str
    tags: tuple[str, ...]
    scenario_file: Path
    scenario: Scenario = field(repr=False)
    clock: Clock
    seed: int
    lease_ps: int
    warm_up_ps: int
    every_ps: int
    hypothesis_title: str
    hypothesis: tuple[Activity, ...]
    method: tuple[Activity, ...]
    rollbacks: tuple[Activity, ...]
    expect: Expect
    negatives: tuple[Negative, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)
