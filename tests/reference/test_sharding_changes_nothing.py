# SPDX-License-Identifier: Apache-2.0
"""Random small fabrics, with faults and congestion control, give the same digest however they are split."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fabrictwin.engine.partition import Partition, split_by_kind, split_evenly
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation
from reference.random_scenarios import scenario_texts

CASES = Path(__file__).parent / "cases"


def _digest(scenario: Scenario, partition: Partition) -> tuple[str, str, float]:
    simulation = open_simulation(scenario, partition=partition)
    simulation.run()
    result = simulation.result()
    return result["digest"], result["stopped"], result["fabric_time_ns"]


def _assert_same_however_split(text: str) -> None:
    scenario = parse_scenario(text)
    whole = _digest(scenario, split_evenly(scenario.fabric, 1))
    assert _digest(scenario, split_evenly(scenario.fabric, 2)) == whole
    assert _digest(scenario, split_evenly(scenario.fabric, 5)) == whole
    assert _digest(scenario, split_by_kind(scenario.fabric, 1, 1)) == whole
    assert _digest(scenario, split_by_kind(scenario.fabric, 2, 2)) == whole


@pytest.mark.parametrize("case", sorted(CASES.glob("*.yaml")), ids=lambda case: case.stem)
def test_digest_of_a_case_that_once_went_wrong_is_the_same_however_it_is_split(case: Path) -> None:
    _assert_same_however_split(case.read_text())


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_texts())
def test_digest_of_random_fabrics_is_the_same_however_they_are_split(text: str) -> None:
    _assert_same_however_split(text)
