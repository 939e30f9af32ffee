# SPDX-License-Identifier: Apache-2.0
"""The page of metrics agrees with their catalogue."""

from __future__ import annotations

import runpy
from pathlib import Path

from fabrictwin.telemetry.catalogue import CATALOGUE

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "metrics.md"
WRITER = runpy.run_path(str(REPOSITORY / "docs" / "make_metrics_page.py"))


def test_metrics_page_is_what_the_catalogue_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert WRITER["fill"](page) == page, "run: python docs/make_metrics_page.py"


def test_metrics_page_has_every_metric_once() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [metric.name for metric in CATALOGUE if page.count(f"| `{metric.name}` |") != 1] == []
