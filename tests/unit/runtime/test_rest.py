# SPDX-License-Identifier: Apache-2.0
"""Fabric time jumps only when nothing is under way, and never on answers that a command has outdated."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.runtime.convert import WindowData
from fabrictwin.runtime.records import BY_NAME
from fabrictwin.runtime.rest import FAR_PS, Rest, RestOfAll

LOOK_PS = 100 * FAR_PS
NEXT_PS = 10 * FAR_PS


class _Process:
    def __init__(self, next_ps: int) -> None:
        self.next_ps = next_ps


def _report(said: int, heard: int, next_ps: int = NEXT_PS, asked: int = 0) -> Any:
    report = np.zeros(1, BY_NAME["report"].dtype)
    report["said"], report["heard"], report["next_event_ps"], report["asked"] = said, heard, next_ps, asked
    return report[0]


def test_jump_needs_a_second_answer_that_is_the_same() -> None:
    rest = RestOfAll()
    assert rest.look({"a": _report(3, 1), "b": _report(1, 3)}, 0)
    assert rest.quiet_ps({"a": _report(3, 1, asked=1), "b": _report(1, 3)}, LOOK_PS) == 0
    answers = {"a": _report(3, 1, asked=1), "b": _report(1, 3, asked=1)}
    assert rest.quiet_ps(answers, LOOK_PS) == NEXT_PS
    assert rest.quiet_ps(answers, LOOK_PS) == 0


def test_record_under_way_lets_nobody_jump() -> None:
    rest = RestOfAll()
    assert not rest.look({"a": _report(4, 1), "b": _report(1, 3)}, 0)


def test_record_that_was_said_after_the_question_lets_nobody_jump() -> None:
    rest = RestOfAll()
    rest.look({"a": _report(3, 1), "b": _report(1, 3)}, 0)
    assert rest.quiet_ps({"a": _report(4, 1, asked=1), "b": _report(1, 4, asked=1)}, LOOK_PS) == 0


def test_answers_from_before_a_command_do_not_count() -> None:
    rest = RestOfAll()
    answers = {"a": _report(3, 1), "b": _report(1, 3)}
    rest.look(answers, 0)
    rest.forget()
    assert rest.quiet_ps({"a": _report(3, 1, asked=1), "b": _report(1, 3, asked=1)}, 2 * LOOK_PS) == 0
    assert rest.look(answers, 0)
    assert rest.question == 2


def test_jump_ends_where_a_command_may_come_and_goes_on_behind_it() -> None:
    rest = RestOfAll()
    reports = {"a": _report(0, 0)}
    rest.look(reports, 0)
    answers = {"a": _report(0, 0, asked=1)}
    assert rest.quiet_ps(answers, FAR_PS) == FAR_PS
    assert rest.quiet_ps(answers, LOOK_PS) == NEXT_PS


def test_process_says_once_that_it_rests() -> None:
    rest, process = Rest(), _Process(NEXT_PS)
    rest.count_said({"b": WindowData(0, 0, 0, {"fcp": np.zeros(2, BY_NAME["fcp"].dtype)})})
    assert not rest.has_come(0, process)
    assert rest.has_come(0, process)
    report = np.zeros(1, BY_NAME["report"].dtype)
    report["next_event_ps"] = NEXT_PS
    rest.note(report)
    assert (report["said"][0], report["heard"][0]) == (2, 0)
    assert not rest.has_come(0, process)


def test_process_whose_next_event_is_near_does_not_rest() -> None:
    assert not Rest().has_come(NEXT_PS - FAR_PS + 1, _Process(NEXT_PS))


def test_process_that_comes_back_has_counted_what_it_had() -> None:
    rest, again = Rest(), Rest()
    rest.said, rest.heard, rest.asked = 3, 2, 1
    again.load(rest.save())
    report = np.zeros(1, BY_NAME["report"].dtype)
    assert again.is_asked
    again.note(report)
    assert (report["said"][0], report["heard"][0], report["asked"][0]) == (3, 2, 1)
    assert not again.is_asked
