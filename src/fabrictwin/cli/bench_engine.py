# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases of the engine: packet-hops a second of CPU time, events a hop, memory."""

from __future__ import annotations

import time
from functools import partial

from fabrictwin.cli.bench_case import REPEATS, Case, Measurement, Peer
from fabrictwin.cli.memory import peak_rss_bytes
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US

WARM_UP_PS = PS_PER_US
UNIT = "packet-hops/s"
_OURS = "measured by this project, December 2026, one core of a two-core AMD EPYC machine, ± 30 %"

_FABRIC = """
version: 1
name: {name}
duration: {duration}
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 3, k: {k}}}
  switch_model: quantum2
  hca_model: connectx7
  link: {{rate: 400Gb/s, length: 10m}}
  mtu: 4096
routing: {{engine: ftree}}
"""
_ROCE = """
version: 1
name: {name}
duration: {duration}
fabric:
  technology: roce
  topology: {topology}
  switch_model: {{base: spectrum4, ecn: {{profile: hpcc}}}}
  hca_model: connectx8_roce
  link: {{rate: {rate}, length: 10m}}
  mtu: 4096
congestion_control: {{algorithm: dcqcn, profile: hpcc}}
"""
_PERMUTATION = "  - {kind: permutation, pattern: random, message: 1MiB, count: forever}\n"


def _incast(senders: int) -> str:
    names = ", ".join(f"h{host}" for host in range(1, senders + 1))
    return f"  - {{kind: incast, senders: [{names}], receiver: h0, message: 1MiB, count: forever}}\n"


def _scenario(name: str, *, k: int, duration: str, workload: str, more: str = "") -> Scenario:
    text = _FABRIC.format(name=name, duration=duration, k=k) + more + "workload:\n" + workload
    return parse_scenario(text, file=name)


def _roce_scenario(name: str, *, topology: str, rate: str, duration: str, workload: str) -> Scenario:
    text = _ROCE.format(name=name, topology=topology, rate=rate, duration=duration) + "workload:\n" + workload
    return parse_scenario(text, file=name)


def _roce_permutation() -> Measurement:
    return _measure_hops(
        _roce_scenario(
            "roce-permutation-128",
            topology="{generator: fat_tree, levels: 3, k: 8}",
            rate="400Gb/s",
            duration="2ms",
            workload=_PERMUTATION,
        )
    )


def _roce_incast() -> Measurement:
    """Seconds for 127 senders of 2 MB each at 100 Gb/s, until the last byte is acknowledged."""
    senders = "  - {kind: incast, senders: all, receiver: h0, message: 2MB, count: 1}\n"
    scenario = _roce_scenario(
        "roce-incast-127",
        topology="{generator: fat_tree, levels: 2, leaves: 8, hosts_per_leaf: 16, spines: 16}",
        rate="100Gb/s",
        duration="100ms",
        workload=senders,
    )
    open_simulation(scenario).run(WARM_UP_PS)
    seconds: list[float] = []
    for _ in range(REPEATS):
        started_s = time.perf_counter()
        simulation = open_simulation(scenario)
        simulation.run()
        seconds.append(time.perf_counter() - started_s)
    result = simulation.result()
    return Measurement(seconds, {"stopped": result["stopped"], "fabric_time_ns": result["fabric_time_ns"]})


def _measure(name: str, *, k: int, duration: str, workload: str, more: str = "") -> Measurement:
    return _measure_hops(_scenario(name, k=k, duration=duration, workload=workload, more=more))


def _measure_hops(scenario: Scenario) -> Measurement:
    open_simulation(scenario).run(WARM_UP_PS)
    speeds: list[float] = []
    for _ in range(REPEATS):
        simulation = open_simulation(scenario)
        started_s = time.process_time()
        simulation.run()
        cpu_s = time.process_time() - started_s
        result = simulation.result()
        speeds.append(result["packet_hops"] / cpu_s)
    details = {
        "packet_hops": result["packet_hops"],
        "events_per_hop": round(result["engine_events"] / result["packet_hops"], 4),
        "peak_rss_bytes": peak_rss_bytes(),
        "digest": result["digest"],
    }
    return Measurement(speeds, details)


def engine_cases() -> tuple[Case, ...]:
    """The cases, fastest first."""
    return (
        Case(
            "permutation-128",
            UNIT,
            10e6,
            True,
            partial(_measure, "permutation-128", k=8, duration="2ms", workload=_PERMUTATION),
            (
                Peer("htsim (Broadcom), RoCE + PFC, 4096 B, 100 Gb/s", 2.00e6, _OURS),
                Peer("htsim (Ultra Ethernet), RoCE + PFC, 4096 B, 400 Gb/s", 1.74e6, _OURS),
                Peer("ns-3.39, DCQCN + PFC, 1000 B, 100 Gb/s", 0.35e6, _OURS),
            ),
        ),
        Case(
            "incast-32",
            UNIT,
            3.28e6,
            True,
            partial(_measure, "incast-32", k=8, duration="20ms", workload=_incast(32)),
            (
                Peer("htsim (Broadcom), RoCE + PFC, 4096 B, 100 Gb/s", 3.28e6, _OURS),
                Peer("ns-3.39, DCQCN + PFC, 1000 B, 100 Gb/s", 0.47e6, _OURS),
            ),
        ),
        Case(
            "ib-cca-20-flows",
            UNIT,
            6e6,
            True,
            partial(
                _measure,
                "ib-cca-20-flows",
                k=8,
                duration="2ms",
                workload=_PERMUTATION * 20,
                more="congestion_control: {algorithm: ib_cca}\n",
            ),
            (Peer("htsim (Ultra Ethernet), HPCC + PFC, 4096 B, 100 Gb/s", 1.20e6, _OURS),),
        ),
        Case(
            "roce-permutation-128",
            UNIT,
            6e6,
            True,
            _roce_permutation,
            (
                Peer("htsim (Broadcom), RoCE + PFC, 4096 B, 100 Gb/s", 2.00e6, _OURS),
                Peer("ns-3.39, DCQCN + PFC, 1000 B, 100 Gb/s", 0.35e6, _OURS),
            ),
        ),
        Case("roce-incast-127", "s", 2.0, False, _roce_incast),
        Case(
            "permutation-1024",
            UNIT,
            7e6,
            True,
            partial(_measure, "permutation-1024", k=16, duration="500us", workload=_PERMUTATION),
            (Peer("htsim (Ultra Ethernet), NSCC, 4096 B, 100 Gb/s", 0.30e6, _OURS),),
        ),
    )
