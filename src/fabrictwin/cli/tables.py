# SPDX-License-Identifier: Apache-2.0
"""Plain tables, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from fabrictwin.cli.console import printable


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


def fact_table(facts: Iterable[tuple[str, str]]) -> Table:
    """A line for each (label, text), without a head."""
    table = Table(box=None, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in facts:
        table.add_row(label, Text(printable(text)))
    return table
