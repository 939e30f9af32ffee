# SPDX-License-Identifier: Apache-2.0
"""Every verb explains itself, and the documents know every verb."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fabrictwin.cli.main import VERBS

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")


def _help(*verb: str) -> str:
    run = subprocess.run([PROGRAM, *verb, "--help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_verb_help_has_usage_and_an_example(verb: str) -> None:
    text = _help(verb)
    assert f"fabrictwin {verb}" in text
    assert "Example" in text


@pytest.mark.parametrize("verb", VERBS)
def test_verb_stands_in_the_overview_with_its_one_line(verb: str) -> None:
    text = " ".join(_help().split())
    assert f"{verb} " in text
    assert " ".join(VERBS[verb].help.split()[:5]) in text


@pytest.mark.parametrize("verb", VERBS)
def test_verb_stands_in_the_readme(verb: str) -> None:
    assert f"`{verb}" in (REPOSITORY / "README.md").read_text()
