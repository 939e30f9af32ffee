# SPDX-License-Identifier: Apache-2.0
"""Every verb explains itself, and the documents know every verb."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from fabrictwin.cli.main import VERBS, load_verb

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")


def _help(*verb: str) -> str:
    run = subprocess.run([PROGRAM, *verb, "--help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def _commands() -> Iterator[tuple[str, ...]]:
    """Every verb, and every sub-verb of those that have some."""
    for name in VERBS:
        target = load_verb(name)
        if isinstance(target, typer.Typer):
            yield from ((name, *below) for below in _below(target))
        else:
            yield (name,)


def _below(app: typer.Typer) -> Iterator[tuple[str, ...]]:
    yield from ((command.name or "",) for command in app.registered_commands)
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield (group.name or "",)
        yield from ((group.name or "", *below) for below in _below(group.typer_instance))


@pytest.mark.parametrize("command", list(_commands()), ids=" ".join)
def test_command_help_has_usage_and_an_example(command: tuple[str, ...]) -> None:
    text = _help(*command)
    name = " ".join(["fabrictwin", *command])
    assert f"Usage: {name} " in text
    assert f"Example: {name} " in text


@pytest.mark.parametrize("verb", VERBS)
def test_verb_stands_in_the_overview_with_its_one_line(verb: str) -> None:
    text = " ".join(_help().split())
    assert f"{verb} " in text
    assert " ".join(VERBS[verb].help.split()[:5]) in text


@pytest.mark.parametrize("verb", VERBS)
def test_verb_stands_in_the_readme(verb: str) -> None:
    assert f"`{verb}" in (REPOSITORY / "README.md").read_text()
