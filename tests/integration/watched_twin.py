# SPDX-License-Identifier: Apache-2.0
"""A live twin, brought up as people do, for Prometheus to watch."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabrictwin.runtime.local_twins import LocalTwin, find_twin
from fabrictwin.telemetry import Service, Target
from integration.services_at_work import START_S


def fabrictwin(*arguments: str | Path, timeout_s: float = START_S) -> None:
    """Runs the command; it must succeed."""
    command = [sys.executable, "-m", "fabrictwin.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_twin(name: str, scenario: str, folder: Path) -> Iterator[LocalTwin]:
    """A twin that runs, in a runtime folder of its own; the name of a socket must be short.

    Args:
        name: Of the twin, as the scenario says.
        scenario: Its text.
        folder: For the scenario's file.
    """
    file = folder / "scenario.yaml"
    file.write_text(scenario)
    with tempfile.TemporaryDirectory(prefix="ft") as runtime, pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "XDG_RUNTIME_DIR", runtime)
        try:
            fabrictwin("up", file)
            yield find_twin(name)
        finally:
            fabrictwin("down", "--twin", name)


def targets_of(twin: LocalTwin) -> list[Target]:
    """Where its metrics are."""
    return [
        Target(Service(service["service"]), shard, service["metrics_address"])
        for shard, service in twin.services.items()
    ]
