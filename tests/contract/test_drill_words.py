# SPDX-License-Identifier: Apache-2.0
"""Drills know every kind of event, and their catalogue is whole: they may not import what says it."""

from __future__ import annotations

from pathlib import Path

from fabrictwin.drills.actions import ACTIONS
from fabrictwin.drills.catalogue import drill_files
from fabrictwin.drills.events import FABRIC_EVENTS, SUBNET_EVENTS
from fabrictwin.drills.load import load_drill
from fabrictwin.drills.probes import PROBES
from fabrictwin.engine.codes import LogKind
from fabrictwin.subnet.outbox import EventKind

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "deploy" / "drills"
DRILLS = drill_files(FOLDER)


def test_events_of_drills_are_those_of_the_fabric_and_its_managers() -> None:
    assert set(FABRIC_EVENTS) == {kind.name.lower() for kind in LogKind}
    assert set(SUBNET_EVENTS) == set(EventKind)


def test_every_drill_has_a_negative_and_a_page_of_its_title() -> None:
    for name, path in DRILLS.items():
        drill = load_drill(path)
        assert drill.negatives, name
        page = (REPOSITORY / "docs" / "drills" / f"{name}.md").read_text()
        assert page.startswith(f"# {drill.title}\n"), name
        assert all(f"`{negative.name}`" in page for negative in drill.negatives), name


def test_drills_of_the_composed_twin_are_on_one_page() -> None:
    page = (REPOSITORY / "docs" / "drills" / "composed.md").read_text()
    for name, path in drill_files(FOLDER / "composed").items():
        drill = load_drill(path)
        assert f"`{name}`" in page
        assert all(f"`{expected.alert}`" in page for expected in drill.expect.alerts)
        assert drill.scenario.name == "composed"
        assert drill.negatives


def test_alerts_that_drills_expect_are_in_the_rules() -> None:
    rules = (REPOSITORY / "deploy" / "prometheus" / "rules" / "alerts.yml").read_text()
    for path in FOLDER.rglob("*.yaml"):
        if path.parent.name == "scenarios":
            continue
        for expected in load_drill(path).expect.alerts:
            assert f"alert: {expected.alert}\n" in rules, path


def test_every_probe_and_action_is_explained() -> None:
    page = (REPOSITORY / "docs" / "drills.md").read_text()
    for row in (*PROBES.values(), *ACTIONS.values()):
        assert f"| `{row.name}` |" in page
        assert row.summary in page
