# SPDX-License-Identifier: Apache-2.0
"""Every drill that comes with the project passes, and each of its negatives makes it fail as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.drills.catalogue import drill_files
from fabrictwin.drills.load import load_drill
from integration.machine import REPOSITORY, Machine, machine

pytestmark = pytest.mark.drills

DRILLS = {name: load_drill(path) for name, path in drill_files(REPOSITORY / "deploy" / "drills").items()}
NEGATIVES = [(name, negative) for name, drill in DRILLS.items() for negative in drill.negatives]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Machine]:
    with machine() as place:
        place.environment["XDG_STATE_HOME"] = str(tmp_path)
        yield place
        assert place.leftovers() == []


def _run(place: Machine, *arguments: str) -> dict[str, Any]:
    run = place.run("drill", "run", *arguments, "--json", "-")
    assert run.returncode in range(6), (run.stdout, run.stderr)
    journal: dict[str, Any] = json.loads(run.stdout)
    assert run.returncode == journal["exit_code"]
    return journal


@pytest.mark.parametrize("name", DRILLS)
def test_drill_passes(place: Machine, name: str) -> None:
    journal = _run(place, name)
    assert journal["verdict"] == "PASS", journal["reasons"]


@pytest.mark.parametrize(
    ("name", "negative"), NEGATIVES, ids=[f"{name}-{negative.name}" for name, negative in NEGATIVES]
)
def test_negative_fails_as_it_says(place: Machine, name: str, negative: Any) -> None:
    journal = _run(place, name, "--negative", negative.name)
    assert journal["verdict"] == negative.verdict, journal["reasons"]
