# SPDX-License-Identifier: Apache-2.0
"""Benchmark case of the metrics: how long a scrape takes, and how long it keeps the fabric from stepping."""

from __future__ import annotations

import threading
import time

from fabrictwin.cli.bench_case import REPEATS, Case, Measurement
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.telemetry import Exporter, Health, Service
from fabrictwin.telemetry.stepped import SteppedSimulation
from fabrictwin.units import PS_PER_NS

STEP_PS = 50 * PS_PER_NS
"""About what a shard of a live twin goes at once: less than a cable's delay."""
GOAL_S = 1.0

_SCENARIO = """
version: 1
name: scrape
duration: 1s
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 3, k: 20}
  switch_model: quantum2
  hca_model: connectx7
  link: {rate: 400Gb/s, length: 10m}
  mtu: 4096
routing: {engine: ftree}
workload:
  - {kind: permutation, pattern: random, message: 1MiB, count: forever}
"""


class _Stepping:
    """Steps in a thread, and knows its longest pause."""

    def __init__(self, stepped: SteppedSimulation) -> None:
        self._stepped = stepped
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.longest_step_s = 0.0

    def __enter__(self) -> _Stepping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        last_s = time.perf_counter()
        while not self._stop.is_set():
            self._stepped.step(self._stepped.simulation.now_ps + STEP_PS)
            now_s = time.perf_counter()
            self.longest_step_s = max(self.longest_step_s, now_s - last_s)
            last_s = now_s


def _measure() -> Measurement:
    health = Health("scrape", Service.SWITCH_NODE, "switch0", "scrape")
    stepped = SteppedSimulation(open_simulation(parse_scenario(_SCENARIO, file="scrape")), [health])
    exporter = Exporter(health, stepped.nodes_of(NodeKind.SWITCH))
    stepped.step(STEP_PS)
    page = exporter.render()
    stepped.longest_hold_ns = 0
    times_s: list[float] = []
    with _Stepping(stepped) as stepping:
        time.sleep(1)
        undisturbed_s, stepping.longest_step_s = stepping.longest_step_s, 0.0
        for _ in range(REPEATS):
            began_s = time.perf_counter()
            page = exporter.render()
            times_s.append(time.perf_counter() - began_s)
        disturbed_s = stepping.longest_step_s
    details = {
        "lines": sum(part.count(b"\n") for part in page),
        "page_bytes": sum(map(len, page)),
        "longest_hold_ms": round(stepped.longest_hold_ns / 1e6, 3),
        "longest_step_ms": round(disturbed_s * 1e3, 3),
        "longest_step_without_scrape_ms": round(undisturbed_s * 1e3, 3),
    }
    return Measurement(times_s, details)


def telemetry_cases() -> tuple[Case, ...]:
    """The case: 10,000 switch ports, scraped while they carry a random permutation of 2,000 hosts."""
    return (Case("scrape-10000-ports", "s", GOAL_S, False, _measure),)
