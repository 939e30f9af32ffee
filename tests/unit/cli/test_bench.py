# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.cli.bench import all_cases
from fabrictwin.cli.bench_case import Case, Measurement, Peer, run_case


def _case(values: list[float], *, goal: float, higher_is_better: bool) -> Case:
    peers = (Peer("other", 2.0, "measured"),)
    return Case("x", "unit", goal, higher_is_better, lambda: Measurement(values, {"extra": 1}), peers)


@pytest.mark.parametrize(
    ("goal", "higher_is_better", "met"),
    [(4.0, True, True), (6.0, True, False), (6.0, False, True), (4.0, False, False)],
)
def test_run_case_judges_the_median_against_the_goal(goal: float, higher_is_better: bool, met: bool) -> None:
    line = run_case(_case([1.0, 9.0, 5.0], goal=goal, higher_is_better=higher_is_better))
    assert (line["value"], line["met"]) == (5.0, met)


def test_run_case_line_holds_details_and_peers() -> None:
    line = run_case(_case([1.0], goal=1.0, higher_is_better=True))
    assert line["extra"] == 1
    assert line["peers"] == [{"name": "other", "value": 2.0, "source": "measured"}]


def test_cases_are_named_by_their_own_name_and_have_goals() -> None:
    cases = all_cases()
    assert {"permutation-128", "permutation-1024", "route-ftree-5488", "cached-start"} <= cases.keys()
    assert all(name == case.name and case.goal > 0 for name, case in cases.items())
