# SPDX-License-Identifier: Apache-2.0
"""Real services as subprocesses, on free ports, with a Redis server of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import grpc

from integration.patience import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parents[2]
START_S = 300.0
"""Kernels may have to be compiled."""


def environment() -> dict[str, str]:
    """The environment of a subprocess that imports this repository's packages."""
    path = os.pathsep.join(str(REPOSITORY / folder) for folder in ("src", ".", "tests"))
    return os.environ | {"PYTHONPATH": path}


@dataclass
class Running:
    """A service that was started.

    Attributes:
        process: It.
        log: File of its log.
    """

    process: subprocess.Popen[bytes]
    log: Path
    channels: list[grpc.Channel] = field(default_factory=list)

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged."""
        texts = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [json.loads(text) for text in texts]

    def wait_for(self, event: str) -> dict[str, Any]:
        """The first line of its log that says something."""
        deadline = monotonic() + START_S
        while monotonic() < deadline:
            for line in self.lines():
                if line["event"] == event:
                    return line
            if self.process.poll() is not None:
                break
            sleep(0.02)
        raise AssertionError(f"never said {event!r}: {self.log.read_text()[-2000:]}")

    @property
    def address(self) -> str:
        """Where it listens."""
        return str(self.wait_for("listening")["address"])

    def channel(self) -> grpc.Channel:
        """A channel to it."""
        channel = grpc.insecure_channel(self.address)
        self.channels.append(channel)
        return channel

    def end(self, number: int = signal.SIGTERM) -> int:
        """Signals it and waits; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """Makes sure that nothing is left."""
        for channel in self.channels:
            channel.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@contextmanager
def run_module(module: str, arguments: list[str], log: Path) -> Iterator[Running]:
    """``python -m module`` with its output in a file; killed at the end if it has not ended."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=environment(),
            cwd=REPOSITORY,
            stdout=stream,
            stderr=stream,
        )
    running = Running(process, log)
    try:
        yield running
    finally:
        running.close()
