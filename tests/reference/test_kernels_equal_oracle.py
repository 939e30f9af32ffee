# SPDX-License-Identifier: Apache-2.0
"""The compiled engine does what the plain-Python oracle does: packet by packet, credit by credit, and in all
counters of ports and totals of flows, on random small fabrics with every feature of the model.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fabrictwin.model.qos import DROP_VL
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.units import PS_PER_NS
from reference.compare import compare
from reference.random_scenarios import scenario_texts

CASES = Path(__file__).parent / "cases"
_EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def _assert_equal(scenario: Scenario, text: str) -> None:
    difference = compare(scenario)
    assert not difference, f"{difference}\nscenario: {text}"


def with_datagrams(scenario: Scenario) -> Scenario:
    """The last job uses queue pair 0 and VL15, which no workload of a scenario does."""
    *others, last = scenario.jobs
    flows = tuple(replace(flow, management=True) for flow in last.flows)
    # A datagram counts as sent when it is queued: without a latency a rank would post without end.
    hcas = {
        name: replace(model, tx_latency_ps=model.tx_latency_ps + 100 * PS_PER_NS)
        for name, model in scenario.hca_models.items()
    }
    return replace(scenario, jobs=(*others, replace(last, flows=flows)), hca_models=hcas)


def with_dropped_level(scenario: Scenario) -> Scenario:
    """SL 0 is dropped, and the last job uses it, which a scenario would be refused for."""
    *others, last = scenario.jobs
    flows = tuple(replace(flow, sl=0) for flow in last.flows)
    qos = replace(scenario.qos, sl2vl=(DROP_VL, *scenario.qos.sl2vl[1:]))
    return replace(scenario, jobs=(*others, replace(last, flows=flows)), qos=qos)


@pytest.mark.parametrize("case", sorted(CASES.glob("*.yaml")), ids=lambda case: case.stem)
def test_engine_on_a_case_that_once_went_wrong_equals_the_oracle(case: Path) -> None:
    text = case.read_text()
    _assert_equal(parse_scenario(text), text)


@settings(_EXAMPLES, max_examples=100)
@given(scenario_texts())
def test_engine_on_random_fabrics_equals_the_oracle(text: str) -> None:
    _assert_equal(parse_scenario(text), text)


@settings(_EXAMPLES, max_examples=30)
@given(scenario_texts())
def test_engine_with_datagrams_on_vl15_equals_the_oracle(text: str) -> None:
    _assert_equal(with_datagrams(parse_scenario(text)), text)


@settings(_EXAMPLES, max_examples=30)
@given(scenario_texts())
def test_engine_with_a_dropped_service_level_equals_the_oracle(text: str) -> None:
    _assert_equal(with_dropped_level(parse_scenario(text)), text)
