# SPDX-License-Identifier: Apache-2.0
"""What one run of a comparison gave: the numbers of its row, and the curves of its charts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fabrictwin.engine.readout import Readout
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_NS

PERCENTILES = {"p50": 50.0, "p99": 99.0, "max": 100.0}
CURVE_POINTS = 400


@dataclass(frozen=True)
class Outcome:
    """What a run gave.

    Attributes:
        row: Plain values, as they stand in the JSON result.
        times_ps: [samples] fabric times.
        delivered_bytes: [samples] payload delivered by then.
        latencies_ps: [points] message latencies in ascending order, thinned out evenly.
    """

    row: dict[str, Any]
    times_ps: np.ndarray = field(repr=False)
    delivered_bytes: np.ndarray = field(repr=False)
    latencies_ps: np.ndarray = field(repr=False)


def run_scenario(scenario: Scenario, until_ps: int | None = None) -> Outcome:
    """Runs a scenario to its end.

    Args:
        scenario: The scenario.
        until_ps: Stop at this fabric time, if earlier.
    """
    simulation = open_simulation(scenario)
    simulation.run(until_ps)
    result, readout = simulation.result(), simulation.readout()
    latencies_ps = np.sort(simulation.message_latencies_ps)
    row = {
        **_describe_setting(scenario),
        "stopped": result["stopped"],
        "deadlock": result["deadlock"],
        "fabric_time_ns": result["fabric_time_ns"],
        "goodput_bps": _describe_goodput(result["flows"]),
        "messages": len(latencies_ps),
        "latency_ns": _describe_latencies(latencies_ps),
        "held_back": _describe_held_back(result),
        **_pick(result["totals"]),
        "jobs": _describe_jobs(result, simulation, readout),
        "packet_hops": result["packet_hops"],
        "digest": result["digest"],
    }
    return Outcome(
        row,
        simulation.samples.times_ps,
        simulation.samples.delivered_bytes.sum(axis=1),
        thin_out(latencies_ps, CURVE_POINTS),
    )


def thin_out(ordered: np.ndarray, points: int) -> np.ndarray:
    """At most so many values of an ordered array, its ends included, evenly spaced by rank."""
    if len(ordered) <= points:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, points).round().astype(np.int64)]


def _describe_setting(scenario: Scenario) -> dict[str, Any]:
    roce = scenario.fabric.technology is Technology.ROCE
    return {
        "technology": scenario.fabric.technology.value,
        "switch_model": next(iter(scenario.switch_models)),
        "hca_model": next(iter(scenario.hca_models)),
        "routing": scenario.routing.engine + (", spraying" if scenario.routing.spraying else ""),
        "flow_control": ("pfc" if scenario.qos.lossless else "none") if roce else "credits",
        "congestion_control": scenario.congestion_control.algorithm,
    }


def _describe_goodput(flows: list[dict[str, Any]]) -> dict[str, Any]:
    slowest = min(flows, key=lambda flow: (flow["goodput_bps"], flow["name"]), default=None)
    return {
        "sum": sum(flow["goodput_bps"] for flow in flows),
        "mean": sum(flow["goodput_bps"] for flow in flows) / len(flows) if flows else 0.0,
        "min": slowest["goodput_bps"] if slowest else 0.0,
        "slowest_flow": slowest["name"] if slowest else None,
    }


def _describe_latencies(ordered_ps: np.ndarray) -> dict[str, float] | None:
    if len(ordered_ps) == 0:
        return None
    at = np.percentile(ordered_ps, list(PERCENTILES.values()), method="inverted_cdf")
    return {name: float(value) / PS_PER_NS for name, value in zip(PERCENTILES, at, strict=True)}


def _describe_held_back(result: dict[str, Any]) -> dict[str, Any]:
    """Time without credits, or paused: as a share of the time of all links, and of the worst one."""
    end_ns = result["fabric_time_ns"]
    ports = [port for port in result["ports"] if port["peer"] is not None]
    waits = [port["port_xmit_wait"] + port["pfc_paused_ns"] for port in ports]
    if not waits or not end_ns:
        return {"mean": 0.0, "max": 0.0, "worst_port": None}
    worst = max(range(len(ports)), key=lambda index: waits[index])
    return {
        "mean": sum(waits) / (len(waits) * end_ns),
        "max": waits[worst] / end_ns,
        "worst_port": f"{ports[worst]['node']}/{ports[worst]['port']}" if waits[worst] else None,
    }


def _pick(totals: dict[str, int]) -> dict[str, int]:
    names = ("dropped_packets", "lossless_drops", "retransmitted_packets", "failed_messages")
    more = ("xmit_wait_ns", "pfc_paused_ns", "pfc_pause_sent", "becn_received", "cnp_received")
    return {
        **{name: totals[name] for name in names},
        "marked_packets": totals["fecn_marked"] + totals["ecn_marked"],
        **{name: totals[name] for name in more},
    }


def _describe_jobs(result: dict[str, Any], simulation: Simulation, readout: Readout) -> list[dict[str, Any]]:
    """Each job; ``completion_ns`` is from its first message to its last byte, null where it is not done."""
    plan = simulation.plan
    job_of_flow = np.array([job for job, _ in plan.flows], np.int64)
    job_of_rank = np.array([job for job, _ in plan.ranks], np.int64)
    requesters = readout.requesters
    pending = requesters.posted - requesters.completed - requesters.failed
    rows = []
    for index, job in enumerate(result["jobs"]):
        own = np.flatnonzero(job_of_flow == index)
        flows = [result["flows"][flow] for flow in own]
        left = sum(int(pending[plan.first_qp[flow] : plan.first_qp[flow + 1]].sum()) for flow in own)
        done = left == 0 and bool(readout.ranks.done[job_of_rank == index].all())
        moved = [flow for flow in flows if flow["messages"]]
        spent = max((flow["last_ns"] for flow in moved), default=0.0) - min(
            (flow["first_ns"] for flow in moved), default=0.0
        )
        rows.append(
            {
                **{name: job[name] for name in ("name", "kind", "iterations", "algbw_bps", "busbw_bps")},
                "goodput_bps": sum(flow["goodput_bps"] for flow in flows),
                "completion_ns": spent if done else None,
            }
        )
    return rows
