# SPDX-License-Identifier: Apache-2.0
"""What can go wrong around a live twin: each has its own error, and the twin stops or goes on exactly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from integration.live_twin import LiveTwin, live_twin
from integration.patience import PATIENCE_S, wait_until
from integration.redis_server import short_folder
from integration.services_at_work import REPOSITORY, START_S, environment

NAME = "hurt"
SCENARIO = """
version: 1
name: hurt
duration: 100s
fabric: {technology: infiniband, topology: {generator: single_switch, hosts: 4}}
workload: [{kind: permutation, pattern: shift, shift: 1, message: 64KiB, count: forever}]
deployment: {switch_shards: 1, hca_shards: 2}
"""


@pytest.fixture
def server() -> Iterator[EmbeddedRedis]:
    with short_folder() as folder, EmbeddedRedis(folder) as server:
        yield server


@pytest.fixture
def client(server: EmbeddedRedis) -> redis.Redis:
    return connect(server.url)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hurt.yaml"
    path.write_text(SCENARIO)
    return path


def _failure(twin: LiveTwin) -> str:
    """Why a twin has failed; waits for it."""
    answer = twin.wait(timeout_s=PATIENCE_S)
    assert (answer.done, answer.state) == (True, pb.TWIN_STATE_FAILED), answer
    assert answer.fabric_time_ps == twin.status().fabric_time_ps, "fabric time still goes on"
    return answer.error


def _end(twin: LiveTwin) -> None:
    """Ends a twin that has failed; nothing of it is left."""
    pids = [service["pid"] for service in twin.state["services"].values()]
    assert twin.shut_down() == 3
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert [each.name for each in twin.folder.iterdir() if each.suffix != ".log"] == []


def _keys(client: redis.Redis) -> list[bytes]:
    return list(client.scan_iter(match=Keys(NAME).prefix + "*", count=1000))


def test_redis_that_is_full_stops_the_twin(server: EmbeddedRedis, client: redis.Redis, path: Path) -> None:
    with live_twin(path, NAME, redis=server.url) as twin:
        client.config_set("maxmemory", "1")
        assert "BusFullError" in _failure(twin)
        _end(twin)
    assert _keys(client) == []


def test_redis_that_goes_away_stops_the_twin(server: EmbeddedRedis, client: redis.Redis, path: Path) -> None:
    with live_twin(path, NAME, redis=server.url) as twin:
        os.kill(client.info("server")["process_id"], signal.SIGKILL)
        assert "BusUnreachableError" in _failure(twin)
        _end(twin)


def test_redis_that_forgets_the_twin_stops_it(server: EmbeddedRedis, client: redis.Redis, path: Path) -> None:
    with live_twin(path, NAME, redis=server.url) as twin:
        client.flushall()
        assert "NotOursError" in _failure(twin)
        _end(twin)
    assert _keys(client) == []


def test_keys_of_a_later_twin_stop_the_earlier_one(
    server: EmbeddedRedis, client: redis.Redis, path: Path
) -> None:
    with live_twin(path, NAME, redis=server.url) as twin:
        client.hset(Keys(NAME).identity, "epoch", "another")
        assert "NotOursError" in _failure(twin)


def test_gap_in_a_channel_stops_the_twin(server: EmbeddedRedis, client: redis.Redis, path: Path) -> None:
    with live_twin(path, NAME, redis=server.url) as twin:
        twin.pause()
        pid = twin.state["services"]["hca0"]["pid"]
        channel = Keys(NAME).channel("director", "hca0")
        read = client.xinfo_stream(channel)["last-generated-id"].decode()
        os.kill(pid, signal.SIGSTOP)
        # Its last question is answered: nothing. Nobody else is silent that long.
        wait_until(lambda: any(map(_is_silent_reader, client.client_list())), client.client_list)
        twin.director.Step(pb.StepRequest(by_ps=10 * PS_PER_US), timeout=PATIENCE_S)
        wait_until(lambda: bool(client.xrange(channel, min=f"({read}")))
        assert client.xdel(channel, client.xrange(channel, min=f"({read}")[-1][0]) == 1
        os.kill(pid, signal.SIGCONT)
        assert "hca0: ChannelGapError: channel director → hca0" in _failure(twin)
        _end(twin)
    assert _keys(client) == []


def _is_silent_reader(connection: dict[str, str]) -> bool:
    return connection["cmd"] == "xread" and "b" not in connection["flags"] and int(connection["idle"]) >= 2


def test_service_that_stands_still_is_shown_and_goes_on_exactly(path: Path) -> None:
    with live_twin(path, NAME) as twin:
        pid = twin.state["services"]["hca1"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            twin.wait_for_health("hca1", "unreachable")
            twin.wait_for_health("switch0", "serving")
        finally:
            os.kill(pid, signal.SIGCONT)
        twin.wait_for_health("hca1", "serving")
        twin.wait(twin.status().fabric_time_ps + 100 * PS_PER_US)
        simulation = open_simulation(load_scenario(path))
        simulation.run(twin.pause())
        assert twin.result()["digest"] == simulation.result()["digest"]
        assert twin.shut_down() == 0


def test_second_twin_of_one_name_leaves_the_first_alone(server: EmbeddedRedis, path: Path) -> None:
    with live_twin(path, NAME, redis=server.url) as twin, short_folder() as folder:
        arguments = ["--scenario", path, "--state-dir", folder, "--twin", NAME, "--redis", server.url]
        second = subprocess.run(
            [sys.executable, "-m", "services", *arguments],
            env=environment(),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=START_S,
        )
        assert second.returncode == 3
        assert f"a twin named '{NAME}' is on this Redis server" in second.stderr
        before_ps = twin.status().fabric_time_ps
        assert twin.wait(until_ps=before_ps + 10_000_000).done
        assert twin.status().state == pb.TWIN_STATE_RUNNING
        assert twin.shut_down() == 0


def test_wrong_scenario_is_refused_before_anything_starts(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(SCENARIO.replace("hosts: 4", "hosts: 0, host: 4"))
    said = []
    for arguments in (
        ["-m", "fabrictwin.cli.main", "validate", str(path)],
        ["-m", "services", "--scenario", str(path), "--state-dir", str(tmp_path / "state")],
    ):
        done = subprocess.run(
            [sys.executable, *arguments], env=environment(), cwd=REPOSITORY, capture_output=True, text=True
        )
        assert done.returncode == 2
        said.append([line for line in done.stderr.splitlines() if line.startswith("error: ")])
    assert said[0] == said[1]
    assert len(said[0]) == 2
    assert not (tmp_path / "state").exists()
