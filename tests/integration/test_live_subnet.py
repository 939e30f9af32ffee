# SPDX-License-Identifier: Apache-2.0
"""Subnet managers as processes: they elect, fail over, hand over and heal as in one process (V100-V104)."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest

from fabrictwin.api.v1 import common_pb2, subnet_manager_pb2
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerStub
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from integration.live_twin import LiveTwin, live_twin

WITHIN_S = 60.0
PROGRAM = Path(sys.executable).with_name("fabrictwin")
TREE = "{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}"
DEATH_S, POLL_S, RETRIES = 1.3, 1, 4
LONG = f"""
version: 1
name: managers
duration: 15s
fabric: {{technology: infiniband, topology: {TREE}}}
routing: {{engine: ftree}}
subnet_manager:
  managers: [{{node: h0, priority: 5}}, {{node: h3, priority: 1}}]
  sweep_interval: 1s
  sminfo_polling_timeout: {POLL_S}s
  polling_retry_number: {RETRIES}
workload: [{{kind: stream, src: h1, dst: h2, message: 4KiB, rate: 0.32768Mb/s, count: forever}}]
faults:
  - {{kind: sm_down, name: master-dies, node: h0, at: {DEATH_S}s, duration: 7s}}
  - {{kind: sma_unresponsive, node: spine1, at: 9200ms, duration: 1500ms}}
  - {{kind: sm_down, name: both-0, node: h0, at: 12s, duration: 1s}}
  - {{kind: sm_down, name: both-1, node: h3, at: 12s, duration: 1s}}
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

pytestmark = pytest.mark.xdist_group("live_clock")


def _sm_info(twin: LiveTwin, process: str) -> subnet_manager_pb2.GetSmInfoResponse:
    with grpc.insecure_channel(twin.state["services"][process]["address"]) as channel:
        request = subnet_manager_pb2.GetSmInfoRequest()
        return SubnetManagerStub(channel).GetSmInfo(request, timeout=WITHIN_S)


def _seconds(result: dict[str, Any], kind: str, text: str) -> list[float]:
    events = result["events"]
    return [
        each["fabric_ns"] / 1e9 for each in events if each["kind"] == kind and text in each.get("text", "")
    ]


def test_two_managers_elect_fail_over_and_hand_over_in_fabric_time(tmp_path: Path) -> None:
    path = tmp_path / "managers.yaml"
    path.write_text(LONG)
    simulation = open_simulation(load_scenario(path))
    simulation.run()
    expected = simulation.result()
    with live_twin(path, "managers") as twin:
        answer = twin.wait()
        assert (answer.stopped, answer.error) == ("duration", "")
        result = twin.result()
        infos = [_sm_info(twin, process) for process in ("sm0", "sm1")]
        assert twin.shut_down() == 0
    assert result["events"] == expected["events"]
    assert result["digest"] == expected["digest"]
    # V101: five to six polling timeouts after the death.
    (takeover_s,) = _seconds(result, "takeover", "SM on h3")
    assert RETRIES + 1 <= (takeover_s - DEATH_S) / POLL_S <= RETRIES + 2
    # V102: the one of higher priority comes back and is handed over to.
    (handover_s,) = _seconds(result, "handover", "HANDOVER sent to h0")
    assert DEATH_S + 7 < handover_s < DEATH_S + 8
    # V104: a node that does not answer costs its timeouts.
    assert _seconds(result, "smp_timeout", "spine1")
    # V100: both begin again, and the higher priority wins.
    assert [(info.state, info.master, info.priority) for info in infos] == [
        ("master", 0, 5),
        ("standby", 0, 1),
    ]
    assert all(info.act_count > 10 for info in infos)


def _step(twin: LiveTwin, by_us: int) -> int:
    twin.director.Step(pb.StepRequest(by_ps=by_us * PS_PER_US), timeout=WITHIN_S)
    return int(twin.wait().fabric_time_ps)


def _events(twin: LiveTwin) -> list[common_pb2.Event]:
    """Everything in the event log."""
    last = twin.status().last_event
    call = twin.director.WatchEvents(pb.WatchEventsRequest(**{"from": 1}), timeout=WITHIN_S)
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
        director.Pause(pb.PauseRequest(), timeout=WITHIN_S)
        director.HandOverSubnet(pb.HandOverSubnetRequest(to=1, by="ann"), timeout=WITHIN_S)
        _step(twin, 200)
        assert [_sm_info(twin, name).state for name in ("sm0", "sm1")] == ["standby", "master"]
        assert [_sm_info(twin, name).master for name in ("sm0", "sm1")] == [1, 1]
        swept_from_ps = _step(twin, 1)
        director.SweepSubnet(pb.SweepSubnetRequest(by="bob"), timeout=WITHIN_S)
        broken_from_ps = _step(twin, 100)
        sweeps = [each for each in _events(twin) if each.kind == "sweep" and each.at_ps > swept_from_ps]
        assert [each.text.partition(":")[0] for each in sweeps] == ["SM on h3"]
        fault = "{kind: link_down, name: pulled, link: [leaf0/3, spine0/1], duration: 1ms}"
        director.InjectFault(pb.InjectFaultRequest(fault=fault, owner="eve"), timeout=WITHIN_S)
        _step(twin, 200)
        log = [each for each in _events(twin) if each.at_ps >= broken_from_ps and each.kind in HEALING]
        firsts = [next(each.at_ps for each in log if each.kind == kind) for kind in HEALING]
        assert all(earlier <= later for earlier, later in pairwise(firsts)), list(
            zip(HEALING, firsts, strict=True)
        )
        director.ClearFault(pb.ClearFaultRequest(id="pulled", by="eve"), timeout=WITHIN_S)
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
