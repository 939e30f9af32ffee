# SPDX-License-Identifier: Apache-2.0
"""Services that are killed come back, and the twin goes on to the result of a run in one process.

However fast the machine is, the twin has no end by itself: a test pauses it when all has happened.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import redis

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.local_stack import STATE_FILE
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from integration.live_twin import LiveTwin, live_twin
from integration.patience import wait_until

NAME = "hurt"
SCENARIO = """
version: 1
name: hurt
duration: 10s
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
  switch_model: quantum2
  hca_model: connectx7
routing: {{engine: ftree}}
congestion_control: {{algorithm: ib_cca}}
subnet_manager: {{trap_latency: 10us, smp_rtt: 2us, managers: [{{node: h0, priority: 8}}, {{node: h3}}]}}
workload:
  - {workload}
faults:
  - {{kind: link_flap, link: [leaf1/3, spine0/2], at: 40us, down: 60us, up: 100us, count: 100}}
"""
ROCE_SCENARIO = """
version: 1
name: hurt
duration: 10s
fabric:
  technology: roce
  topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
  switch_model: {{base: spectrum4, shared_buffer: 1MB}}
  hca_model: {{base: connectx7_roce, loss_recovery: selective_repeat, ack_timeout: 50us}}
routing: {{engine: ecmp, bfd_interval: 5us, bgp_update: 3us}}
congestion_control: {{algorithm: dcqcn, profile: hpcc}}
workload:
  - {workload}
faults:
  - {{kind: link_flap, link: [leaf1/3, spine0/2], at: 40us, down: 60us, up: 100us, count: 100}}
"""
INCAST = "{kind: incast, name: pull, senders: [h1, h2], receiver: h0, message: 64KiB, count: forever}"


@contextmanager
def _twin(
    folder: Path, workload: str = INCAST, scenario: str = SCENARIO, **environment: str
) -> Iterator[LiveTwin]:
    """A twin with settings of its own."""
    path = folder / "scenario.yaml"
    path.write_text(scenario.format(workload=workload))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(f"FABRICTWIN_{name.upper()}", value)
        with live_twin(path, NAME) as twin:
            yield twin


def _go_on(twin: LiveTwin, by_us: int) -> None:
    """Waits until the twin, which runs, has gone on by a span of fabric time."""
    twin.wait(twin.status().fabric_time_ps + by_us * PS_PER_US)


def _pid_of(twin: LiveTwin, process: str) -> int:
    state = json.loads((twin.folder / STATE_FILE).read_text())
    return int(state["services"][process]["pid"])


def _kill(twin: LiveTwin, process: str) -> None:
    """Kills a process, and waits until another has taken its place."""
    pid = _pid_of(twin, process)
    os.kill(pid, signal.SIGKILL)
    wait_until(
        lambda: _pid_of(twin, process) != pid, lambda: (twin.folder / f"{process}.log").read_text()[-2000:]
    )


def _has_checkpoint(twin: LiveTwin, process: str) -> bool:
    """Whether it has one that it did not begin with."""
    return any(each.shard == process and each.checkpoint_ps > 0 for each in twin.status().services)


def _recoveries(twin: LiveTwin, process: str) -> list[dict[str, Any]]:
    lines = (twin.folder / f"{process}.log").read_text().splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]
    return [record for record in records if record["event"] == "recovered"]


def _expect_undisturbed(twin: LiveTwin, folder: Path) -> None:
    """Pauses the twin; its result is that of a run in one process up to there."""
    at_ps = twin.pause()
    simulation = open_simulation(load_scenario(folder / "scenario.yaml"))
    simulation.run(at_ps)
    expected, result = simulation.result(), twin.result()
    assert result["digest"] == expected["digest"]
    assert result["events"] == expected["events"]


@pytest.mark.parametrize(
    ("scenario", "processes"),
    [(SCENARIO, ("hca0", "switch0", "cc", "sm0", "sm1")), (ROCE_SCENARIO, ("hca0", "switch0", "sm0"))],
    ids=["infiniband", "roce"],
)
def test_every_kind_of_service_that_is_killed_goes_on_where_it_was(
    scenario: str, processes: tuple[str, ...], tmp_path: Path
) -> None:
    with _twin(tmp_path, scenario=scenario, checkpoint="0.1") as twin:
        for process in processes:
            _go_on(twin, by_us=200)
            wait_until(lambda process=process: _has_checkpoint(twin, process), twin.status)
            _kill(twin, process)
        _go_on(twin, by_us=200)
        _expect_undisturbed(twin, tmp_path)
        for process in processes:
            (recovery,) = _recoveries(twin, process)
            assert 0 < recovery["checkpoint_ps"] <= recovery["reached_ps"]
        assert twin.shut_down() == 0


def test_services_that_are_killed_while_fabric_time_jumps_go_on_where_they_were(tmp_path: Path) -> None:
    rare = "{kind: stream, name: pulse, src: h1, dst: h2, message: 4KiB, count: forever, rate: 0.8Gb/s}"
    with _twin(tmp_path, workload=rare, checkpoint="0.1") as twin:
        for process in ("switch0", "hca0", "sm0", "switch0"):
            _go_on(twin, by_us=2000)
            _kill(twin, process)
        _go_on(twin, by_us=2000)
        _expect_undisturbed(twin, tmp_path)
        assert twin.shut_down() == 0


def test_service_that_is_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    with _twin(tmp_path, checkpoint="1000") as twin:
        _go_on(twin, by_us=100)
        _kill(twin, "switch0")
        _go_on(twin, by_us=100)
        _expect_undisturbed(twin, tmp_path)
        (recovery,) = _recoveries(twin, "switch0")
        assert recovery["checkpoint_ps"] == 0 < recovery["reached_ps"]


def test_services_that_are_killed_at_any_moment_go_on_where_they_were(tmp_path: Path) -> None:
    # With an interval of almost nothing there is nearly always a checkpoint that is just being written.
    rng = random.Random(20_26)
    with _twin(tmp_path, checkpoint="0.0001") as twin:
        for number in range(8):
            _go_on(twin, by_us=150)
            sleep(rng.random() / 10)
            # Those that wait for the other may be started while it is away, too.
            victims = rng.sample(["hca0", "switch0", "cc", "sm0"], 1 + number % 2)
            for victim in victims[1:]:
                os.kill(_pid_of(twin, victim), signal.SIGKILL)
            _kill(twin, victims[0])
        _go_on(twin, by_us=150)
        _expect_undisturbed(twin, tmp_path)
        assert twin.shut_down() == 0


def test_checkpoints_keep_streams_short(tmp_path: Path) -> None:
    with _twin(tmp_path, checkpoint="0.2") as twin:
        client = connect(twin.state["redis"])
        longest = dict.fromkeys(_streams(client), 0)

        def said(stream: bytes) -> int:
            return int(client.xinfo_stream(stream)["entries-added"])

        def is_trimmed() -> bool:
            for stream in longest:
                longest[stream] = max(longest[stream], client.xlen(stream))
            busiest = max(longest, key=said)
            return said(busiest) > max(5000, 3 * longest[busiest])

        wait_until(is_trimmed, lambda: longest)
        _expect_undisturbed(twin, tmp_path)
        client.close()


def _streams(client: redis.Redis) -> list[bytes]:
    return [key for key in client.scan_iter(match=Keys(NAME).prefix + "ch:*") if b":director" not in key]


def _children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def test_process_that_dies_again_and_again_is_left_alone(tmp_path: Path) -> None:
    with _twin(tmp_path) as twin:
        stack, pid = twin.running.process.pid, _pid_of(twin, "hca0")
        for _ in range(5):
            before = _children(stack)
            os.kill(pid, signal.SIGKILL)
            # It need not have begun to work again: what counts are five deaths in a minute.
            wait_until(lambda before=before: bool(_children(stack) - before))
            (pid,) = _children(stack) - before
        os.kill(pid, signal.SIGKILL)
        twin.wait_for_health("hca0", "unreachable")
        assert twin.status().state != pb.TWIN_STATE_STOPPED
        assert twin.shut_down() == 3
        assert "hca0 is not started again" in twin.running.log.read_text()
