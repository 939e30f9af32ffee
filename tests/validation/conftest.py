# SPDX-License-Identifier: Apache-2.0
"""What a validation test measured goes on a page: ``docs/validation.md``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
PLUGIN = "validation-page"
"""Name of the plugin of ``docs/make_validation_page.py``, which writes the page."""

Note = Callable[[str, str, str], None]


@pytest.fixture
def measured(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Note:
    """Notes (case, expected, measured) for the page; fails where the page says something else."""

    def note(case: str, expected: str, value: str) -> None:
        record_property("measured", (request.path.stem, case, expected, value))
        if not request.config.pluginmanager.has_plugin(PLUGIN):
            cells = f"| {case} | {expected} | {value} |"
            assert cells in PAGE.read_text(encoding="utf-8"), (
                f"docs/validation.md does not have {cells!r}; run: python docs/make_validation_page.py"
            )

    return note
