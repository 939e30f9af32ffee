# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from fabrictwin.cli.tables import print_rows

TEXTS, NUMBERS = ("key",), ("first", "second", "third")
ROWS = [("alpha 1/8", "1,000", "2,000", "3,000"), ("alpha 1", "10", "20", "30")]


def _printed(width: int) -> str:
    file = StringIO()
    print_rows(Console(file=file, width=width), TEXTS, NUMBERS, ROWS)
    return file.getvalue()


def test_rows_that_fit_are_one_table() -> None:
    assert _printed(80).count("alpha 1/8") == 1


@pytest.mark.parametrize("width", [20, 26, 32])
def test_rows_that_do_not_fit_come_in_parts_that_keep_every_cell(width: int) -> None:
    text = _printed(width)
    assert text.count("alpha 1/8") == text.count("key") > 1
    for cell in (*NUMBERS, *(cell for row in ROWS for cell in row)):
        assert cell in text
    assert all(len(line) <= width for line in text.splitlines())
