# SPDX-License-Identifier: Apache-2.0
"""The page of measurements lists every validation test."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from validation.conftest import PAGE


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """The script that writes the page."""
    file = PAGE.with_name("make_validation_page.py")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_lists_the_claims_of_all_tests_in_order(writer: ModuleType) -> None:
    expected = [
        f"| {writer.row_of(file)} | [{writer.claim_of(file)}](../tests/validation/{file.name}) |"
        for file in writer.test_files()
    ]
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "](../tests/" in line]
    assert [line[: line.index(") |") + 3] for line in lines] == expected
