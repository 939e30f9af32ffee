# SPDX-License-Identifier: Apache-2.0
"""The page of metrics agrees with their catalogue."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from fabrictwin.telemetry.catalogue import CATALOGUE

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "metrics.md"


def _writer() -> ModuleType:
    file = REPOSITORY / "docs" / "make_metrics_page.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_metrics_page_is_what_the_catalogue_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert _writer().fill(page) == page, "run: python docs/make_metrics_page.py"


def test_metrics_page_has_every_metric_once() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [metric.name for metric in CATALOGUE if page.count(f"| `{metric.name}` |") != 1] == []
