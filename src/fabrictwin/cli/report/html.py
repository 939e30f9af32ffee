# SPDX-License-Identifier: Apache-2.0
"""The parts that pages are made of: a document that needs no network, sections, charts, tables, tiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from fabrictwin.cli.report.style import CSS


def document(title: str, body: Iterable[str], script: str = "") -> str:
    """A complete HTML document; it holds its scripts and styles and fetches nothing.

    Args:
        title: Text for its title.
        body: HTML parts, empty ones of which are left out.
        script: What it does once it is there.
    """
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} · FabricTwin'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{CSS}</style><script>{get_plotlyjs()}</script></head>\n<body><main>\n"
        + "\n".join(part for part in body if part)
        + f"\n</main><script>{script}</script></body></html>\n"
    )


def header(title: str, lead: str, tiles: Mapping[str, str] | None = None) -> str:
    """The head of a page: its title, a line below it, and tiles of (label, value); all plain text."""
    shown = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(label)}</span></div>'
        for label, value in (tiles or {}).items()
    )
    return (
        f'<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>\n'
        f'<div class="tiles">{shown}</div>'
    )


def section(title: str, how_to_read: str, content: str, kind: str = "") -> str:
    """A part of a page with a heading; ``how_to_read`` and ``content`` are HTML."""
    return f'<section class="{kind}"><h2>{title}</h2><p>{how_to_read}</p>{content}</section>'


def chart(figure: go.Figure) -> str:
    """A chart, as a part of a page."""
    config = {"displayModeBar": False, "responsive": True}
    html: str = figure.to_html(full_html=False, include_plotlyjs=False, config=config)
    return html


def bullets(texts: Iterable[str]) -> str:
    """A list of plain texts."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def table(texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts.

    Args:
        texts: Columns that are aligned to the left.
        numbers: Columns behind them that are aligned to the right.
        rows: Cells of each row.
    """
    side = [""] * len(texts) + [' class="number"'] * len(numbers)
    head = "".join(
        f"<th{place}>{escape(name)}</th>" for place, name in zip(side, [*texts, *numbers], strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{place}>{escape(cell)}</td>" for place, cell in zip(side, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
