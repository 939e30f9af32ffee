# SPDX-License-Identifier: Apache-2.0
"""The page of the bus agrees with the record layouts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from fabrictwin.runtime.records import LAYOUTS

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "bus.md"


def _writer() -> ModuleType:
    file = REPOSITORY / "docs" / "make_bus_page.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_bus_page_is_what_the_layouts_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert _writer().fill(page) == page, "run: python docs/make_bus_page.py"
    assert [layout.name for layout in LAYOUTS if f"\n`{layout.name}` (kind " not in page] == []
