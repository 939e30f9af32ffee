# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases of starting up: the first run after an install, and every run after it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fabrictwin.cli.bench_case import REPEATS, Case, Measurement

_SCENARIO = """
version: 1
name: start
duration: 1us
fabric:
  technology: infiniband
  topology: {generator: single_switch, hosts: 2}
  switch_model: quantum2
  hca_model: connectx7
workload:
  - {kind: stream, src: h0, dst: h1, message: 4KiB, count: forever}
"""


@contextmanager
def _workplace() -> Iterator[Path]:
    with TemporaryDirectory(prefix="fabrictwin-bench-") as folder:
        (Path(folder) / "start.yaml").write_text(_SCENARIO, encoding="utf-8")
        yield Path(folder)


def _simulate_s(folder: Path, environment: Mapping[str, str]) -> float:
    """Wall seconds of a whole `fabrictwin simulate` of 1 us: a little more than to its first event."""
    command = [sys.executable, "-m", "fabrictwin.cli.main", "simulate", str(folder / "start.yaml")]
    started_s = time.perf_counter()
    subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started_s


def _first_run() -> Measurement:
    with _workplace() as folder:
        return Measurement([_simulate_s(folder, {"FABRICTWIN_CACHE": str(folder / "cache")})])


def _later_run() -> Measurement:
    with _workplace() as folder:
        _simulate_s(folder, {})
        return Measurement([_simulate_s(folder, {}) for _ in range(REPEATS)])


def start_cases() -> tuple[Case, ...]:
    """The cases, fastest first."""
    return (
        Case("cached-start", "s", 1.5, False, _later_run),
        Case("first-run", "s", 60.0, False, _first_run),
    )
