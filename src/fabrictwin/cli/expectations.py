# SPDX-License-Identifier: Apache-2.0
"""Saying that a result is not what its scenario expects."""

from __future__ import annotations

from collections.abc import Iterable

import typer
from rich.text import Text

from fabrictwin.cli.console import diagnostics, printable
from fabrictwin.errors import EXIT_NO


def judge(failures: Iterable[str]) -> None:
    """Ends with exit code 1 when a result is not what the scenario expects.

    Args:
        failures: What is not met, in words.
    """
    shown = [*failures]
    for failure in shown:
        line = Text.assemble(("expectation not met: ", "bold red"), printable(failure))
        diagnostics().print(line, soft_wrap=True)
    if shown:
        raise typer.Exit(EXIT_NO)
