# SPDX-License-Identifier: Apache-2.0
"""The installed command runs drills on twins of its own, and leaves nothing behind however it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from integration.machine import Machine, machine


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Machine]:
    with machine() as place:
        place.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
        yield place
        assert place.leftovers() == []


def _run(place: Machine, code: int, *arguments: str | Path) -> dict[str, Any]:
    run = place.run("drill", "run", *arguments, "--json", "-")
    assert run.returncode == code, (run.stdout, run.stderr)
    journal: dict[str, Any] = json.loads(run.stdout)
    return journal


def test_drill_passes_and_its_report_says_what_happened(place: Machine, tmp_path: Path) -> None:
    page, junit = tmp_path / "r.html", tmp_path / "r.xml"
    journal = _run(place, 0, "link-flap", "--html", page, "--junit", junit)
    assert journal["verdict"] == "PASS"
    assert journal["fault"]["confirmed"]
    assert journal["detection"]["fabric_ttd_ns"] == 50_000
    assert journal["mitigation"]["ttm_ns"] > journal["detection"]["fabric_ttd_ns"]
    assert {each["counter"] for each in journal["counters"]} >= {"link_downed_counter", "port_xmit_discards"}
    assert all(set(sample["values"]) == {"goodput", "ports-down", "lost"} for sample in journal["samples"])
    assert "An uplink flaps" in page.read_text()
    assert Xml.parse(junit).getroot()[0].get("failures") == "0"
    assert journal["run"]["id"] in place.do("drill", "report", "last")


def test_drill_without_its_fault_fails(place: Machine) -> None:
    journal = _run(place, 1, "link-flap", "--negative", "not-injected")
    assert journal["verdict"] == "FAIL_DETECT"
    assert journal["reasons"]
