# SPDX-License-Identifier: Apache-2.0
"""A made-up run in the shape that the engine gives: a link fails half way, queues grow, credits run out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrictwin.units import PS_PER_MS, PS_PER_NS

HOSTS = 16
STEPS = 200
END_PS = 2 * PS_PER_MS
FAILS_PS = END_PS // 2
RATE_BPS = 400 * 10**9


@dataclass
class ExampleSamples:
    """The fields of the engine's samples."""

    times_ps: NDArray[np.int64]
    port_xmit_bytes: NDArray[np.int64]
    queued_bytes: NDArray[np.int64]
    xmit_wait_ps: NDArray[np.int64]
    delivered_bytes: NDArray[np.int64]
    ports: list[dict[str, Any]] = field(default_factory=list)


def _ports() -> list[dict[str, Any]]:
    names = [(f"h{host}", 1, f"leaf{host // 4}/{host % 4 + 1}") for host in range(HOSTS)]
    names += [(f"leaf{host // 4}", host % 4 + 1, f"h{host}/1") for host in range(HOSTS)]
    for leaf in range(4):
        for spine in range(4):
            names.append((f"leaf{leaf}", 5 + spine, f"spine{spine}/{leaf + 1}"))
            names.append((f"spine{spine}", leaf + 1, f"leaf{leaf}/{5 + spine}"))
    return [
        {
            "node": node,
            "port": port,
            "guid": f"0x{index:016x}",
            "peer": peer,
            "rate_bps": RATE_BPS,
            "state": "active",
        }
        for index, (node, port, peer) in enumerate(names)
    ]


def example_samples() -> ExampleSamples:
    """Samples in which the ports of spine1 stop half way and those of the others congest."""
    generator = np.random.default_rng(1)
    ports = _ports()
    times_ps = np.linspace(END_PS // STEPS, END_PS, STEPS).astype(np.int64)
    after = (times_ps > FAILS_PS)[:, None]
    dead = np.array(["spine1" in (port["node"] + (port["peer"] or "")) for port in ports])
    switch = np.array([port["node"][0] in "ls" for port in ports])
    load = generator.uniform(0.55, 0.75, (STEPS, len(ports))) * generator.uniform(0.6, 1.3, len(ports))
    load = np.where(after & dead, 0, np.where(after & switch, load * 1.25, load)).clip(0, 1)
    hot = after & switch & ~dead & (np.arange(len(ports)) % 3 == 0)
    queued = generator.exponential(9_000, load.shape) * switch + hot * generator.uniform(4e4, 9e4, load.shape)
    wait = hot * generator.uniform(0.2, 0.6, load.shape) + generator.uniform(0, 0.02, load.shape)
    kept = np.where(after, generator.uniform(0.1, 1, 2 * HOSTS), 1)
    flows = generator.uniform(0.5, 0.9, (STEPS, 2 * HOSTS)) * kept
    step_s = END_PS / STEPS / 1e12
    return ExampleSamples(
        times_ps=times_ps,
        port_xmit_bytes=np.cumsum(load * RATE_BPS / 8 * step_s, axis=0).astype(np.int64),
        queued_bytes=queued.astype(np.int64),
        xmit_wait_ps=np.cumsum(wait * END_PS / STEPS, axis=0).astype(np.int64),
        delivered_bytes=np.cumsum(flows * RATE_BPS / 16 * step_s, axis=0).astype(np.int64),
        ports=ports,
    )


def example_latencies_ps() -> NDArray[np.int64]:
    """Message latencies with a long tail."""
    generator = np.random.default_rng(2)
    return (generator.lognormal(3.3, 0.5, 5_000) * 1e6).astype(np.int64)


def _flow(index: int, delivered: int) -> dict[str, Any]:
    kind = "perm" if index < HOSTS else "ring"
    return {
        "name": f"{kind}:h{index % HOSTS}>h{(index + 5) % HOSTS}",
        "src": f"h{index % HOSTS}",
        "dst": f"h{(index + 5) % HOSTS}",
        "sl": 0,
        "messages": 150,
        "bytes": delivered,
        "first_ns": 0,
        "last_ns": END_PS // PS_PER_NS,
        "goodput_bps": delivered * 8 * 500,
        "latency_ns": {"min": 21_000, "mean": 31_000, "p50": 27_000, "p99": 85_000, "max": 190_000},
        "retransmitted_packets": index % 3,
        "rate_limited_ns": 0,
    }


def _event(kind: str, node: str, port: int) -> dict[str, Any]:
    return {"fabric_ns": 1_000_000, "source": "switch_node", "kind": kind, "node": node, "port": port}


def example_flow_jobs() -> list[str]:
    """The job of each flow of the example."""
    return ["perm"] * HOSTS + ["ring"] * HOSTS


def example_result() -> dict[str, Any]:
    """A result of schema ``fabrictwin.result/1`` that belongs to the example samples."""
    samples = example_samples()
    sent, waited = samples.port_xmit_bytes[-1], samples.xmit_wait_ps[-1]
    ports = [
        port
        | {"port_xmit_data": int(sent[index]), "port_xmit_wait": int(waited[index]) // PS_PER_NS}
        | {"pfc_paused_ns": 0}
        for index, port in enumerate(samples.ports)
    ]
    flows = [_flow(index, int(count)) for index, count in enumerate(samples.delivered_bytes[-1])]
    return {
        "schema": "fabrictwin.result/1",
        "scenario": {"name": "example", "sha256": "ab" * 32, "seed": 7},
        "fabric": {"technology": "infiniband", "switches": 8, "hcas": HOSTS, "links": 32},
        "fabric_time_ns": END_PS // PS_PER_NS,
        "stopped": "duration",
        "wall_s": 1.5,
        "startup_s": 0.25,
        "packet_hops": 12_000_000,
        "engine_events": 15_000_000,
        "peak_rss_bytes": 300 * 2**20,
        "digest": "cd" * 32,
        "flows": flows,
        "ports": ports,
        "totals": {
            "packets": 3_000_000,
            "bytes": sum(flow["bytes"] for flow in flows),
            "dropped_packets": 12,
            "fecn_marked": 0,
            "retransmitted_packets": 31,
        },
        "deadlock": None,
        "jobs": [
            {
                "name": "ring",
                "kind": "all_reduce",
                "iterations": 2,
                "iteration_ns": [700_000, 950_000],
                "algbw_bps": 180e9,
                "busbw_bps": 337.5e9,
            }
        ],
        "events": [
            _event("link_down", "leaf0", 6) | {"peer": "spine1/1"},
            _event("link_down", "leaf1", 6) | {"peer": "spine1/2"},
            {"fabric_ns": 1_100_000, "source": "subnet_manager", "kind": "rerouted", "lft_blocks": 14},
        ],
    }
