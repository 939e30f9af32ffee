# SPDX-License-Identifier: Apache-2.0
"""Where the command line writes: results to standard output, everything else to standard error.

Colour and other control characters appear only on a terminal; a pipe gets plain, wide text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from fabrictwin.errors import FabricTwinError, Problem

PIPE_WIDTH = 140
"""Columns of a table in a pipe, where there is no terminal to ask."""

WARNINGS_SHOWN = 20


EXIT_PIPE = 141
"""What a shell reports of a program that nobody listens to any more."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Ends without a word: whoever read the output has seen enough."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(EXIT_PIPE)


def output() -> Console:
    """Console on standard output, for results."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def diagnostics() -> Console:
    """Console on standard error, for progress, warnings and errors."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


def printable(text: str) -> str:
    """The text with control characters escaped, so that a hostile file cannot steer the terminal."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def counted(number: int, what: str) -> str:
    """``1 flow``, ``2 flows``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def print_problems(problems: Iterable[Problem]) -> None:
    """Writes every problem on its own line to standard error, and their number when there are several."""
    console = diagnostics()
    shown = list(problems)
    for problem in shown:
        line = Text.assemble(("error: ", "bold red"), printable(str(problem)))
        console.print(line, soft_wrap=True)
    if len(shown) > 1:
        console.print(Text(f"{len(shown)} errors", style="bold"))


def print_warnings(warnings: Sequence[Problem]) -> None:
    """Writes what was odd in an input, and how it was taken, to standard error."""
    console = diagnostics()
    for warning in warnings[:WARNINGS_SHOWN]:
        line = Text.assemble(("warning: ", "yellow"), printable(str(warning)))
        console.print(line, soft_wrap=True)
    if len(warnings) > WARNINGS_SHOWN:
        console.print(f"and {len(warnings) - WARNINGS_SHOWN:,} more warnings")


def print_failure(error: Exception) -> None:
    """Writes the last line about an exception that is not the input's fault."""
    what = str(error) if isinstance(error, FabricTwinError) else f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.strerror:
        what = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    text = Text.assemble(("fabrictwin failed: ", "bold red"), printable(what))
    diagnostics().print(text, soft_wrap=True)
