# SPDX-License-Identifier: Apache-2.0
"""Plain tables, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table


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
