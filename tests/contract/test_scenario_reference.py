# SPDX-License-Identifier: Apache-2.0
"""The scenario format agrees with its reference page and with the names of the routing engines."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from fabrictwin.model.fault import FAULTS
from fabrictwin.model.routing_names import DEFAULT_ENGINE, ROUTING_OPTIONS
from fabrictwin.model.workload import WORKLOADS
from fabrictwin.subnet.routing import ROUTING_ENGINES

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "scenario.md"


def _writer() -> ModuleType:
    file = REPOSITORY / "docs" / "make_scenario_reference.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_scenario_reference_is_what_the_code_reads() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert _writer().fill(page) == page, "run: python docs/make_scenario_reference.py"


def test_scenario_reference_has_every_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in _writer().TABLES if f"<!-- table: {name} -->" not in page] == []
    assert [kind for kind in (*WORKLOADS, *FAULTS) if f"\n`{kind}` — " not in page] == []


def test_scenario_routing_names_are_those_of_the_engines() -> None:
    assert set(ROUTING_OPTIONS) == set(ROUTING_ENGINES)
    assert DEFAULT_ENGINE in ROUTING_ENGINES
