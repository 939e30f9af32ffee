# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin bus tail`` shows what was said in a span of fabric time, or says what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus.redis_bus import RedisBus
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys
from fabrictwin.runtime.convert import WindowData, encode
from fabrictwin.runtime.directory import TwinDirectory
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.records import BY_NAME
from fabrictwin.runtime.scenario_source import ScenarioSource
from integration.redis_server import short_folder

PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIO = """
version: 1
name: two-hosts
duration: 1us
fabric:
  technology: infiniband
  topology: {generator: single_switch, hosts: 2}
workload:
  - {kind: stream, name: s0, src: h0, dst: h1, message: 4KiB, count: 1}
"""
CHANNELS = [("switch0", "hca0"), ("hca0", "switch0")]


def _said(sequence: int, promise_ps: int) -> Entry:
    packets = np.zeros(1, BY_NAME["packet"].dtype)
    packets["psn"] = sequence
    packets["start_ps"] = promise_ps - 1
    return Entry(promise_ps, encode(WindowData(promise_ps, promise_ps, 0, {"packet": packets}), sequence))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with short_folder() as folder, EmbeddedRedis(folder) as server:
        client = connect(server.url)
        source = ScenarioSource(SCENARIO, "two-hosts.yaml")
        identity = TwinDirectory(client, "demo").publish(source, source.parse().sha256, CHANNELS)
        bus = RedisBus(client, Keys("demo"), identity.epoch, "switch0", CHANNELS)
        bus.exchange({"hca0": [_said(number, number * 500_000) for number in range(1, 700)]}, (), 1.0)
        bus.close()
        client.close()
        yield server.url


def tail(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "bus", "tail", *arguments, "--redis", url]
    return subprocess.run(command, capture_output=True, text=True)


def test_tail_of_two_microseconds_shows_exactly_those(url: str) -> None:
    shown = tail(url, "switch0:hca0", "--from", "10us", "--to", "12us")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert [line.split()[0] for line in lines[::2]] == ["10000-0", "10500-0", "11000-0", "11500-0", "12000-0"]
    assert lines[1].startswith("  packet  sw0/1 → h0/1  s0 DATA psn 20  ")
    assert "starts 9999.999 ns" in lines[1]


def test_tail_as_json_has_every_entry_that_is_kept(url: str) -> None:
    shown = tail(url, "switch0:hca0", "--json", "-")
    result = json.loads(shown.stdout)
    assert (result["schema"], result["twin"]) == ("fabrictwin.bus_tail/1", "demo")
    assert [window["sequence"] for window in result["windows"]] == list(range(1, 700))
    assert result["windows"][0]["records"][0]["from"] == "sw0/1"


def test_tail_of_a_quiet_time_says_that_nothing_is_kept(url: str) -> None:
    shown = tail(url, "hca0:switch0")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert "nothing is kept" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("switch0:hca1",),
            "'switch0:hca1' is not a channel of the twin 'demo'; did you mean 'switch0:hca0'?",
        ),
        (("switch0:hca0", "--twin", "dem"), "'dem' is not a twin on this server; did you mean 'demo'?"),
        (("switch0:hca0", "--from", "10"), "--from: expected a time such as '10ps'"),
    ],
)
def test_tail_with_wrong_arguments_says_what_is_right(
    url: str, arguments: tuple[str, ...], message: str
) -> None:
    shown = tail(url, *arguments)
    assert shown.returncode == 2
    assert message in shown.stderr


def test_tail_without_a_server_fails_and_says_so() -> None:
    shown = tail("unix:///nowhere/redis.sock", "switch0:hca0")
    assert shown.returncode == 3
    assert "cannot be reached" in shown.stderr
