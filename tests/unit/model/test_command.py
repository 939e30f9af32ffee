# SPDX-License-Identifier: Apache-2.0
"""What a command makes of a scenario, and which logs are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.action import ActionKind
from fabrictwin.model.command import SCHEMA, apply_command, parse_command, read_command_log
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.units import PS_PER_US

SCENARIO = parse_scenario("""
version: 1
name: commanded
duration: 1ms
fabric: {topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
workload:
  - {kind: stream, name: ends, src: h0, dst: h2, message: 4KiB, count: forever, stop: 30us}
  - {kind: stream, name: goes-on, src: h1, dst: h3, message: 4KiB, count: forever}
faults:
  - {kind: slow_receiver, name: slow, node: h2, rate: 50Gb/s, at: 50us, duration: 20us}
subnet_manager: {managers: [{node: h0, priority: 3}, {node: h3}]}
""")
SLOW = {"kind": "slow_receiver", "node": "h2", "rate": "10Gb/s", "duration": "10us"}


def _after(scenario: Scenario, at_us: int, do: str, **arguments: Any) -> Scenario:
    return apply_command(scenario, parse_command({"at_ns": at_us * 1000, "do": do} | arguments))


def _changes(scenario: Scenario) -> list[tuple[int, ActionKind, str, int]]:
    name = scenario.fabric.port_name
    return [(act.at_ps // PS_PER_US, act.kind, name(act.target), act.value) for act in scenario.actions]


def test_fault_that_is_cleared_in_time_never_begins() -> None:
    assert _changes(_after(SCENARIO, 40, "fault.clear", id="slow")) == []


def test_fault_that_is_cleared_late_ends_when_it_would_have() -> None:
    assert _changes(_after(SCENARIO, 90, "fault.clear", id="slow")) == _changes(SCENARIO)


@pytest.mark.parametrize(("at_us", "stops_us"), [(20, 20), (40, 30)])
def test_workload_that_is_stopped_posts_no_longer_than_it_would_have(at_us: int, stops_us: int) -> None:
    ends, goes_on = _after(SCENARIO, at_us, "workload.stop", name="ends").jobs
    assert {program.stop_ps for program in ends.programs} == {stops_us * PS_PER_US}
    assert {program.stop_ps for program in goes_on.programs} == {None}


@pytest.mark.parametrize(
    ("do", "kind"), [("sm.handover", ActionKind.SM_PRIORITY), ("sm.sweep", ActionKind.SM_SWEEP)]
)
def test_order_goes_to_the_subnet_manager_on_a_node(do: str, kind: ActionKind) -> None:
    assert _changes(_after(SCENARIO, 10, do, node="h3"))[0] == (10, kind, "h3/1", 15)


@pytest.mark.parametrize(
    ("do", "arguments", "told"),
    [
        ("fault.inject", {"id": "more", "fault": SLOW | {"at": "60us"}}, "overlaps with 'slow'"),
        ("fault.inject", {"id": "slow", "fault": SLOW}, "a second fault with the name 'slow'"),
        (
            "workload.start",
            {"workload": {"kind": "stream", "src": "h0", "dst": "h1", "message": "1B", "start": "9us"}},
            "can start at 0.010000 ms at the earliest",
        ),
        ("sm.handover", {"node": "h1"}, "unknown host of a subnet manager 'h1'.*h0, h3"),
        ("sm.sweep", {}, "unknown HCA 'None'"),
    ],
)
def test_command_that_does_not_fit_is_refused(do: str, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        _after(SCENARIO, 10, do, **arguments)


def _log(folder: Path, *records: Any, **header: Any) -> Path:
    path = folder / "commands"
    first = {"schema": SCHEMA, "scenario_sha256": SCENARIO.sha256} | header
    path.write_text("".join(json.dumps(record) + "\n" for record in (first, *records)))
    return path


def test_log_is_read_in_order_with_its_lines(tmp_path: Path) -> None:
    sweep = {"at_ns": 7, "do": "sm.sweep", "node": "h0", "by": "ann", "seq": 1}
    first, second = read_command_log(_log(tmp_path, sweep, sweep), SCENARIO)
    assert (first.at_ps, first.do, first.arguments, first.by) == (7_000, "sm.sweep", {"node": "h0"}, "ann")
    assert (first.line, second.line) == (2, 3)


@pytest.mark.parametrize(
    ("records", "header", "told"),
    [
        ([], {"schema": "fabrictwin.result/1"}, ":1: expected a command log"),
        ([], {"scenario_sha256": "0" * 64}, ":1: scenario_sha256: this log belongs to another scenario"),
        (["text"], {}, ":2: expected a JSON object"),
        (
            [{"do": "sm.sweep", "at_ns": 2}, {"do": "sm.sweep", "at_ns": 1}],
            {},
            ":3: at_ns: expected commands",
        ),
        ([{"do": "sm.sweep", "at_ns": -1}], {}, ":2: at_ns: expected a fabric time"),
        ([{"do": "sm.sweep", "at_ns": True}], {}, ":2: at_ns: expected a fabric time"),
    ],
)
def test_log_with_an_error_says_where(
    tmp_path: Path, records: list[Any], header: dict[str, str], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        read_command_log(_log(tmp_path, *records, **header), SCENARIO)
