# SPDX-License-Identifier: Apache-2.0
"""The page of the bus agrees with the record layouts."""

from __future__ import annotations

import runpy
from pathlib import Path

from fabrictwin.runtime.records import LAYOUTS

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "bus.md"
WRITER = runpy.run_path(str(REPOSITORY / "docs" / "make_bus_page.py"))


def test_bus_page_is_what_the_layouts_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert WRITER["fill"](page) == page, "run: python docs/make_bus_page.py"
    assert [layout.name for layout in LAYOUTS if f"\n`{layout.name}` (kind " not in page] == []
