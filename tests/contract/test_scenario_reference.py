# SPDX-License-Identifier: Apache-2.0
"""The scenario format agrees with its reference page and with the names of the routing engines."""

from __future__ import annotations

import runpy
from pathlib import Path

from fabrictwin.model.fault import FAULTS
from fabrictwin.model.routing_names import DEFAULT_ENGINE, ROUTING_OPTIONS
from fabrictwin.model.workload import WORKLOADS
from fabrictwin.subnet.routing import ROUTING_ENGINES

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "scenario.md"
WRITER = runpy.run_path(str(REPOSITORY / "docs" / "make_scenario_reference.py"))


def test_scenario_reference_is_what_the_code_reads() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert WRITER["fill"](page) == page, "run: python docs/make_scenario_reference.py"


def test_scenario_reference_has_every_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in WRITER["TABLES"] if f"<!-- table: {name} -->" not in page] == []
    assert [kind for kind in (*WORKLOADS, *FAULTS) if f"\n`{kind}` — " not in page] == []


def test_scenario_routing_names_are_those_of_the_engines() -> None:
    assert set(ROUTING_OPTIONS) == set(ROUTING_ENGINES)
    assert DEFAULT_ENGINE in ROUTING_ENGINES
