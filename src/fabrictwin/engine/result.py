# SPDX-License-Identifier: Apache-2.0
"""The result of a run, ``fabrictwin.result/1``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine.codes import LogKind
from fabrictwin.engine.deadlock import Deadlock
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.port_counters import PORT_COUNTERS
from fabrictwin.engine.readout import Readout
from fabrictwin.model.fabric import NodeKind, PortRef, Technology
from fabrictwin.units import PS_PER_NS, PS_PER_S

SCHEMA = "fabrictwin.result/1"


def _ns(time_ps: int) -> float:
    return time_ps / PS_PER_NS


def _rate(size_bytes: int, time_ps: int) -> float:
    """Bit/s."""
    return 8 * size_bytes * PS_PER_S / time_ps if time_ps > 0 else 0.0


def describe_run(
    readout: Readout, end_ps: int, stopped: str, deadlock: Deadlock | None, ports: list[dict[str, Any]]
) -> dict[str, Any]:
    """The result of a run that has stopped.

    Args:
        readout: The settled arrays.
        end_ps: Fabric time of the end.
        stopped: Why it ended.
        deadlock: The deadlock that it is in.
        ports: What :func:`describe_ports` said.
    """
    plan = readout.plan
    scenario, fabric = plan.scenario, plan.scenario.fabric
    flows = describe_flows(readout)
    return {
        "schema": SCHEMA,
        "scenario": {"name": scenario.name, "sha256": scenario.sha256, "seed": scenario.seed},
        "fabric": {
            "technology": str(fabric.technology),
            "switches": len(fabric.switches),
            "hcas": len(fabric.hcas),
            "links": len(fabric.links),
        },
        "fabric_time_ns": _ns(end_ps),
        "stopped": stopped,
        "packet_hops": readout.total("packet_hops"),
        "events": _describe_events(readout),
        "engine_events": readout.total("events"),
        "digest": readout.digest(end_ps),
        "flows": flows,
        "ports": ports,
        "totals": _describe_totals(readout, flows),
        "deadlock": None
        if deadlock is None or stopped != "deadlock"
        else {"cycle": list(deadlock.cycle), "since_ns": _ns(deadlock.since_ps)},
        "jobs": _describe_jobs(readout),
    }


def describe_ports(readout: Readout) -> list[dict[str, Any]]:
    """Every port with its counters, in the order of the fabric."""
    plan, fabric = readout.plan, readout.plan.scenario.fabric
    columns = {name: readout.counter(name).tolist() for name in PORT_COUNTERS}
    columns["port_xmit_wait"] = (readout.xmit_wait_ps // PS_PER_NS).tolist()
    columns["pfc_paused_ns"] = (readout.paused_ps // PS_PER_NS).tolist()
    port = readout.by_port("port")
    rows: list[dict[str, Any]] = []
    for index, node in enumerate(fabric.nodes):
        for number in range(1, node.ports + 1):
            end = PortRef(index, number)
            at = plan.ports.of(end)
            link = fabric.link_at.get(end)
            rows.append(
                {
                    "node": node.name,
                    "port": number,
                    "guid": f"0x{node.port_guid(number):016x}",
                    "peer": fabric.port_name(link.other(end)) if link else None,
                    "rate_bps": 8 * 10**15 // int(port.fs_per_byte[at]) if link else 0,
                    "state": "active" if port.up[at] else "down",
                    **{name: column[at] for name, column in columns.items()},
                }
            )
    return rows


def describe_flows(readout: Readout) -> list[dict[str, Any]]:
    """Every flow, in the order of the scenario; a message that is split over queue pairs is counted once."""
    plan = readout.plan
    requesters, responders = readout.requesters, readout.responders
    latencies = _latencies_by_flow(readout)
    names = [node.name for node in plan.scenario.fabric.nodes]
    rows = []
    for index, (_, flow) in enumerate(plan.flows):
        qps = slice(int(plan.first_qp[index]), int(plan.first_qp[index + 1]))
        began = requesters.first_ps[qps]
        first_ps = int(began[began >= 0].min()) if (began >= 0).any() else 0
        last_ps = max(int(responders.last_ps[qps].max()), first_ps)
        size = int(responders.bytes[qps].sum())
        rows.append(
            {
                "name": flow.name,
                "src": names[flow.src.node],
                "dst": names[flow.dst.node],
                "sl": int(requesters.sl[qps.start]),
                "messages": int(responders.messages[qps].sum()) // flow.qps,
                "bytes": size,
                "first_ns": _ns(first_ps),
                "last_ns": _ns(last_ps),
                "goodput_bps": _rate(size, last_ps - first_ps),
                "latency_ns": _describe_latency(latencies[index]),
                "failed_messages": int(requesters.failed[qps].sum()),
                "retransmitted_packets": int(requesters.retransmitted[qps].sum()),
                "rate_limited_ns": _ns(int(requesters.limited_ps[qps].sum())),
            }
        )
    return rows


def _latencies_by_flow(readout: Readout) -> list[np.ndarray]:
    """[flows] sorted latencies of each flow, in ps."""
    plan = readout.plan
    log = readout.log("latency", "latencies")
    flow_of_qp = np.repeat(np.arange(len(plan.flows)), np.diff(plan.first_qp))
    flow = flow_of_qp[log.qp] if len(log) else np.zeros(0, np.int64)
    order = np.lexsort([log.latency_ps, flow])
    bounds = np.searchsorted(flow[order], np.arange(len(plan.flows) + 1))
    latency = log.latency_ps[order]
    return [latency[bounds[index] : bounds[index + 1]] for index in range(len(plan.flows))]


def _describe_latency(ordered_ps: np.ndarray) -> dict[str, float] | None:
    """Statistics of sorted latencies; percentiles are those of the nearest rank."""
    count = len(ordered_ps)
    if count == 0:
        return None
    return {
        "min": _ns(int(ordered_ps[0])),
        "mean": _ns(int(ordered_ps.sum()) // count),
        "p50": _ns(int(ordered_ps[-(-count // 2) - 1])),
        "p99": _ns(int(ordered_ps[-(-count * 99 // 100) - 1])),
        "max": _ns(int(ordered_ps[-1])),
    }


def _describe_totals(readout: Readout, flows: list[dict[str, Any]]) -> dict[str, int]:
    def of_ports(array: str, field: str) -> int:
        return int(readout.by_port(array)[field].sum())

    roce = readout.plan.scenario.fabric.technology is Technology.ROCE
    discarded = of_ports("port_more", "xmit_discards") + of_ports("port_more", "relay_errors")
    hca = np.isin(readout.by_port("port").node, readout.plan.scenario.fabric.hcas)
    return {
        "packets": int(readout.by_port("port").xmit_pkts[hca].sum()),
        "bytes": sum(flow["bytes"] for flow in flows),
        "messages": sum(flow["messages"] for flow in flows),
        "dropped_packets": discarded
        + of_ports("port_more", "rcv_errors")
        + of_ports("port_more", "vl15_dropped"),
        "fecn_marked": 0 if roce else of_ports("port_more", "fecn_marked"),
        "becn_received": int(readout.by_port("port_more").becn_received[hca].sum()),
        "retransmitted_packets": sum(flow["retransmitted_packets"] for flow in flows),
        "failed_messages": sum(flow["failed_messages"] for flow in flows),
        "flow_control_packets": int(readout.per_port("pv_input", "fcps").sum()),
        "xmit_wait_ns": int(readout.xmit_wait_ps.sum()) // PS_PER_NS,
        **(_describe_ethernet_totals(readout) if roce else dict.fromkeys(ETHERNET_TOTALS, 0)),
    }


ETHERNET_TOTALS = (
    *("ecn_marked", "cnp_sent", "cnp_received"),
    *("pfc_pause_sent", "pfc_pause_received", "pfc_paused_ns", "lossless_drops"),
)
"""Totals that are 0 on InfiniBand."""


def _describe_ethernet_totals(readout: Readout) -> dict[str, int]:
    more = readout.by_port_vl("lane_more")
    return {
        "ecn_marked": int(readout.by_port("port_more").fecn_marked.sum()),
        "cnp_sent": int(readout.rates.cnps_sent.sum()),
        "cnp_received": int(readout.rates.cnps.sum()),
        "pfc_pause_sent": int(more.pauses_sent.sum()),
        "pfc_pause_received": int(more.pauses_heard.sum()),
        "pfc_paused_ns": int(readout.paused_ps.sum()) // PS_PER_NS,
        "lossless_drops": int(more.lossless_drops.sum()),
    }


def _describe_jobs(readout: Readout) -> list[dict[str, Any]]:
    plan = readout.plan
    marks = readout.log("mark", "marks")
    rank_job = np.array([job for job, _ in plan.ranks], np.int64)
    rows = []
    for index, job in enumerate(plan.scenario.jobs):
        ends_ps = _iteration_ends(marks, np.flatnonzero(rank_job == index))
        start_ps = min((program.start_ps for program in job.programs), default=0)
        lengths = np.diff([start_ps, *ends_ps])
        mean_ps = int(lengths.sum()) // len(lengths) if len(lengths) else 0
        algbw = _rate(job.iteration_bytes, mean_ps)
        numerator, denominator = job.bus_factor
        rows.append(
            {
                "name": job.name,
                "kind": job.kind,
                "iterations": len(ends_ps),
                "iteration_ns": [_ns(int(length)) for length in lengths],
                "algbw_bps": algbw if job.iteration_bytes else None,
                "busbw_bps": algbw * numerator / denominator if job.iteration_bytes else None,
            }
        )
    return rows


def _iteration_ends(marks: Any, ranks: np.ndarray) -> list[int]:
    """Fabric time at which the last rank of a job ended each iteration that all have ended."""
    if len(ranks) == 0:
        return []
    times = [np.sort(marks.at_ps[marks.rank == rank]) for rank in ranks]
    done = min(len(of_rank) for of_rank in times)
    return [int(max(of_rank[number] for of_rank in times)) for number in range(done)]


def _describe_events(readout: Readout) -> list[dict[str, Any]]:
    """What happened, in order of fabric time: the fabric's own events and the subnet manager's."""
    plan = readout.plan
    rows = [describe_event(plan, entry) for entry in readout.log("log", "log")]
    rows += [
        {"fabric_ns": _ns(at_ps), "source": "subnet_manager", "kind": kind, "text": text}
        for at_ps, kind, text, _ in sorted(
            readout.subnet_events, key=lambda event: (event.at_ps, event.manager)
        )
        if at_ps <= readout.now_ps
    ]
    return sorted(rows, key=lambda row: row["fabric_ns"])


def describe_event(plan: Plan, entry: Any) -> dict[str, Any]:
    """A record of LOG, as a line of the event log."""
    kind = LogKind(int(entry.kind))
    fabric = plan.scenario.fabric
    node = fabric.nodes[int(entry.node)]
    row: dict[str, Any] = {
        "fabric_ns": _ns(int(entry.at_ps)),
        "source": "hca_endpoint" if node.kind is NodeKind.HCA else "switch_node",
        "kind": kind.name.lower(),
        "node": node.name,
    }
    if kind is LogKind.LFT_WRITE:
        return row | {"block": int(entry.value)}
    if kind is LogKind.QP_ERROR:
        flow = int(np.searchsorted(plan.first_qp, int(entry.index), side="right")) - 1
        return row | {"flow": plan.flows[flow][1].name, "queue_pair": int(entry.index)}
    row["port"] = int(entry.index) - int(plan.ports.first[int(entry.node)]) + 1
    if kind is LogKind.FIRST_PACKET:
        lid = int(entry.value)
        target = fabric.nodes[plan.forwarding.port_of[lid].node].name
        return row | {"dlid": lid, "text": f"first packet on the new path to {target} (LID {lid})"}
    return row | {"value": int(entry.value)}
