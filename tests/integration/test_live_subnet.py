# SPDX-License-Identifier: Apache-2.0
"""Subnet managers as processes: they elect, fail over, hand over and heal as in one process (V100-V104)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import grpc
import pytest

from fabrictwin.api.v1 import common_pb2, subnet_manager_pb2
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerStub
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US
from integration.live_twin import LiveTwin, live_twin
from integration.patience import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("fabrictwin")
TREE = "{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}"
PRIORITIES = {"h0": 5, "h2": 5, "h3": 1}
ELECTION = f"""
version: 1
name: election
duration: 3s
fabric: {{technology: infiniband, topology: {TREE}}}
subnet_manager: {{managers: {[{"node": host, "priority": rank} for host, rank in PRIORITIES.items()]}}}
faults: {[{"kind": "sm_down", "node": host, "at": "1s", "duration": "1s"} for host in PRIORITIES]}
"""
DEATH_MS, BIRTH_MS, SILENCE_MS, BREAK_MS, LAST_MS = 13_700, 83_700, 92_000, 115_000, 116_000
GAP_PS, TRAP_PS, SMP_PS = 5 * PS_PER_US, 100 * PS_PER_US, 20 * PS_PER_US
TICK_PS = 10 * PS_PER_S
REQUEST_PS = 800 * PS_PER_MS
"""A request that is sent four times is given up after 200 ms each."""
# Beside a message a second a burst, so that the outage of the cable can be told to 5 us.
DEFAULTS = f"""
version: 1
name: managers
duration: {LAST_MS}ms
fabric: {{technology: infiniband, topology: {TREE}, hca_model: {{base: connectx7, ack_timeout: 4s}}}}
routing: {{engine: ftree}}
subnet_manager: {{managers: [{{node: h0, priority: 5}}, {{node: h3, priority: 1}}]}}
workload:
  - {{kind: stream, name: calm, src: h1, dst: h2, message: 4KiB, rate: 0.032768Mb/s, count: 90}}
  - kind: stream
    name: burst
    src: h3
    dst: h0
    message: 64B
    rate: 102.4Mb/s
    start: {BREAK_MS * 1000 - 200}us
    count: 500
faults:
  - {{kind: sm_down, node: h0, at: {DEATH_MS}ms, duration: {BIRTH_MS - DEATH_MS}ms}}
  - {{kind: sma_unresponsive, node: spine1, at: {SILENCE_MS}ms, duration: 13s}}
  - {{kind: link_down, link: [leaf1/3, spine0/2], at: {BREAK_MS}ms}}
deployment: {{switch_shards: 2, hca_shards: 2}}
"""
FAST = f"""
version: 1
name: orders
duration: 10s
fabric: {{technology: infiniband, topology: {TREE}, hca_model: {{base: connectx7, ack_timeout: 50us}}}}
routing: {{engine: ftree}}
subnet_manager:
  managers: [{{node: h0, priority: 5}}, {{node: h3, priority: 1}}]
  trap_latency: 5us
  smp_rtt: 1us
  max_wire_smps: 64
workload: [{{kind: stream, src: h1, dst: h2, message: 4KiB, rate: 10Gb/s, count: forever}}]
deployment: {{switch_shards: 2, hca_shards: 2}}
"""
HEALING = ["link_down", "trap_sent", "trap", "sweep", "swept", "routed", "lft_write", "subnet_up"]


def _sm_info(twin: LiveTwin, process: str) -> subnet_manager_pb2.GetSmInfoResponse:
    with grpc.insecure_channel(twin.state["services"][process]["address"]) as channel:
        request = subnet_manager_pb2.GetSmInfoRequest()
        return SubnetManagerStub(channel).GetSmInfo(request, timeout=PATIENCE_S)


def _times(result: dict[str, Any], kind: str, containing: str = "") -> list[int]:
    """Fabric times of events of a kind, ps."""
    events = [each for each in result["events"] if each["kind"] == kind]
    return [round(each["fabric_ns"] * 1000) for each in events if containing in each.get("text", "")]


def _run_live(path: Path, managers: int) -> tuple[dict[str, Any], list[subnet_manager_pb2.GetSmInfoResponse]]:
    """The result of a live twin, which is that of a run in one process, and what its managers say then."""
    simulation = open_simulation(load_scenario(path))
    simulation.run()
    expected = simulation.result()
    with live_twin(path, "managers") as twin:
        answer = twin.wait()
        assert (answer.stopped, answer.error) == (expected["stopped"], "")
        result = twin.result()
        infos = [_sm_info(twin, f"sm{number}") for number in range(managers)]
        assert twin.shut_down() == 0
    assert result["events"] == expected["events"]
    assert result["digest"] == expected["digest"]
    return result, infos


def test_v100_lower_guid_of_the_two_highest_priorities_is_elected(tmp_path: Path) -> None:
    path = tmp_path / "election.yaml"
    path.write_text(ELECTION)
    _, infos = _run_live(path, len(PRIORITIES))
    assert infos[0].guid < infos[1].guid
    assert [(info.state, info.master, info.priority) for info in infos] == [
        ("master", 0, 5),
        ("standby", 0, 5),
        ("standby", 0, 1),
    ]


@pytest.fixture(scope="module")
def defaults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of two managers with the defaults of OpenSM, live."""
    path = tmp_path_factory.mktemp("managers") / "managers.yaml"
    path.write_text(DEFAULTS)
    result, infos = _run_live(path, 2)
    assert [(info.state, info.master) for info in infos] == [("master", 0), ("standby", 0)]
    assert all(info.act_count > 10 for info in infos)
    return result


def test_v101_standby_takes_over_50_to_60_s_after_the_death(defaults: dict[str, Any]) -> None:
    (takeover_ps,) = _times(defaults, "takeover", "SM on h3")
    assert 50 * PS_PER_S <= takeover_ps - DEATH_MS * PS_PER_MS <= 60 * PS_PER_S
    (calm,) = (flow for flow in defaults["flows"] if flow["name"] == "calm")
    assert (calm["messages"], calm["failed_messages"]) == (90, 0)


def test_v102_higher_priority_that_joins_is_handed_over_to_within_one_sweep(defaults: dict[str, Any]) -> None:
    (handover_ps,) = _times(defaults, "handover", "HANDOVER sent to h0")
    ready_ps = _times(defaults, "trap", "SM on h3: trap 144 from h0")[-1]
    sweeps_ps = _times(defaults, "sweep", "SM on h3: heavy sweep (trap 144)")
    assert [at_ps for at_ps in sweeps_ps if ready_ps <= at_ps < handover_ps] == [ready_ps]
    assert 0 < handover_ps - BIRTH_MS * PS_PER_MS < TICK_PS
    assert [at_ps for at_ps in _times(defaults, "lft_write") if at_ps < SILENCE_MS * PS_PER_MS] == []


def test_v103_broken_cable_is_routed_around_after_trap_sweep_and_writes(defaults: dict[str, Any]) -> None:
    down_ps = BREAK_MS * PS_PER_MS

    def since(kind: str) -> list[int]:
        return [at_ps - down_ps for at_ps in _times(defaults, kind) if at_ps >= down_ps]

    writes_ps = since("lft_write")
    swept_ps = TRAP_PS + _sweep_ps(_texts(defaults, "sweep")[-1])
    bound_ps = swept_ps + ceil(len(writes_ps) / 4) * SMP_PS
    assert since("sweep") == [TRAP_PS]
    assert since("swept") == [swept_ps]
    assert max(writes_ps) == bound_ps
    outage_ps = min(since("first_packet"))
    assert min(writes_ps) <= outage_ps <= bound_ps + GAP_PS + PS_PER_US


def test_v104_silent_node_costs_its_timeouts_four_at_a_time(defaults: dict[str, Any]) -> None:
    (noticed_ps,) = _times(defaults, "light_sweep", "spine1 does not answer")
    assert noticed_ps == 10 * TICK_PS + REQUEST_PS
    (given_up_ps,) = _times(defaults, "smp_timeout", "no answer to 2 requests from spine1")
    (text,) = (each for each in _texts(defaults, "sweep") if "3 switches of 7 nodes" in each)
    assert given_up_ps - noticed_ps == REQUEST_PS + _sweep_ps(text)


def _sweep_ps(text: str) -> int:
    """How long a sweep that all answer takes: four MADs at a time, then the SMInfo of the other manager."""
    (mads,) = re.findall(r"(\d+) MADs", text)
    return (ceil(int(mads) / 4) + 1) * SMP_PS


def _texts(result: dict[str, Any], kind: str) -> list[str]:
    return [each["text"] for each in result["events"] if each["kind"] == kind]


def _step(twin: LiveTwin, by_us: int) -> int:
    return twin.step(by_us * PS_PER_US)


def _events(twin: LiveTwin) -> list[common_pb2.Event]:
    """Everything in the event log."""
    last = twin.status().last_event
    call = twin.director.WatchEvents(pb.WatchEventsRequest(**{"from": 1}), timeout=PATIENCE_S)
    events = []
    for event in call:
        events.append(event)
        if event.sequence == last:
            break
    call.cancel()
    return events


def test_orders_and_a_broken_cable_are_followed_step_by_step(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    path.write_text(FAST)
    with live_twin(path, "orders") as twin:
        director = twin.director
        twin.pause()
        director.HandOverSubnet(pb.HandOverSubnetRequest(to=1, by="ann"), timeout=PATIENCE_S)
        _step(twin, 200)
        assert [_sm_info(twin, name).state for name in ("sm0", "sm1")] == ["standby", "master"]
        assert [_sm_info(twin, name).master for name in ("sm0", "sm1")] == [1, 1]
        swept_from_ps = _step(twin, 1)
        director.SweepSubnet(pb.SweepSubnetRequest(by="bob"), timeout=PATIENCE_S)
        broken_from_ps = _step(twin, 100)
        sweeps = [each for each in _events(twin) if each.kind == "sweep" and each.at_ps > swept_from_ps]
        assert [each.text.partition(":")[0] for each in sweeps] == ["SM on h3"]
        fault = "{kind: link_down, name: pulled, link: [leaf0/3, spine0/1], duration: 1ms}"
        director.InjectFault(pb.InjectFaultRequest(fault=fault, owner="eve"), timeout=PATIENCE_S)
        _step(twin, 200)
        log = [each for each in _events(twin) if each.at_ps >= broken_from_ps and each.kind in HEALING]
        firsts = [next(each.at_ps for each in log if each.kind == kind) for kind in HEALING]
        assert all(earlier <= later for earlier, later in pairwise(firsts)), list(
            zip(HEALING, firsts, strict=True)
        )
        director.ClearFault(pb.ClearFaultRequest(id="pulled", by="eve"), timeout=PATIENCE_S)
        end_ps = _step(twin, 200)
        result = twin.result()
        commands = tmp_path / "commands.jsonl"
        commands.write_bytes(twin.command_log())
        assert twin.shut_down() == 0
    assert result["flows"][0]["failed_messages"] == 0
    replay = [PROGRAM, "simulate", path, "--commands", commands, "--until", f"{end_ps}ps", "--json", "-"]
    shown = subprocess.run(replay, capture_output=True, check=True).stdout
    replayed = json.loads(shown)
    assert replayed["digest"] == result["digest"]
    assert replayed["events"] == result["events"]
