# SPDX-License-Identifier: Apache-2.0
"""Counters of ports and totals of flows of the oracle, under the names of the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabrictwin.model.program import Flow
from fabrictwin.units import PS_PER_NS
from reference.fabric import OracleFabric
from reference.port import Port
from reference.queue_pair import QueuePair

COUNTERS = (
    "port_xmit_data",
    "port_xmit_pkts",
    "port_xmit_discards",
    "port_rcv_data",
    "port_rcv_pkts",
    "port_rcv_errors",
    "port_rcv_switch_relay_errors",
    "symbol_error_counter",
    "local_link_integrity_errors",
    "link_downed_counter",
    "vl15_dropped",
    "port_mark_fecn",
    "port_pkt_rcv_fecn",
    "port_pkt_rcv_becn",
    "flow_control_packets",
)
"""Counters that a port of the oracle keeps under the result's own names."""

Totals = dict[str, dict[str, Any]]
"""Values by what they belong to: a port or a flow."""


def oracle_totals(fabric: OracleFabric, until_ps: int) -> Totals:
    """Of every cabled port and every flow, at a fabric time whose own events have not happened yet."""
    names = [node.name for node in fabric.world.case.fabric.nodes]
    ports = {f"{names[end.node]}/{end.port}": _of_port(port, until_ps) for end, port in fabric.ports.items()}
    return ports | {flow.name: _of_flow(flow, pairs) for flow, pairs in fabric.flows}


def _of_port(port: Port, until_ps: int) -> dict[str, Any]:
    wait_ns = port.waited_ps(until_ps) // PS_PER_NS
    return {name: port.counters[name] for name in COUNTERS} | {"port_xmit_wait": wait_ns}


def _of_flow(flow: Flow, pairs: list[QueuePair]) -> dict[str, Any]:
    starts = [pair.first_ps for pair in pairs if pair.first_ps is not None]
    first_ps = min(starts, default=0)
    complete = [message for pair in pairs for message in pair.messages if message.in_memory_ps is not None]
    latencies = sorted((message.in_memory_ps or 0) - message.posted_ps for message in complete)
    return {
        "messages": len(complete) // flow.qps,
        "bytes": sum(pair.delivered_bytes for pair in pairs),
        "first_ns": first_ps / PS_PER_NS,
        "last_ns": max(first_ps, *(pair.last_ps for pair in pairs)) / PS_PER_NS,
        "mean_latency_ns": sum(latencies) // len(latencies) / PS_PER_NS if latencies else None,
        "max_latency_ns": latencies[-1] / PS_PER_NS if latencies else None,
        "failed_messages": sum(pair.failed_messages for pair in pairs),
        "retransmitted_packets": sum(pair.retransmitted for pair in pairs),
        "rate_limited_ns": sum(pair.limited_ps for pair in pairs) / PS_PER_NS,
    }


def result_totals(result: Mapping[str, Any]) -> Totals:
    """The same of a result."""
    names = (*COUNTERS, "port_xmit_wait")
    ports = {
        f"{port['node']}/{port['port']}": {name: port[name] for name in names}
        for port in result["ports"]
        if port["peer"] is not None
    }
    return ports | {flow["name"]: _of_result_flow(flow) for flow in result["flows"]}


def _of_result_flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    names = ("messages", "bytes", "first_ns", "last_ns", "failed_messages", "retransmitted_packets")
    latency = flow["latency_ns"] or {"mean": None, "max": None}
    return {name: flow[name] for name in (*names, "rate_limited_ns")} | {
        "mean_latency_ns": latency["mean"],
        "max_latency_ns": latency["max"],
    }


def different_totals(oracle: Totals, engine: Totals) -> str:
    """A line for each value that differs; empty where none does."""
    return "\n".join(
        f"{place} {name}: oracle {oracle[place].get(name)}, engine {value}"
        for place, values in engine.items()
        for name, value in values.items()
        if oracle[place].get(name) != value
    )
