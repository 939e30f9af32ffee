# SPDX-License-Identifier: Apache-2.0
"""Writes the table of ``validation.md`` from what the validation tests measure.

``python docs/make_validation_page.py`` runs all of them, the slow ones too, and replaces what stands between
``<!-- table -->`` and ``<!-- end -->``. It writes nothing where a test fails.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "validation.md"
TESTS = REPOSITORY / "tests" / "validation"
_BLOCK = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.DOTALL)
_HEADER = ("row", "claim and its test", "case", "expected", "measured")

Cells = tuple[str, str, str]
"""(case, expected, measured)."""


class Notes:
    """A pytest plugin that collects what tests note with the fixture ``measured``, by test file."""

    def __init__(self) -> None:
        self.by_file: dict[str, list[Cells]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the notes of a test that has passed."""
        if report.when == "call" and report.passed:
            for name, value in report.user_properties:
                if name == "measured":
                    stem, *cells = value  # type: ignore[misc]
                    self.by_file.setdefault(stem, []).append(tuple(cells))


def row_of(file: Path) -> str:
    """``V16a`` of ``test_v16a_….py``."""
    return file.stem.split("_")[1].replace("v", "V", 1)


def claim_of(file: Path) -> str:
    """The first line of a test file's docstring, without row and full stop."""
    documentation = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    claim = documentation.partition("\n")[0].removesuffix(".").removeprefix(f"{row_of(file)}: ")
    return claim[0].upper() + claim[1:]


def test_files() -> list[Path]:
    """The validation tests, in the order of their rows."""
    return sorted(TESTS.glob("test_v*.py"), key=lambda file: _row_order(row_of(file)))


def _row_order(row: str) -> tuple[int, str]:
    number = re.match(r"V(\d+)", row)
    return (int(number[1]) if number else 0, row)


def _lines(notes: dict[str, list[Cells]]) -> Iterator[tuple[str, ...]]:
    yield _HEADER
    yield ("---",) * len(_HEADER)
    for file in test_files():
        claim = f"[{claim_of(file)}](../{file.relative_to(REPOSITORY).as_posix()})"
        for cells in notes.get(file.stem, [("", "as the claim says", "passes")]):
            yield row_of(file), claim, *cells
            claim = ""


def fill(page: str, notes: dict[str, list[Cells]]) -> str:
    """The page with its table written anew."""
    table = "".join(f"| {' | '.join(line)} |\n" for line in _lines(notes))
    return _BLOCK.sub(lambda block: f"{block[1]}{table}{block[2]}", page)


def main() -> int:
    """Runs the tests and writes the page."""
    sys.path.insert(0, str(REPOSITORY / "tests"))
    from validation.conftest import PLUGIN

    notes = Notes()

    class Plugins:
        """Registers the collector under the name that the fixture looks for."""

        def pytest_configure(self, config: pytest.Config) -> None:
            config.pluginmanager.register(notes, PLUGIN)

    failed = pytest.main([*map(str, test_files()), *sys.argv[1:]], plugins=[Plugins()])
    if not failed:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), notes.by_file), encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
