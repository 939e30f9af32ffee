# SPDX-License-Identifier: Apache-2.0
"""The page of measurements lists every validation test."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

import pytest

from validation.conftest import PAGE


@pytest.fixture(scope="module")
def writer() -> SimpleNamespace:
    """The script that writes the page."""
    return SimpleNamespace(**runpy.run_path(str(PAGE.with_name("make_validation_page.py"))))


def test_page_lists_the_claims_of_all_tests_in_order(writer: SimpleNamespace) -> None:
    expected = [
        f"| {writer.row_of(file)} | [{writer.claim_of(file)}](../tests/validation/{file.name}) |"
        for file in writer.test_files()
    ]
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "](../tests/" in line]
    assert [line[: line.index(") |") + 3] for line in lines] == expected
