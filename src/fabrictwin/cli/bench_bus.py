# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases of the bus: steps a second of processes that do nothing but talk over a Redis server.

A step is what a logical process does between two advances: encode a Window a channel, one exchange, decode.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from fabrictwin.cli.bench_case import REPEATS, Case, Measurement
from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus.redis_bus import RedisBus
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys, create_twin, delete_twin
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.records import BY_NAME
from fabrictwin.units import PS_PER_NS

_STEPS = 2000
_PACKETS = {"empty": 0, "2kB": 32, "20kB": 320}
_TIMEOUT_S = 30.0
_TWIN = "bench"
US_PER_S = 1_000_000


def _name(number: int) -> str:
    return f"lp{number}"


def _channels(processes: int) -> list[tuple[str, str]]:
    numbers = range(processes)
    return [(_name(a), _name(b)) for a in numbers for b in numbers if a != b]


def _said(packets: int) -> Iterator[Entry]:
    """Windows without end, each with so many packets."""
    window = WindowData(0, 0, 0, {"packet": np.zeros(packets, BY_NAME["packet"].dtype)})
    sequence = 0
    while True:
        sequence += 1
        window.packets_promise_ps = window.fcps_promise_ps = sequence * PS_PER_NS
        yield Entry(window.packets_promise_ps, encode(window, sequence))


def _take_turns(bus: RedisBus, others: list[str], packets: int, is_first: bool) -> None:
    """Speaks, and waits for the answer: what two shards do that are a cable apart."""
    said = _said(packets)
    if not is_first:
        bus.exchange({}, others, _TIMEOUT_S)
    for step in range(_STEPS):
        is_last = not is_first and step == _STEPS - 1
        heard = bus.exchange({others[0]: [next(said)]}, () if is_last else others, _TIMEOUT_S)
        for entries in heard.values():
            decode(entries[-1].payload)


def _keep_step(bus: RedisBus, others: list[str], packets: int, is_first: bool) -> None:
    """Speaks to everybody, and waits for everybody."""
    said = _said(packets)
    heard = dict.fromkeys(others, 0)
    for step in range(1, _STEPS + 1):
        entry = next(said)
        out = {other: [entry] for other in others}
        while late := [other for other in others if heard[other] < step]:
            for sender, entries in bus.exchange(out, late, _TIMEOUT_S).items():
                heard[sender] = decode(entries[-1].payload).sequence
            out = {}


_RHYTHMS = {"turns": _take_turns, "steps": _keep_step}


@dataclass(frozen=True)
class _Round:
    """What the processes of one measurement share.

    Attributes:
        url: The server.
        epoch: Of the twin.
        processes: How many there are.
        packets: Of each Window.
        rhythm: How they talk.
        together: All begin, and all have ended.
        cpu_s: CPU time of each.
    """

    url: str
    epoch: str
    processes: int
    packets: int
    rhythm: str
    together: Barrier
    cpu_s: Queue[float]


def _talk(shared: _Round, number: int) -> None:
    """One process."""
    channels = _channels(shared.processes)
    bus = RedisBus(connect(shared.url), Keys(_TWIN), shared.epoch, _name(number), channels)
    others = [_name(other) for other in range(shared.processes) if other != number]
    shared.together.wait()
    began_s = time.process_time()
    _RHYTHMS[shared.rhythm](bus, others, shared.packets, number == 0)
    shared.cpu_s.put(time.process_time() - began_s)
    shared.together.wait()
    bus.close()


def _run(server: EmbeddedRedis, processes: int, packets: int, rhythm: str) -> tuple[float, float]:
    """Steps a second, and microseconds of CPU that a step takes in one process."""
    client = connect(server.url)
    identity = create_twin(client, _TWIN, "", _channels(processes))
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(processes + 1)
    shared = _Round(
        server.url, identity.epoch, processes, packets, rhythm, together, context.Queue(processes)
    )
    talkers = [context.Process(target=_talk, args=(shared, number)) for number in range(processes)]
    for talker in talkers:
        talker.start()
    together.wait()
    began_s = time.perf_counter()
    together.wait()
    seconds = time.perf_counter() - began_s
    cpu_s = [shared.cpu_s.get() for _ in talkers]
    for talker in talkers:
        talker.join()
    delete_twin(client, _TWIN)
    client.close()
    return _STEPS / seconds, max(cpu_s) / _STEPS * US_PER_S


def _measure(processes: int, rhythm: str) -> Measurement:
    details: dict[str, float] = {}
    values: list[float] = []
    with TemporaryDirectory(prefix="ft-bench-") as folder, EmbeddedRedis(Path(folder)) as server:
        for size, packets in _PACKETS.items():
            runs = [_run(server, processes, packets, rhythm) for _ in range(REPEATS)]
            rates, cpu_us = zip(*runs, strict=True)
            values = values or list(rates)
            details[f"steps_per_s_{size}"] = round(median(rates), 1)
            details[f"cpu_us_{size}"] = round(min(cpu_us), 1)
    return Measurement(values, details)


def bus_cases() -> tuple[Case, ...]:
    """The cases, fastest first."""
    return (
        Case("bus-turns", "steps/s", 10_000, True, partial(_measure, 2, "turns")),
        Case("bus-2-processes", "steps/s", 7_400, True, partial(_measure, 2, "steps")),
        Case("bus-3-processes", "steps/s", 5_100, True, partial(_measure, 3, "steps")),
        Case("bus-5-processes", "steps/s", 2_850, True, partial(_measure, 5, "steps")),
    )
