# SPDX-License-Identifier: Apache-2.0
"""The errors that a user can cause, and the one type that carries several of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

EXIT_NO, EXIT_INPUT, EXIT_FAILURE = 1, 2, 3
"""Exit codes of every program: the answer is no; the input or the usage is wrong; the system failed."""


class FabricTwinError(Exception):
    """Root of every exception that FabricTwin raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    Attributes:
        message: What is wrong, what was expected and, where one exists, the nearest valid name.
        file: The file it stands in; empty for input that came from no file.
        line: 1-based line, 0 where unknown.
        field: Dotted path of the field, e.g. ``workload[2].message``; empty where it is the whole file.
    """

    message: str
    file: str = ""
    line: int = 0
    field: str = ""

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        parts = [part for part in (place, self.field, self.message) if part]
        return ": ".join(parts)


class InputError(FabricTwinError):
    """A scenario, topology or argument is wrong; nothing was started. CLI exit code 2.

    Attributes:
        problems: Every problem found, in file order; never empty.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def of(cls, message: str, *, file: str = "", line: int = 0, field: str = "") -> InputError:
        """An error with a single problem."""
        return cls([Problem(message, file, line, field)])


def nearest(name: str, valid: Iterable[str]) -> str:
    """The hint that ends a message about an unknown name: ``; did you mean 'x'? (valid: a, b, x)``.

    Args:
        name: What the user wrote.
        valid: Every name that would have been accepted.

    Returns:
        ``; did you mean 'x'?`` where a name is near, and up to twelve valid names.
    """
    names = sorted(valid)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"{hint} (valid: {shown})"
