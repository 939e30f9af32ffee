# SPDX-License-Identifier: Apache-2.0
"""Fabric time of a live twin: it pauses, steps, keeps a pace and jumps, and stays exact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.model.command import read_command_log
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US
from integration.live_twin import LiveTwin, live_twin
from integration.patience import PATIENCE_S, wait_until

BUSY = """
version: 1
name: busy
duration: 100s
fabric: {technology: infiniband, topology: {generator: chain, switches: 2, hosts_per_switch: 2}}
workload: [{kind: permutation, pattern: shift, shift: 1, message: 64KiB, count: forever}]
deployment: {switch_shards: 2, hca_shards: 2}
"""
QUIET_S = 60
QUIET = f"""
version: 1
name: quiet
duration: {QUIET_S}s
fabric: {{technology: infiniband, topology: {{generator: single_switch, hosts: 4}}}}
subnet_manager: {{managers: [{{node: h0, priority: 5}}, {{node: h2}}]}}
deployment: {{switch_shards: 1, hca_shards: 2}}
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveTwin, Path]]:
    """A twin that is paused."""
    path = tmp_path_factory.mktemp("busy") / "busy.yaml"
    path.write_text(BUSY)
    with live_twin(path, "busy") as twin:
        twin.pause()
        yield twin, path


def _digest(path: Path, until_ps: int, log: Path | None = None) -> str:
    scenario = load_scenario(path)
    commands = read_command_log(log, scenario) if log is not None else ()
    simulation = open_simulation(scenario, commands=commands)
    simulation.run(until_ps)
    return str(simulation.result()["digest"])


@pytest.mark.parametrize("by_ps", [10 * PS_PER_US, 123_457, 1])
def test_step_stops_exactly_there_with_the_result_of_that_time(
    by_ps: int, busy: tuple[LiveTwin, Path]
) -> None:
    twin, path = busy
    before_ps = twin.status().fabric_time_ps
    assert twin.step(by_ps) == before_ps + by_ps
    status = twin.status()
    assert status.state == pb.TWIN_STATE_PAUSED
    assert {service.reached_ps for service in status.services} == {before_ps + by_ps}
    result = twin.result()
    assert result["stopped"] == "paused"
    assert result["digest"] == _digest(path, before_ps + by_ps)


def test_paused_twin_stands_still(busy: tuple[LiveTwin, Path]) -> None:
    twin, _ = busy
    at_ps = twin.status().fabric_time_ps
    sleep(0.5)
    assert twin.status().fabric_time_ps == at_ps


def test_pace_is_kept(busy: tuple[LiveTwin, Path]) -> None:
    twin, _ = busy
    pace = 50e-6
    twin.director.SetPace(pb.SetPaceRequest(pace=pace), timeout=PATIENCE_S)
    began_ps, began_s = twin.status().fabric_time_ps, monotonic()
    twin.director.Resume(pb.ResumeRequest(), timeout=PATIENCE_S)

    def follows() -> bool:
        """A busy machine may be late for a while; too early is wrong at any time."""
        reached_ps = twin.status().fabric_time_ps - began_ps
        allowed_ps = pace * (monotonic() - began_s) * PS_PER_S
        assert reached_ps <= allowed_ps
        return reached_ps > max(0.9 * allowed_ps, pace * PS_PER_S)

    wait_until(follows)
    twin.pause()
    twin.director.SetPace(pb.SetPaceRequest(pace=0), timeout=PATIENCE_S)


def test_quiet_minute_is_jumped_over_and_work_that_comes_then_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "quiet.yaml"
    path.write_text(QUIET)
    with live_twin(path, "quiet") as twin:
        # At the speed of a busy fabric this would take half a day.
        assert twin.wait(until_ps=30 * PS_PER_S).done
        workload = "{kind: stream, name: late, src: h1, dst: h3, message: 1MB, count: 3}"
        order = pb.StartWorkloadRequest(workload=workload, owner="test")
        start_ps = twin.director.StartWorkload(order, timeout=PATIENCE_S).workload.start_ps
        # A twin whose work is done stops as idle.
        answer = twin.wait()
        assert (answer.done, answer.stopped, answer.error) == (True, "idle", "")
        assert start_ps >= 30 * PS_PER_S
        result = twin.result()
        assert result["flows"][0]["messages"] == 3
        assert result["fabric_time_ns"] < (start_ps + PS_PER_MS) / 1000
        log = tmp_path / "commands.jsonl"
        log.write_bytes(twin.command_log())
        assert result["digest"] == _digest(path, QUIET_S * PS_PER_S, log)
        assert twin.shut_down() == 0
