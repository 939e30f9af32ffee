# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of ``bus.md`` from the record layouts.

Run it after a change of a layout: ``python docs/make_bus_page.py``. What stands between
``<!-- table: X -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import re
from pathlib import Path

from fabrictwin.runtime.records import LAYOUTS, Layout

PAGE = Path(__file__).with_name("bus.md")
_BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def _section(layout: Layout) -> str:
    size = f", {layout.dtype.itemsize} bytes a record" if layout.fields else ""
    title = f"`{layout.name}` (kind {int(layout.kind)}, version {layout.version}{size}): {layout.meaning}.\n"
    return title + (_table(layout) if layout.fields else "")


def _table(layout: Layout) -> str:
    places = layout.dtype.fields or {}
    head = "\n| at | field | type | unit | meaning |\n|---|---|---|---|---|\n"
    rows = (
        f"| {places[field.name][1]} | `{field.name}` | `{field.type}` | {field.unit} | {field.meaning} |\n"
        for field in layout.fields
    )
    return head + "".join(row.replace("`|", "`\\|") for row in rows)


def fill(page: str) -> str:
    """The page with its tables written anew."""
    text = "\n".join(_section(layout) for layout in LAYOUTS)
    return _BLOCK.sub(lambda block: f"{block[1]}{text}{block[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
