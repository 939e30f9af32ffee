# SPDX-License-Identifier: Apache-2.0
"""Random small fabrics, with faults and congestion control, give the same digest however they are split."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from reference.random_scenarios import scenario_texts


def _digest(text: str, shards: int) -> tuple[str, str, float]:
    simulation = open_simulation(parse_scenario(text), shards=shards)
    simulation.run()
    result = simulation.result()
    return result["digest"], result["stopped"], result["fabric_time_ns"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_texts())
def test_digest_of_random_fabrics_is_the_same_for_every_number_of_shards(text: str) -> None:
    assert _digest(text, 2) == _digest(text, 5) == _digest(text, 1)
