# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib.metadata import version

import pytest

from fabrictwin.cli import main
from fabrictwin.cli.main import Verb, run
from fabrictwin.errors import InputError, Problem


def _verb_that_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("fabrictwin.cli.console.fail", fail, raising=False)
    monkeypatch.setitem(main.VERBS, "fail", Verb("console", "fail", "Fails."))


def test_run_verb_with_wrong_input_prints_every_problem_and_returns_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _verb_that_raises(monkeypatch, InputError([Problem("first"), Problem("second")]))
    assert run(["fail"]) == 2
    assert capsys.readouterr().err == "error: first\nerror: second\n2 errors\n"


def test_run_verb_that_breaks_shows_the_traceback_and_returns_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _verb_that_raises(monkeypatch, ZeroDivisionError("by zero"))
    assert run(["fail"]) == 3
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert error.endswith("fabrictwin failed: ZeroDivisionError: by zero\n")


def test_run_unknown_verb_names_the_nearest_and_returns_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulte"]) == 2
    assert "did you mean 'simulate'?" in capsys.readouterr().err


def test_run_unknown_option_returns_2() -> None:
    assert run(["--frobnicate"]) == 2


def test_run_help_returns_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "simulate" in capsys.readouterr().out


def test_run_help_has_a_short_form_and_version_says_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-h"]) == 0
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"fabrictwin {version('fabrictwin')}"


def test_run_verb_that_the_system_refuses_says_what_in_one_line_and_returns_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _verb_that_raises(monkeypatch, OSError(28, "No space left on device", "r.json"))
    assert run(["fail"]) == 3
    assert capsys.readouterr().err == "fabrictwin failed: r.json: No space left on device\n"
