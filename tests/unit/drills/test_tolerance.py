# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.drills.tolerance import Tolerance, Unit, read_tolerance
from fabrictwin.model.section import Section
from fabrictwin.model.yaml_loader import read_document


def _read(text: str, unit: Unit) -> tuple[Tolerance | None, list[str]]:
    section = Section(read_document(text, "t"))
    return read_tolerance(section, unit), [problem.message for problem in section.problems]


@pytest.mark.parametrize(
    ("text", "unit", "inside", "outside"),
    [
        ("3", Unit.COUNT, [3], [2, 4, None, "3"]),
        ("{type: range, range: [1, 4]}", Unit.COUNT, [1, 4], [0.9, 5, None, "2"]),
        ("{type: range, range: [null, 10us]}", Unit.TIME, [10_000_000], [10_000_001]),
        ("{type: range, range: [100Gb/s, null]}", Unit.RATE, [1e11, 4e11], [9e10]),
        ("{type: range, range: [0.5, 1]}", Unit.SHARE, [0.5], [0.49]),
        ("deadlock", Unit.TEXT, ["deadlock"], ["no", None]),
        ("{type: regex, pattern: ^dead}", Unit.TEXT, ["deadlock"], ["undead"]),
    ],
)
def test_tolerance_accepts_what_is_inside_only(
    text: str, unit: Unit, inside: list[float | str], outside: list[float | str | None]
) -> None:
    tolerance, problems = _read(text, unit)
    assert problems == []
    assert tolerance is not None
    assert [value for value in inside if not tolerance.accepts(value)] == []
    assert [value for value in outside if tolerance.accepts(value)] == []


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("true", Unit.COUNT, "expected a number, got true"),
        ("many", Unit.COUNT, "expected a number, got 'many'"),
        ("3", Unit.TEXT, "expected a text, got 3"),
        ("10", Unit.TIME, "expected a time such as '10us', got 10"),
        ("{type: range, range: [4, 1]}", Unit.COUNT, "the least value is above the largest"),
        ("{type: range, range: [a, b]}", Unit.TEXT, "this probe gives no number"),
        ("{type: regex, pattern: x}", Unit.COUNT, "this probe gives no text"),
        ("{type: regex, pattern: '('}", Unit.TEXT, "not a regular expression"),
        ("{type: rang, range: [1, 2]}", Unit.COUNT, "did you mean 'range'?"),
        ("{type: range, range: [1]}", Unit.COUNT, "expected at least 2 entries"),
    ],
)
def test_tolerance_of_the_wrong_type_is_refused(text: str, unit: Unit, message: str) -> None:
    tolerance, problems = _read(text, unit)
    assert tolerance is None
    assert len(problems) == 1
    assert message in problems[0]
