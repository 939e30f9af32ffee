# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases of live twins: real services on this machine, with a Redis server of their own.

Fabric time per wall second depends on what else the machine does. So each line says the load, and where the
stepping thread of each process spends its time: in compiled code, around it, in the client of the bus,
waiting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.request import urlopen

from fabrictwin.api.v1.director_pb2 import WaitRequest
from fabrictwin.cli.bench_case import REPEATS, Case, Measurement
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.supervisor import end_twin, start_twin
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.local_twins import LocalTwin
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_US

_FABRIC = """
version: 1
name: {name}
duration: 10s
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 2, leaves: {leaves}, hosts_per_leaf: {hosts}, spines: {hosts}}}
  switch_model: quantum2
  hca_model: connectx7
  link: {{rate: 400Gb/s, length: 10m}}
routing: {{engine: ftree}}
workload:
  - {{kind: permutation, name: shift, pattern: shift, shift: {hosts}, message: 1MiB, count: forever}}
"""
_SPAN_S = 3.0
_WARM_UP_S = 120.0
_FABRIC_TIME, _STEPS = "fabric_seconds_total", "step_seconds_count"
_SAMPLE = re.compile(
    rf'^fabrictwin_(phase_seconds_total|{_STEPS}|{_FABRIC_TIME})(?:{{phase="(\w+)"}})? (\S+)', re.MULTILINE
)


def _text(leaves: int, hosts: int) -> str:
    """So many leaves and hosts a leaf, every host sending at line rate to one of the next leaf."""
    return _FABRIC.format(name=f"bench-live-{leaves * hosts}", leaves=leaves, hosts=hosts)


class _Start(NamedTuple):
    """A running twin, and how long it took to its first step."""

    twin: LocalTwin
    seconds: float


@contextmanager
def _live(text: str, ended_s: list[float] | None = None) -> Iterator[_Start]:
    """Runs a twin; notes how long it took to end."""
    name = f"bench-{os.getpid()}"
    with TemporaryDirectory(prefix="fabrictwin-bench-") as folder:
        path = Path(folder) / "live.yaml"
        path.write_text(text, encoding="utf-8")
        started_s = monotonic()
        with start_twin(name, path, None) as (twin, _):
            yielded = _Start(twin, monotonic() - started_s)
        try:
            yield yielded
        finally:
            ending_s = monotonic()
            end_twin(name)
            if ended_s is not None:
                ended_s.append(monotonic() - ending_s)


class _Look(NamedTuple):
    """What the stepping processes say of themselves at one time.

    Attributes:
        at_s: Wall time.
        fabric_ms: Fabric time of the first shard.
        phases: Process, phase: seconds; and the number of steps.
        redis_s: CPU time of the Redis server.
    """

    at_s: float
    fabric_ms: float
    phases: dict[str, dict[str, float]]
    redis_s: float


def _look(twin: LocalTwin) -> _Look:
    phases: dict[str, dict[str, float]] = {}
    fabric_ms = 0.0
    at_s = monotonic()
    for process, service in twin.services.items():
        if not process.startswith(("switch", "hca")):
            continue
        with urlopen(f"http://{service['metrics_address']}/metrics", timeout=10) as page:
            samples = _SAMPLE.findall(page.read().decode())
        found = {(name, phase): float(value) for name, phase, value in samples}
        if not phases:
            at_s = monotonic()
            fabric_ms = found[_FABRIC_TIME, ""] * 1000
        phases[process] = {phase: seconds for (_, phase), seconds in found.items() if phase}
        phases[process]["steps"] = found[_STEPS, ""]
    used = connect(twin.redis).info("cpu")
    return _Look(at_s, fabric_ms, phases, float(used["used_cpu_user"]) + float(used["used_cpu_sys"]))


def _split(before: _Look, after: _Look) -> dict[str, Any]:
    """Where the wall time between two looks went, as shares of it."""
    wall_s = after.at_s - before.at_s
    shares: dict[str, Any] = {}
    for process, phases in after.phases.items():
        gained = {name: value - before.phases[process][name] for name, value in phases.items()}
        steps = gained.pop("steps")
        shares[process] = {name: round(seconds / wall_s, 3) for name, seconds in gained.items()}
        shares[process]["steps_per_s"] = round(steps / wall_s)
    shares["redis"] = {"cpu": round((after.redis_s - before.redis_s) / wall_s, 3)}
    return shares


def _speeds(text: str, warm_up_ps: int) -> Measurement:
    """Milliseconds of fabric time a wall second, saturated."""
    speeds: list[float] = []
    with _live(text) as (twin, _):
        with open_director(None, twin.director) as director:
            director.Wait(WaitRequest(until_ps=warm_up_ps), timeout=_WARM_UP_S)
        looks = [_look(twin)]
        for _ in range(REPEATS):
            sleep(_SPAN_S)
            looks.append(_look(twin))
            speeds.append((looks[-1].fabric_ms - looks[-2].fabric_ms) / (looks[-1].at_s - looks[-2].at_s))
    details = {"shares_of_wall_time": _split(looks[0], looks[-1]), "load": round(os.getloadavg()[0], 1)}
    return Measurement(speeds, details)


def _simulated_speed(text: str, warm_up_ps: int, span_ps: int) -> float:
    """Milliseconds of fabric time a wall second of the same scenario in one process."""
    simulation = open_simulation(parse_scenario(text, file="live"))
    simulation.run(warm_up_ps)
    started_s = monotonic()
    simulation.run(warm_up_ps + span_ps)
    return span_ps / PS_PER_MS / (monotonic() - started_s)


def _ratio(text: str, warm_up_ps: int, span_ps: int) -> Measurement:
    """Wall time of a live twin in that of one process."""
    alone = _simulated_speed(text, warm_up_ps, span_ps)
    live = _speeds(text, warm_up_ps)
    alone = (alone + _simulated_speed(text, warm_up_ps, span_ps)) / 2
    details = {"simulate_ms_per_s": round(alone, 3), "live_ms_per_s": [round(one, 3) for one in live.values]}
    return Measurement([alone / speed for speed in live.values], details | live.details)


def _up(text: str) -> Measurement:
    with _live(text):
        pass
    seconds: list[float] = []
    for _ in range(REPEATS):
        with _live(text) as start:
            seconds.append(start.seconds)
    return Measurement(seconds)


def _down(text: str) -> Measurement:
    seconds: list[float] = []
    for _ in range(REPEATS):
        with _live(text, seconds):
            pass
    return Measurement(seconds)


def live_cases() -> tuple[Case, ...]:
    """The cases, fastest first."""
    small, large = _text(4, 4), _text(8, 16)
    return (
        Case("live-down", "s", 3.0, False, partial(_down, small)),
        Case("live-up", "s", 5.0, False, partial(_up, small)),
        Case("live-16", "ms/s", 1.0, True, partial(_speeds, small, 1300 * PS_PER_US)),
        Case("live-128", "of simulate", 1.6, False, partial(_ratio, large, 300 * PS_PER_US, 300 * PS_PER_US)),
    )
