# SPDX-License-Identifier: Apache-2.0
"""Twins that start, end, fail and die: nothing of them is ever left."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from integration.machine import SHORT, Machine, machine
from integration.patience import PATIENCE_S, wait_until
from integration.redis_server import short_folder
from integration.services_at_work import run_module


@pytest.fixture
def place() -> Iterator[Machine]:
    with machine() as place:
        yield place
        assert place.leftovers() == []


def test_twin_that_runs_to_its_end_has_the_result_of_a_simulation(place: Machine) -> None:
    scenario = place.scenario("short", workload=SHORT)
    place.do("up", scenario)
    assert place.do("wait", "--timeout", str(PATIENCE_S)).startswith("stopped by idle at ")
    live = place.ask("result")
    assert live["stopped"] == "idle"
    assert live["digest"] == place.ask("simulate", scenario)["digest"]
    lines = place.do("watch").splitlines()
    assert len(lines) == 1
    assert "stopped by idle" in lines[0]
    assert "short is down" in place.do("down")


def test_up_with_a_wrong_scenario_starts_nothing(place: Machine) -> None:
    run = place.run("up", place.scenario("wrong", workload="  - {kind: incasd}\n  - {kind: stream}\n"))
    assert run.returncode == 2
    assert "did you mean 'incast'" in run.stderr
    assert "wrong.yaml:" in run.stderr


def test_up_with_a_port_in_use_says_so_and_leaves_nothing(place: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = place.run("up", place.scenario("live"), FABRICTWIN_PORT=port)
    assert run.returncode == 3
    assert f"cannot listen on 127.0.0.1:{port}" in run.stderr


def test_up_with_a_redis_that_is_not_there_says_so_and_leaves_nothing(place: Machine) -> None:
    with socket.socket() as deaf:
        # A port that is taken, so that nobody else listens there either.
        deaf.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{deaf.getsockname()[1]}"
        run = place.run("up", place.scenario("live"), "--redis", url)
    assert run.returncode == 3
    assert url.removeprefix("redis://") in run.stderr
    assert "Traceback" not in run.stderr


def test_twin_on_another_redis_leaves_no_keys(place: Machine) -> None:
    with short_folder() as folder, EmbeddedRedis(folder) as server:
        client = connect(server.url)
        place.do("up", place.scenario("live"), "--redis", server.url)
        assert client.keys("ft:{live}:*")
        place.do("down")
        assert client.keys("*") == []


def test_twin_whose_supervisor_was_killed_is_dead_until_it_is_cleared_away(place: Machine) -> None:
    place.do("up", place.scenario("live"))
    supervisor = int((place.folder / "fabrictwin/live/lock").read_text())
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: place.processes() == [], place.processes)
    run = place.run("status")
    assert run.returncode == 2
    run = place.run("status", "--twin", "live")
    assert run.returncode == 2
    assert "has died" in run.stderr
    place.do("up", place.scenario("live"))
    place.do("down")


def test_up_that_is_interrupted_leaves_nothing(place: Machine) -> None:
    starting = place.start("up", place.scenario("live"))
    wait_until(lambda: len(place.processes()) > 1, place.processes)
    starting.send_signal(signal.SIGINT)
    assert starting.wait(PATIENCE_S) == 130


def test_down_without_a_twin_exits_2(place: Machine) -> None:
    run = place.run("down")
    assert run.returncode == 2
    assert "no twin runs" in run.stderr


def test_up_gives_a_director_elsewhere_its_scenario(place: Machine) -> None:
    with short_folder() as folder, EmbeddedRedis(folder) as server, ExitStack() as services:
        settings = ["--redis", server.url, "--twin", "composed"]
        running = {
            name: services.enter_context(run_module(f"services.{name}", settings, folder / f"{name}.log"))
            for name in ("director", "switch_node", "hca_endpoint", "congestion_control", "subnet_manager")
        }
        there = ("--director", running["director"].address)
        wrong = place.run("up", place.scenario("wrong", workload="  - {kind: incasd}\n"), *there)
        assert wrong.returncode == 2
        assert "wrong.yaml:" in wrong.stderr
        assert "did you mean 'incast'" in wrong.stderr
        assert place.do("up", place.scenario("live"), *there).startswith("composed is up after ")
        again = place.run("up", place.scenario("live"), *there)
        assert again.returncode == 2
        assert "has a scenario already" in again.stderr
        place.do("pause", *there)
        assert place.ask("result", *there)["scenario"]["name"] == "live"
        place.do("down", *there)
        assert [service.process.wait(PATIENCE_S) for service in running.values()] == [0] * len(running)
