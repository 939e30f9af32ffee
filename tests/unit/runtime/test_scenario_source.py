# SPDX-License-Identifier: Apache-2.0
"""A scenario travels with the files that it imports; nothing else is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.scenario_source import ScenarioSource, imported_name, read_source

SCENARIOS = Path(__file__).resolve().parents[3] / "deploy" / "scenarios"


def _importing(name: str) -> str:
    text = (SCENARIOS / "demo.yaml").read_text()
    return text.replace("hdr_fat_tree.ibnetdiscover", name)


def test_source_parses_to_what_the_file_does() -> None:
    source = read_source(SCENARIOS / "demo.yaml")
    assert source.parse().sha256 == load_scenario(SCENARIOS / "demo.yaml").sha256
    assert list(source.imported) == ["hdr_fat_tree.ibnetdiscover"]


def test_source_travels_without_the_folder() -> None:
    read = read_source(SCENARIOS / "demo.yaml")
    moved = ScenarioSource(read.text, "elsewhere.yaml", dict(read.imported))
    assert len(moved.parse().fabric.hcas) == 160


def test_imported_file_that_was_not_sent_is_named() -> None:
    with pytest.raises(InputError, match=r"^elsewhere\.yaml: fabric\.topology\.file: .* 'x' was not sent"):
        ScenarioSource(_importing("x"), "elsewhere.yaml").parse()


@pytest.mark.parametrize("name", ["/etc/hostname", "../../../../../../etc/hostname"])
def test_imported_file_outside_is_never_read(name: str) -> None:
    with pytest.raises(InputError, match="near the folder of the scenario"):
        ScenarioSource(_importing(name), "s.yaml", {name: b"x"}).parse()


@pytest.mark.parametrize("text", ["", "[]", "a: b", "fabric: 3", "fabric: {topology: {file: x}}"])
def test_scenario_without_import_names_no_file(text: str) -> None:
    assert imported_name(text, "s.yaml") == ""
