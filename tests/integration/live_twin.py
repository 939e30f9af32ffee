# SPDX-License-Identifier: Apache-2.0
"""A whole twin on this machine, as ``python -m services`` runs it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.runtime.local_stack import STATE_FILE
from integration.patience import PATIENCE_S, wait_until
from integration.services_at_work import START_S, Running, run_module

LONGEST_RUN_S = 300.0


@dataclass
class LiveTwin:
    """A twin that is running.

    Attributes:
        running: The process that all services are children of.
        folder: Its runtime folder.
        state: What its state file says.
        director: Its director.
    """

    running: Running
    folder: Path
    state: dict[str, Any]
    director: DirectorStub

    def status(self) -> pb.StatusResponse:
        """How it is."""
        return self.director.Status(pb.StatusRequest(), timeout=PATIENCE_S)

    def wait(self, until_ps: int = 0, timeout_s: float = LONGEST_RUN_S) -> pb.WaitResponse:
        """Waits for a fabric time, or until it stands."""
        return self.director.Wait(pb.WaitRequest(until_ps=until_ps), timeout=timeout_s)

    def pause(self) -> int:
        """Makes it stand; returns the fabric time."""
        return int(self.director.Pause(pb.PauseRequest(), timeout=PATIENCE_S).fabric_time_ps)

    def step(self, by_ps: int) -> int:
        """Lets it go on by a span of fabric time and waits until it has; returns the fabric time."""
        self.director.Step(pb.StepRequest(by_ps=by_ps), timeout=PATIENCE_S)
        return int(self.wait().fabric_time_ps)

    def wait_for_health(self, process: str, health: str) -> None:
        """Waits until the director knows how a logical process is."""
        wait_until(
            lambda: any((each.shard, each.health) == (process, health) for each in self.status().services),
            self.status,
        )

    def result(self) -> dict[str, Any]:
        """Its result."""
        chunks = self.director.Result(pb.ResultRequest(), timeout=PATIENCE_S)
        result: dict[str, Any] = json.loads(b"".join(chunk.json for chunk in chunks))
        return result

    def command_log(self) -> bytes:
        """What was done to it."""
        return b"".join(
            chunk.lines for chunk in self.director.CommandLog(pb.CommandLogRequest(), timeout=PATIENCE_S)
        )

    def shut_down(self) -> int:
        """Ends it; returns the exit code."""
        self.director.Shutdown(pb.ShutdownRequest(by="test"), timeout=PATIENCE_S)
        code = self.running.process.wait(PATIENCE_S)
        if code:
            print(*(f"{log.name}: {log.read_text()[-1500:]}" for log in self.folder.glob("*.log")), sep="\n")
        return code


@contextmanager
def live_twin(
    scenario: Path, name: str, *, shuffled: int | None = None, redis: str = ""
) -> Iterator[LiveTwin]:
    """Runs a scenario as services; it starts at once.

    Args:
        scenario: The scenario.
        name: Name of the twin.
        redis: URL of the Redis server; empty: it starts one.
        shuffled: Seed of the order in which the services start; None: the usual order.
    """
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="ft-"))
    arguments = ["--scenario", str(scenario), "--state-dir", str(folder), "--twin", name]
    module = "services"
    if redis:
        arguments += ["--redis", redis]
    if shuffled is not None:
        module = "integration.shuffled_stack"
        arguments += ["--seed", str(shuffled)]
    try:
        with run_module(module, arguments, folder / "stack.log") as running:
            state = _wait_for_state(running, folder)
            with grpc.insecure_channel(state["director"]) as channel:
                twin = LiveTwin(running, folder, state, DirectorStub(channel))
                _wait_until_ready(twin)
                yield twin
            running.end()
    finally:
        shutil.rmtree(folder)


def _wait_for_state(running: Running, folder: Path) -> dict[str, Any]:
    def logs() -> dict[str, str]:
        return {log.name: log.read_text()[-1500:] for log in folder.glob("*.log")}

    def has_come() -> bool:
        assert running.process.poll() is None, logs()
        return (folder / STATE_FILE).exists()

    wait_until(has_come, logs, START_S)
    state: dict[str, Any] = json.loads((folder / STATE_FILE).read_text())
    return state


def _wait_until_ready(twin: LiveTwin) -> None:
    early = (pb.TWIN_STATE_EMPTY, pb.TWIN_STATE_STARTING)
    wait_until(lambda: twin.status().state not in early, twin.status, START_S)
