# SPDX-License-Identifier: Apache-2.0
"""What people do during a run changes it from that fabric time on, however the fabric is split."""

from __future__ import annotations

from typing import Any

import pytest

from fabrictwin.engine.partition import Partition, split_by_kind, split_evenly
from fabrictwin.errors import InputError
from fabrictwin.model.command import Command, parse_command
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation

TEXT = """
version: 1
name: commanded
seed: 3
duration: 120us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: {base: connectx7, ack_timeout: 20us}
  link: {rate: 400Gb/s, length: 10m}
routing: {engine: ftree}
subnet_manager: {trap_latency: 5us, smp_rtt: 200ns}
congestion_control: {algorithm: ib_cca}
workload:
  - {kind: permutation, name: shift, pattern: shift, shift: 2, message: 64KiB, count: forever}
"""
LOG: tuple[dict[str, Any], ...] = (
    {"at_ns": 10_000, "do": "workload.start", "name": "extra", "workload": {"kind": "stream", "src": "h0",
     "dst": "h3", "message": "32KiB", "count": 40}},
    {"at_ns": 20_000, "do": "fault.inject", "id": "cut", "fault": {"kind": "link_down",
     "link": ["leaf0/3", "spine0/1"], "duration": "1ms"}},
    {"at_ns": 25_500, "do": "fault.inject", "id": "slow", "fault": {"kind": "slow_receiver", "node": "h2",
     "rate": "50Gb/s", "duration": "20us"}},
    {"at_ns": 60_000, "do": "fault.clear", "id": "cut"},
    {"at_ns": 80_000, "do": "workload.stop", "name": "shift"},
)  # fmt: skip


def _commands() -> tuple[Command, ...]:
    return tuple(parse_command(fields) for fields in LOG)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return parse_scenario(TEXT)


def _run(scenario: Scenario, partition: Partition, commands: tuple[Command, ...]) -> dict[str, Any]:
    simulation = open_simulation(scenario, partition=partition, commands=commands)
    simulation.run()
    return simulation.result()


@pytest.fixture(scope="module")
def result(scenario: Scenario) -> dict[str, Any]:
    return _run(scenario, split_evenly(scenario.fabric, 1), _commands())


def test_workload_that_is_started_delivers_its_messages(result: dict[str, Any]) -> None:
    (extra,) = (flow for flow in result["flows"] if flow["name"].startswith("extra"))
    assert extra["messages"] == 40
    assert extra["first_ns"] >= 10_000


def test_workload_that_is_stopped_posts_nothing_more(result: dict[str, Any], scenario: Scenario) -> None:
    unstopped = _run(scenario, split_evenly(scenario.fabric, 1), _commands()[:-1])
    assert result["totals"]["bytes"] < unstopped["totals"]["bytes"]
    assert result["stopped"] == "idle"
    assert unstopped["stopped"] == "duration"


def test_fault_that_is_cleared_ends_then(result: dict[str, Any]) -> None:
    changes = [(event["fabric_ns"], event["kind"]) for event in result["events"] if event["kind"] in (
        "link_down", "link_up")]  # fmt: skip
    assert changes == [(20_000, "link_down")] * 2 + [(60_000, "link_up")] * 2


def test_subnet_manager_answers_a_fault_that_was_injected(result: dict[str, Any]) -> None:
    kinds = [event["kind"] for event in result["events"] if event["source"] == "subnet_manager"]
    assert "trap" in kinds
    assert "subnet_up" in kinds


def test_digest_does_not_depend_on_the_split(result: dict[str, Any], scenario: Scenario) -> None:
    for partition in (split_evenly(scenario.fabric, 3), split_by_kind(scenario.fabric, 2, 2)):
        again = _run(scenario, partition, _commands())
        assert again["digest"] == result["digest"]
        assert again["events"] == result["events"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"do": "fault.clear", "id": "cutt"}, "no fault 'cutt'"),
        ({"do": "workload.stop", "name": "shft"}, "did you mean 'shift'"),
        ({"do": "workload.start", "name": "shift", "workload": {"kind": "stream", "src": "h0", "dst": "h1",
          "message": "1KiB", "count": 1}}, "a second workload with the name 'shift'"),
        ({"do": "workload.start", "name": "x", "workload": {"kind": "stream", "src": "h0", "dst": "h9",
          "message": "1KiB", "count": 1}}, "h9"),
        ({"do": "fault.inject", "id": "f", "fault": {"kind": "link_down", "at": "1us",
          "link": ["leaf0/3", "spine0/1"]}}, "at the earliest"),
        ({"do": "workload.start", "name": "x", "workload": 7}, "expected a mapping"),
    ],
)  # fmt: skip
def test_command_that_does_not_fit_is_refused(scenario: Scenario, fields: dict[str, Any], told: str) -> None:
    command = parse_command({"at_ns": 5_000} | fields)
    with pytest.raises(InputError, match=told):
        _run(scenario, split_evenly(scenario.fabric, 1), (command,))


def test_command_that_is_unknown_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean 'fault.inject'"):
        parse_command({"at_ns": 1, "do": "fault.injekt"})


@pytest.mark.parametrize("cleared", [False, True])
def test_fault_of_a_subnet_manager_that_is_called_off_does_not_begin(
    scenario: Scenario, cleared: bool
) -> None:
    log: list[dict[str, Any]] = [
        {"at_ns": 5_000, "do": "fault.inject", "id": "dead",
         "fault": {"kind": "sm_down", "node": "h0", "at": "40us", "duration": "20us"}},
        {"at_ns": 30_000, "do": "fault.clear", "id": "dead"},
    ]  # fmt: skip
    commands = tuple(parse_command(fields) for fields in log[: 1 + cleared])
    for partition in (split_evenly(scenario.fabric, 1), split_by_kind(scenario.fabric, 1, 1)):
        events = _run(scenario, partition, commands)["events"]
        assert any(event["kind"] == "sm_state" for event in events) is not cleared


ROCE = """
version: 1
name: commanded-roce
seed: 3
duration: 100us
fabric:
  technology: roce
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: {base: spectrum4, shared_buffer: 2MB, ecn: {kmin: 20KB, kmax: 80KB, pmax: 0.3}}
  hca_model: {base: connectx7_roce, ack_timeout: 60us}
  link: {rate: 100Gb/s, length: 10m}
  mtu: 1024
congestion_control: {algorithm: ALGORITHM}
workload:
  - {kind: incast, senders: [h1, h2], receiver: h0, message: 64KiB, count: forever}
"""
ROCE_LOG: tuple[dict[str, Any], ...] = (
    {"at_ns": 10_000, "do": "workload.start", "name": "tcp", "workload": {"kind": "stream", "src": "h3",
     "dst": "h0", "message": "32KiB", "count": 8, "sl": 0, "transport": "tcp"}},
    {"at_ns": 20_000, "do": "workload.start", "name": "extra", "workload": {"kind": "stream", "src": "h0",
     "dst": "h3", "message": "64KiB", "count": 3}},
    {"at_ns": 50_000, "do": "fault.inject", "id": "dead", "fault": {"kind": "dead_host", "node": "h1",
     "flooding": True, "duration": "20us"}},
)  # fmt: skip


@pytest.mark.parametrize("algorithm", ["dcqcn", "timely", "hpcc"])
def test_workload_that_is_started_on_roce_delivers_the_same_however_split(algorithm: str) -> None:
    scenario = parse_scenario(ROCE.replace("ALGORITHM", algorithm))
    commands = tuple(parse_command(fields) for fields in ROCE_LOG)
    whole = _run(scenario, split_evenly(scenario.fabric, 1), commands)
    messages = {flow["name"]: flow["messages"] for flow in whole["flows"]}
    assert messages["tcp"] == 8
    assert messages["extra"] == 3
    assert _run(scenario, split_by_kind(scenario.fabric, 2, 2), commands)["digest"] == whole["digest"]
