# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.study.source import put
from unit.study.study_scenarios import ROCE, source_of


def test_put_changes_a_copy_and_makes_what_is_missing_on_the_way() -> None:
    value = {"a": {"b": 1}, "list": [{"c": 2}, {"c": 3}]}
    assert put(value, ("a", "d", "e"), 5) == {"a": {"b": 1, "d": {"e": 5}}, "list": value["list"]}
    assert put(value, ("list", 1, "c"), 4)["list"] == [{"c": 2}, {"c": 4}]
    assert value == {"a": {"b": 1}, "list": [{"c": 2}, {"c": 3}]}


def test_put_below_a_model_that_is_only_named_makes_it_the_base() -> None:
    fabric = put({"switch_model": "spectrum4"}, ("switch_model", "alpha"), "1/8")
    assert fabric == {"switch_model": {"base": "spectrum4", "alpha": "1/8"}}


@pytest.mark.parametrize("path", [("list", 2), ("a", 0)])
def test_put_into_an_entry_that_is_not_there_says_so(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError, match="no entry"):
        put({"list": [1, 2], "a": {}}, path, 0)


def test_source_problem_of_a_changed_value_has_the_line_of_what_it_stands_in() -> None:
    changed = source_of(ROCE).change({("fabric", "switch_model", "alfa"): 1})
    with pytest.raises(InputError) as error:
        changed.expand()
    (problem,) = error.value.problems
    assert (problem.line, problem.field) == (6, "fabric.switch_model.alfa")
    assert "alpha" in problem.message


def test_source_hash_is_of_the_values_and_not_of_how_they_are_written() -> None:
    source = source_of(ROCE)
    assert source_of(ROCE.replace("\nrouting", "\n# a comment\nrouting")).sha256 == source.sha256
    assert source.change({("seed",): 2}).sha256 != source.sha256
