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
from time import monotonic, sleep
from typing import Any

import grpc

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.runtime.local_stack import STATE_FILE
from integration.services_at_work import START_S, Running, run_module

WITHIN_S = 30.0


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
        return self.director.Status(pb.StatusRequest(), timeout=WITHIN_S)

    def wait(self, until_ps: int = 0, timeout_s: float = 300.0) -> pb.WaitResponse:
        """Waits for a fabric time, or until it stands."""
        return self.director.Wait(pb.WaitRequest(until_ps=until_ps), timeout=timeout_s)

    def result(self) -> dict[str, Any]:
        """Its result."""
        chunks = self.director.Result(pb.ResultRequest(), timeout=WITHIN_S)
        result: dict[str, Any] = json.loads(b"".join(chunk.json for chunk in chunks))
        return result

    def command_log(self) -> bytes:
        """What was done to it."""
        return b"".join(
            chunk.lines for chunk in self.director.CommandLog(pb.CommandLogRequest(), timeout=WITHIN_S)
        )

    def shut_down(self) -> int:
        """Ends it; returns the exit code."""
        self.director.Shutdown(pb.ShutdownRequest(by="test"), timeout=WITHIN_S)
        return self.running.process.wait(WITHIN_S)


@contextmanager
def live_twin(scenario: Path, name: str, *, shuffled: int | None = None) -> Iterator[LiveTwin]:
    """Runs a scenario as services; it starts at once.

    Args:
        scenario: The scenario.
        name: Name of the twin.
        shuffled: Seed of the order in which the services start; None: the usual order.
    """
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="ft-"))
    arguments = ["--scenario", str(scenario), "--state-dir", str(folder), "--twin", name]
    module = "services"
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
    deadline = monotonic() + START_S
    while not (folder / STATE_FILE).exists():
        logs = {log.name: log.read_text()[-1500:] for log in folder.glob("*.log")}
        assert running.process.poll() is None, logs
        assert monotonic() < deadline, logs
        sleep(0.05)
    state: dict[str, Any] = json.loads((folder / STATE_FILE).read_text())
    return state


def _wait_until_ready(twin: LiveTwin) -> None:
    deadline = monotonic() + START_S
    while (status := twin.status()).state in (pb.TWIN_STATE_EMPTY, pb.TWIN_STATE_STARTING):
        assert monotonic() < deadline, status
        sleep(0.05)
