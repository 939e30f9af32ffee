# SPDX-License-Identifier: Apache-2.0
"""Reads a drill file: every part is read and held against the scenario, to show all problems at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from fabrictwin.drills.activities import Names, read_activities, read_sign
from fabrictwin.drills.drill import (
    BlastRadius,
    Clock,
    Drill,
    Expect,
    ExpectedAlert,
    Negative,
    Sign,
    Verdict,
)
from fabrictwin.drills.keys import (
    AlertKeys,
    BlastRadiusKeys,
    DrillKeys,
    ExpectKeys,
    HypothesisKeys,
    NegativeKeys,
)
from fabrictwin.drills.look import EVERY
from fabrictwin.drills.variant import apply_negative, change_text
from fabrictwin.errors import InputError
from fabrictwin.model.quantities import show_value
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.model.section import Section
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, read_document, read_text
from fabrictwin.units import PS_PER_S


def load_drill(path: Path) -> Drill:
    """Reads a drill file and its scenario.

    Args:
        path: The file.

    Raises:
        InputError: With every problem of both.
    """
    text = read_text(path, largest_bytes=LARGEST_FILE_BYTES)
    root = Section(read_document(text, str(path)))
    if not isinstance(root.value, dict):
        root.refuse(
            f"expected a drill: a mapping with version, title, method, …; got {show_value(root.value)}"
        )
        root.raise_problems()
    drill = _read(root, path, hashlib.sha256(text.encode()).hexdigest())
    root.raise_problems()
    # Without a drill there is a problem, and it has been raised.
    assert drill is not None
    for number, negative in enumerate(drill.negatives):
        try:
            apply_negative(drill, negative)
        except InputError as error:
            for problem in error.problems:
                root.at("negatives", number).refuse(str(problem), "scenario")
    root.raise_problems()
    return drill


def _read(root: Section, path: Path, sha256: str) -> Drill | None:
    keys = root.read(DrillKeys)
    scenario = _read_scenario(root, path, keys.seed if keys else None)
    reader = _Reader(root, scenario)
    hypothesis_keys = root.at("steady-state-hypothesis").read(HypothesisKeys) if keys else None
    method = read_activities(root.at("method"), reader.names)
    probes = root.at("steady-state-hypothesis", "probes")
    hypothesis = read_activities(probes, reader.names, only="probe", wants_tolerance=True)
    rollbacks = read_activities(root.at("rollbacks"), reader.names, only="action")
    expect = reader.read_expect(root.at("expect"))
    negatives = reader.read_negatives(root.at("negatives"))
    if keys is None or hypothesis_keys is None or scenario is None or expect is None:
        return None
    if not hypothesis:
        root.refuse("expected at least one probe", "steady-state-hypothesis", "probes")
    return Drill(
        path.stem,
        path,
        sha256,
        keys.title,
        keys.description,
        tuple(keys.tags),
        path.parent / keys.scenario,
        scenario,
        Clock(keys.clock),
        scenario.seed,
        keys.lease,
        keys.warm_up,
        keys.every,
        hypothesis_keys.title,
        hypothesis,
        method,
        rollbacks,
        expect,
        negatives,
        {} if keys.seed is None else {"seed": keys.seed},
    )


def _read_scenario(root: Section, path: Path, seed: int | None) -> Scenario | None:
    name = root.value.get("scenario")
    if not isinstance(name, str):
        return None
    file = path.parent / name
    try:
        text = read_text(file, largest_bytes=LARGEST_FILE_BYTES)
        if seed is not None:
            text = change_text(text, str(file), {"seed": seed})
        return parse_scenario(text, file=str(file), base=file.parent)
    except InputError as error:
        for problem in error.problems:
            root.refuse(str(problem), "scenario")
        return None


@dataclass
class _Reader:
    """Reads the parts of a drill that name each other."""

    root: Section
    scenario: Scenario | None
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        self.names = Names(self.scenario)

    def read_expect(self, section: Section) -> Expect | None:
        """What has to follow."""
        keys = section.read(ExpectKeys)
        detection = self._signs(section.at("detection"))
        mitigation = self._signs(section.at("mitigation"))
        alerts = self._alerts(section.at("alerts"))
        blast_radius = self._blast_radius(section.at("blast_radius"))
        if keys is None:
            return None
        if not (detection or mitigation or keys.stopped) and not section.problems:
            section.refuse("expected a sign of detection or mitigation: without one the drill cannot fail")
        return Expect(
            detection, alerts, mitigation, keys.recovery, keys.budget, blast_radius, keys.stopped or ""
        )

    def _signs(self, section: Section) -> tuple[Sign, ...]:
        signs = [read_sign(entry, self.names) for entry in section.read_list()]
        return tuple(sign for sign in signs if sign is not None)

    def _alerts(self, section: Section) -> tuple[ExpectedAlert, ...]:
        read = [entry.read(AlertKeys) for entry in section.read_list()]
        return tuple(ExpectedAlert(keys.alert, keys.within / PS_PER_S) for keys in read if keys)

    def _blast_radius(self, section: Section) -> BlastRadius | None:
        keys = None if section.value is None else section.read(BlastRadiusKeys)
        if keys is None:
            return None
        for index, flow in enumerate(keys.spared):
            if not flow.endswith(EVERY):
                self.names.check(section, "flow", flow, "spared", index)
        return BlastRadius(keys.flows, keys.ports, keys.loss, tuple(keys.spared))

    def read_negatives(self, section: Section) -> tuple[Negative, ...]:
        """Changes that make it fail."""
        negatives: list[Negative] = []
        for entry in section.read_list():
            keys = entry.read(NegativeKeys)
            if keys is None:
                continue
            for index, name in enumerate(keys.without):
                if name not in self.names.activities:
                    entry.refuse_name("activity", name, self.names.activities, "without", index)
            if keys.name in [other.name for other in negatives]:
                entry.refuse(f"a second negative with the name {keys.name!r}", "name")
            negatives.append(
                Negative(keys.name, keys.why, Verdict(keys.verdict), tuple(keys.without), keys.scenario or {})
            )
        return tuple(negatives)
