# SPDX-License-Identifier: Apache-2.0
"""Exported drills, by the real Chaos Toolkit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chaoslib.exceptions import ActivityFailed, InvalidActivity
from chaoslib.experiment import ensure_experiment_is_valid
from chaoslib.hypothesis import within_tolerance
from chaoslib.provider.python import run_python_activity

from fabrictwin.drills.catalogue import drill_files
from fabrictwin.drills.export import chaostoolkit_experiment
from fabrictwin.drills.load import load_drill
from unit.drills.drill_files import write_drill

REPOSITORY = Path(__file__).resolve().parents[3]
FILES = drill_files(REPOSITORY / "deploy" / "drills")


@pytest.mark.parametrize("name", FILES)
def test_chaos_toolkit_finds_an_exported_drill_valid(name: str) -> None:
    experiment = json.loads(json.dumps(chaostoolkit_experiment(load_drill(FILES[name]))))
    ensure_experiment_is_valid(experiment)


def test_chaos_toolkit_refuses_an_argument_that_our_functions_do_not_take(tmp_path: Path) -> None:
    experiment = chaostoolkit_experiment(load_drill(write_drill(tmp_path)))
    experiment["method"][1]["provider"]["arguments"]["nobody"] = 1
    with pytest.raises(InvalidActivity, match="nobody"):
        ensure_experiment_is_valid(experiment)


def test_tolerances_mean_the_same_to_chaos_toolkit(tmp_path: Path) -> None:
    drill = load_drill(write_drill(tmp_path))
    (probe,) = chaostoolkit_experiment(drill)["steady-state-hypothesis"]["probes"]
    tolerance = drill.hypothesis[0].tolerance
    assert tolerance is not None
    for value in (0.0, 99e9, 100e9, 400e9):
        assert within_tolerance(probe["tolerance"], value) is tolerance.accepts(value)


def test_action_without_a_twin_fails_the_activity(tmp_path: Path) -> None:
    experiment = chaostoolkit_experiment(load_drill(write_drill(tmp_path)))
    cut = next(each for each in experiment["method"] if each["name"] == "cut")
    with pytest.raises(ActivityFailed):
        run_python_activity(cut, {"fabrictwin_director": "127.0.0.1:1"}, {})
