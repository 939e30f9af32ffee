# SPDX-License-Identifier: Apache-2.0
"""Every scenario that the project ships does what it says: its own expectations hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.model.result_fields import RESULT_FIELDS, ResultField
from fabrictwin.model.scenario import load_scenario

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIOS = sorted((REPOSITORY / "deploy" / "scenarios").glob("*.yaml"))
JUDGED = [file for file in SCENARIOS if load_scenario(file).expectations]


@pytest.mark.parametrize("file", JUDGED, ids=lambda file: file.stem)
def test_shipped_scenario_meets_its_expectations(file: Path) -> None:
    run = subprocess.run([PROGRAM, "simulate", file], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def _differences(value: Any, field: ResultField, place: str = "result") -> list[str]:
    """The places that differ between a result and what an expectation may be about."""
    if value is None:
        return []
    if field.chosen_by:
        entries = [
            _differences(entry, ResultField(field.below), f"{place}[{at}]") for at, entry in enumerate(value)
        ]
        return [place for entry in entries for place in entry]
    if not field.below:
        return [f"{place} is not a plain value"] if isinstance(value, dict | list) else []
    # Events have the fields that belong to their kind.
    names = (
        set(value) - set(field.below) if place.startswith("result.events") else set(value) ^ set(field.below)
    )
    below = [
        _differences(value[name], part, f"{place}.{name}")
        for name, part in field.below.items()
        if name in value
    ]
    return [*(f"{place}.{name}" for name in sorted(names)), *(place for part in below for place in part)]


@pytest.mark.parametrize("name", ["ring-all-reduce", "deadlock-ring", "link-flap"])
def test_result_has_just_what_an_expectation_may_be_about(name: str, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    scenario = REPOSITORY / "deploy" / "scenarios" / f"{name}.yaml"
    subprocess.run([PROGRAM, "simulate", scenario, "--json", target], capture_output=True, check=True)
    assert _differences(json.loads(target.read_text()), ResultField(RESULT_FIELDS)) == []
