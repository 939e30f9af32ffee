# SPDX-License-Identifier: Apache-2.0
"""One physics: a twin of services over Redis comes to the result of a run in one process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import grpc
import pytest

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1 import hca_endpoint_pb2, subnet_manager_pb2, switch_node_pb2
from fabrictwin.api.v1.common_pb2 import Event
from fabrictwin.api.v1.hca_endpoint_pb2_grpc import HcaEndpointStub
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerStub
from fabrictwin.api.v1.switch_node_pb2_grpc import SwitchNodeStub
from fabrictwin.model.command import read_command_log
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from integration.live_twin import LiveTwin, live_twin
from integration.patience import PATIENCE_S

SCENARIO = """
version: 1
name: small
duration: {duration}
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
  switch_model: quantum2
  hca_model: connectx7
routing: {{engine: ftree}}
congestion_control: {{algorithm: ib_cca}}
subnet_manager: {{trap_latency: 10us, smp_rtt: 2us}}
workload:
  - {{kind: incast, name: pull, senders: [h1, h2], receiver: h0, message: 64KiB, count: forever}}
{more}
"""
FLAP = "faults:\n  - {kind: link_down, link: [leaf1/3, spine0/2], at: 40us, duration: 60us}\n"
SPLIT = "deployment: {switch_shards: 2, hca_shards: 2}\n"


def _write(folder: Path, more: str, duration: str = "200us") -> Path:
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(more=more, duration=duration))
    return path


@pytest.mark.parametrize("split", ["", SPLIT], ids=["one-of-each", "two-of-each"])
def test_live_twin_comes_to_the_result_of_one_process(split: str, tmp_path: Path) -> None:
    path = _write(tmp_path, FLAP + split)
    simulation = open_simulation(load_scenario(path))
    simulation.run()
    expected = simulation.result()
    with live_twin(path, "same") as twin:
        answer = twin.wait()
        assert (answer.done, answer.stopped, answer.error) == (True, "duration", "")
        result = twin.result()
        assert result["digest"] == expected["digest"]
        assert result["events"] == expected["events"]
        assert {event["kind"] for event in result["events"]} >= {"trap", "lft_write"}
        assert twin.shut_down() == 0


def test_link_failure_to_restored_traffic_is_told_step_by_step(tmp_path: Path) -> None:
    path = _write(tmp_path, "faults:\n  - {kind: link_down, link: [leaf1/3, spine0/2], at: 40us}\n")
    path.write_text(path.read_text().replace("smp_rtt: 2us", "smp_rtt: 100ns"))
    steps = ["link_down", "trap", "swept", "lft_write", "first_packet"]
    with live_twin(path, "healed") as twin:
        twin.wait()
        told = [event for event in twin.result()["events"] if event["kind"] in steps]
        seen = _watch_to_the_end(twin)
        assert twin.shut_down() == 0
    assert list(dict.fromkeys(event["kind"] for event in told)) == steps
    first_ps = {kind: min(event.at_ps for event in seen if event.kind == kind) for kind in steps}
    assert sorted(first_ps.values()) == list(first_ps.values())
    assert len(set(first_ps.values())) == len(steps)
    first = next(event for event in seen if event.kind == "first_packet")
    assert (first.node, first.port, first.text) == ("leaf1", 4, "first packet on the new path to h0 (LID 1)")
    told_ns = next(event["fabric_ns"] for event in told if event["kind"] == "first_packet")
    assert (first.source, first.at_ps) == ("switch_node", round(told_ns * 1000))


def _watch_to_the_end(twin: LiveTwin) -> list[Event]:
    """Everything that the event log of a twin says up to its end."""
    request = pb.WatchEventsRequest(**{"from": 1})
    events = iter(twin.director.WatchEvents(request, timeout=PATIENCE_S))
    return list(takewhile(lambda event: event.kind != "stopped", events))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveTwin, Path]]:
    """A twin that will not end by itself, paused."""
    path = _write(tmp_path_factory.mktemp("endless"), SPLIT, duration="10s")
    with live_twin(path, "endless") as twin:
        twin.pause()
        yield twin, path


def test_paused_twin_stands_and_steps(endless: tuple[LiveTwin, Path]) -> None:
    twin, _ = endless
    at_ps = twin.pause()
    assert {service.reached_ps for service in twin.status().services} == {at_ps}
    assert twin.step(7 * PS_PER_US) == at_ps + 7 * PS_PER_US
    assert twin.status().state == pb.TWIN_STATE_PAUSED


def test_services_answer_about_their_parts(endless: tuple[LiveTwin, Path]) -> None:
    twin, _ = endless
    # However early it was paused, a message of each flow has arrived then.
    twin.step(100 * PS_PER_US)
    services = twin.state["services"]
    with grpc.insecure_channel(services["switch0"]["address"]) as channel:
        switches = SwitchNodeStub(channel)
        nodes = switches.ListNodes(switch_node_pb2.ListSwitchesRequest(), timeout=PATIENCE_S).switches
        assert [node.name for node in nodes] == ["leaf0", "leaf1"]
        ports = switches.GetPorts(switch_node_pb2.GetPortsRequest(), timeout=PATIENCE_S).ports
        assert {port.peer for port in ports if port.node == "leaf0"} >= {"h0/1", "h1/1", "spine0/1"}
        table = switches.GetForwardingTable(
            switch_node_pb2.GetForwardingTableRequest(node="leaf0"), timeout=PATIENCE_S
        ).ports
    with grpc.insecure_channel(services["hca0"]["address"]) as channel:
        endpoints = HcaEndpointStub(channel)
        asked = hca_endpoint_pb2.GetMessageStatisticsRequest()
        statistics = endpoints.GetMessageStatistics(asked, timeout=PATIENCE_S)
        assert all(flow.bytes > 0 for flow in statistics.flows)
        assert {flow.destination for flow in statistics.flows} == {"h0"}
    with grpc.insecure_channel(services["sm0"]["address"]) as channel:
        manager = SubnetManagerStub(channel)
        record = manager.GetPathRecord(
            subnet_manager_pb2.GetPathRecordRequest(source="h1", destination="h0"), timeout=PATIENCE_S
        )
        assert list(record.hops) == ["h1/1", "leaf0/1"]
        assert table[record.dlid] == 1
        info = manager.GetSmInfo(subnet_manager_pb2.GetSmInfoRequest(), timeout=PATIENCE_S)
        assert info.state == "master"


def test_fault_with_an_error_is_refused_as_the_command_line_does(endless: tuple[LiveTwin, Path]) -> None:
    twin, _ = endless
    fault = "{kind: link_down, link: [leaf0/3, spine9/1], duration: 5us}"
    with pytest.raises(grpc.RpcError) as caught:
        twin.director.InjectFault(pb.InjectFaultRequest(fault=fault, owner="test"), timeout=PATIENCE_S)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "spine9" in caught.value.details()


def test_fault_without_a_lease_is_refused(endless: tuple[LiveTwin, Path]) -> None:
    twin, _ = endless
    fault = "{kind: link_down, link: [leaf0/3, spine0/1]}"
    with pytest.raises(grpc.RpcError, match="duration"):
        twin.director.InjectFault(pb.InjectFaultRequest(fault=fault, owner="test"), timeout=PATIENCE_S)


def test_what_people_do_replays_to_the_same_digest(endless: tuple[LiveTwin, Path]) -> None:
    twin, path = endless
    director = twin.director
    fault = "{kind: link_down, name: pulled, link: [leaf1/3, spine0/2], duration: 30us}"
    injected = director.InjectFault(pb.InjectFaultRequest(fault=fault, owner="ann"), timeout=PATIENCE_S).fault
    assert (injected.id, injected.owner) == ("pulled", "ann")
    request = pb.WatchEventsRequest(**{"from": 1})
    events = twin.director.WatchEvents(request, timeout=PATIENCE_S)
    told = next(event for event in events if event.kind == "fault.inject")
    assert told.text == "pulled: link_down leaf1/3 - spine0/2 for 30 us, by ann"
    workload = "{kind: stream, name: extra, src: h3, dst: h1, message: 16KiB, count: forever}"
    director.StartWorkload(pb.StartWorkloadRequest(workload=workload, owner="bob"), timeout=PATIENCE_S)
    twin.step(20 * PS_PER_US)
    assert [entry.id for entry in director.ListFaults(pb.ListFaultsRequest(active=True)).faults] == ["pulled"]
    director.StopWorkload(pb.StopWorkloadRequest(name="extra", by="bob"), timeout=PATIENCE_S)
    end_ps = twin.step(100 * PS_PER_US)
    result = twin.result()
    log = path.with_name("commands.jsonl")
    log.write_bytes(twin.command_log())
    scenario = load_scenario(path)
    simulation = open_simulation(scenario, commands=read_command_log(log, scenario))
    simulation.run(end_ps)
    assert result["stopped"] == "paused"
    assert simulation.result()["digest"] == result["digest"]
    assert {flow["name"] for flow in result["flows"]} >= {"extra"}


def test_service_that_is_frozen_is_shown_soon_and_goes_on_when_it_thaws(tmp_path: Path) -> None:
    with live_twin(_write(tmp_path, "", duration="10s"), "wounded") as twin:
        pid = twin.state["services"]["hca0"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            twin.wait_for_health("hca0", "unreachable")
            twin.wait_for_health("switch0", "serving")
        finally:
            # What is frozen hears of no end, not even of that of its parent.
            os.kill(pid, signal.SIGCONT)
        twin.wait_for_health("hca0", "serving")
        frozen_ps = twin.status().fabric_time_ps
        assert twin.wait(frozen_ps + PS_PER_US).fabric_time_ps > frozen_ps
        assert twin.shut_down() == 0


def test_twin_leaves_nothing_behind(tmp_path: Path) -> None:
    with live_twin(_write(tmp_path, ""), "gone") as twin:
        pids = [service["pid"] for service in twin.state["services"].values()]
        assert twin.shut_down() == 0
        left = sorted(path.name for path in twin.folder.iterdir() if path.suffix != ".log")
        assert left == []
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
