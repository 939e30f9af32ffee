# SPDX-License-Identifier: Apache-2.0
"""Small cases by hand: a fabric from a list of cables, with shortest paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology
from fabrictwin.model.hardware import HcaModel, SwitchModel
from fabrictwin.model.hardware.native import NATIVE_HCA, NATIVE_IB
from fabrictwin.model.program import Flow, Instruction, Job, Op, Program
from fabrictwin.units import PS_PER_NS, PS_PER_US
from reference.case import Case

RATE_BPS = 400_000_000_000
LENGTH_MM = 10_000

SWITCH = replace(
    NATIVE_IB,
    forwarding_latency_ps=200 * PS_PER_NS,
    buffer_per_vl_bytes=8 * 1088,
    hoq_life_ps=None,
    leaf_hoq_life_ps=None,
)
HCA = replace(
    NATIVE_HCA,
    tx_latency_ps=300 * PS_PER_NS,
    rx_latency_ps=200 * PS_PER_NS,
    ack_timeout_ps=100 * PS_PER_US,
    receive_buffer_bytes=8 * 1088,
)

Cable = tuple[str, str] | tuple[str, str, int]
"""Both ends as ``node/port``, and the rate in bit/s where it is not :data:`RATE_BPS`."""


def build_fabric(cables: Sequence[Cable]) -> Fabric:
    """A fabric of 10 m cables; a node whose name begins with ``h`` is an HCA."""
    most: dict[str, int] = {}
    for cable in cables:
        for end in cable[:2]:
            name, _, port = str(end).partition("/")
            most[name] = max(most.get(name, 0), int(port))
    names = sorted(most, key=lambda name: (not name.startswith("h"), name))
    nodes = tuple(
        Node(name, NodeKind.HCA if name.startswith("h") else NodeKind.SWITCH, index + 1, most[name], "")
        for index, name in enumerate(names)
    )

    def port_of(end: str) -> PortRef:
        name, _, port = end.partition("/")
        return PortRef(names.index(name), int(port))

    links = []
    for first, second, *rate in cables:
        a, b = sorted((port_of(first), port_of(second)))
        links.append(Link(a, b, int(rate[0]) if rate else RATE_BPS, LENGTH_MM))
    return Fabric(Technology.INFINIBAND, nodes, tuple(links))


def shortest_paths(fabric: Fabric, lids: dict[PortRef, int]) -> dict[int, dict[int, int]]:
    """Forwarding tables along shortest paths, the lowest port of those that are as short."""
    tables: dict[int, dict[int, int]] = {switch: {} for switch in fabric.switches}
    for target, lid in lids.items():
        first = fabric.link_at[target].other(target)
        queue = deque([first])
        while queue:
            end = queue.popleft()
            if end.node not in tables or lid in tables[end.node]:
                continue
            tables[end.node][lid] = end.port
            for port in range(1, fabric.nodes[end.node].ports + 1):
                link = fabric.link_at.get(PortRef(end.node, port))
                if link is not None:
                    queue.append(link.other(PortRef(end.node, port)))
    return tables


def build_case(
    cables: Sequence[Cable],
    jobs: Sequence[Job],
    switch: SwitchModel = SWITCH,
    hca: HcaModel = HCA,
    mtu_bytes: int = 1024,
    **more: Any,
) -> Case:
    """A case in which all switches are alike and all HCAs are alike."""
    fabric = build_fabric(cables)
    hca_ports = sorted(end for end in fabric.link_at if end.node in fabric.hcas)
    lids = {end: number + 1 for number, end in enumerate(hca_ports)}
    return Case(
        fabric=fabric,
        switches=dict.fromkeys(fabric.switches, switch),
        hcas=dict.fromkeys(fabric.hcas, hca),
        mtu_bytes=mtu_bytes,
        jobs=jobs,
        lft=more.pop("lft", None) or shortest_paths(fabric, lids),
        lids=lids,
        **more,
    )


def stream(src: int, dst: int, size_bytes: int, count: int = 1, sl: int = 0, start_ps: int = 0) -> Job:
    """Messages one after the other from port 1 of an HCA to port 1 of another, by node index."""
    flow = Flow(f"{src}-{dst}", PortRef(src, 1), PortRef(dst, 1), sl)
    program = (
        Instruction(Op.POST, 0, size_bytes),
        Instruction(Op.WAIT_SENT, 0),
        Instruction(Op.LOOP, 0, count),
        Instruction(Op.END),
    )
    return Job(flow.name, "stream", (flow,), (Program(src, program, start_ps),))
