# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.cli.console import print_problems, print_warnings, printable
from fabrictwin.errors import Problem


def test_printable_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31mb\r\n") == r"a\x1b[31mb\r\n"


def test_printable_text_of_any_language_stays() -> None:
    assert printable("Straße → 網") == "Straße → 網"


def test_problems_several_go_to_standard_error_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    problems = [Problem("expected a time", "a.yaml", 3, "duration"), Problem("x" * 300, "b.yaml")]
    print_problems(problems)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "error: a.yaml:3: duration: expected a time",
        f"error: b.yaml: {'x' * 300}",
        "2 errors",
    ]


def test_problem_alone_has_no_count(capsys: pytest.CaptureFixture[str]) -> None:
    print_problems([Problem("[bold]not markup[/bold]")])
    assert capsys.readouterr().err == "error: [bold]not markup[/bold]\n"


def test_warnings_beyond_twenty_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    print_warnings([Problem(f"odd {number}", "f", number + 1) for number in range(23)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "warning: f:1: odd 0"
    assert len(lines) == 21
    assert lines[-1] == "and 3 more warnings"
