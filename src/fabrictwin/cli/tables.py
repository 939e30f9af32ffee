# SPDX-License-Identifier: Apache-2.0
"""Plain tables, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabrictwin.cli.console import printable

_GAP = 2
"""Columns between two cells."""


def plain_table(title: str, texts: Sequence[str], numbers: Sequence[str] = ()) -> Table:
    """An empty table without lines.

    Args:
        title: What stands above it; may be empty.
        texts: Columns that are aligned to the left.
        numbers: Columns behind them that are aligned to the right.
    """
    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, header_style="dim")
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def print_rows(
    console: Console, texts: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Prints a table; one that is wider than the console in parts, each with the columns on the left.

    Args:
        console: Where to print.
        texts: Columns that are aligned to the left.
        numbers: Columns behind them that are aligned to the right.
        rows: The cells.
    """
    names, left = [*texts, *numbers], len(texts)
    widths = [_GAP + max(map(len, (name, *(row[at] for row in rows)))) for at, name in enumerate(names)]
    parts: list[list[int]] = [[]]
    for at in range(left, len(names)):
        if parts[-1] and sum(widths[:left]) + sum(widths[one] for one in [*parts[-1], at]) > console.width:
            parts.append([])
        parts[-1].append(at)
    for part in parts:
        table = plain_table("", texts, [names[at] for at in part])
        for row in rows:
            table.add_row(*(Text(row[at]) for at in [*range(left), *part]))
        console.print(table)


def fact_table(facts: Iterable[tuple[str, str]]) -> Table:
    """A line for each (label, text), without a head."""
    table = Table(box=None, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in facts:
        table.add_row(label, Text(printable(text)))
    return table
