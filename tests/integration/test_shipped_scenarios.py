# SPDX-License-Identifier: Apache-2.0
"""Every scenario that the project ships does what it says: its own expectations hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fabrictwin.model.expectation import RESULT_FIELDS
from fabrictwin.model.scenario import load_scenario

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIOS = sorted((REPOSITORY / "deploy" / "scenarios").glob("*.yaml"))
JUDGED = [file for file in SCENARIOS if load_scenario(file).expectations]


@pytest.mark.parametrize("file", JUDGED, ids=lambda file: file.stem)
def test_shipped_scenario_meets_its_expectations(file: Path) -> None:
    run = subprocess.run([PROGRAM, "simulate", file], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_result_has_everything_that_an_expectation_may_be_about(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    scenario = REPOSITORY / "deploy" / "scenarios" / "ring-all-reduce.yaml"
    subprocess.run([PROGRAM, "simulate", scenario, "--json", target], capture_output=True, check=True)
    result = json.loads(target.read_text())
    assert set(RESULT_FIELDS) <= set(result)
    assert set(RESULT_FIELDS["flows"]) == set(result["flows"][0])
    assert set(RESULT_FIELDS["jobs"]) == set(result["jobs"][0])
