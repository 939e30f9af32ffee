# SPDX-License-Identifier: Apache-2.0
"""Which rows of the engine's arrays a shard exports, and the labels of their series.

Worked out once for a plan; a scrape only picks and prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np

from fabrictwin.engine.codes import LogKind, QpState
from fabrictwin.engine.plan import PRIORITIES, Plan
from fabrictwin.model.fabric import NodeKind, PortRef
from fabrictwin.telemetry.catalogue import MOST_FLOWS
from fabrictwin.telemetry.metric import LABELS, TECHNOLOGY, Rows


class Layout:
    """The rows of a shard. Ports stand in the order of the fabric; uncabled ones are left out.

    Args:
        plan: Names of the rows.
        owned: [nodes] bool, the nodes of the shard.

    Attributes:
        ports: [n] index of each exported port in the arrays; "position" below is a place in this list.
        pvs: [n * vls] index of each of their VLs.
        requesters: Queue pairs whose sender is here.
        responders: Queue pairs whose receiver is here.
        ranks: Ranks that run here.
        switch_ports: Positions of the switches' ports.
        hca_ports: Positions of the HCAs' ports.
        flows_sent: The flows, among those that have series, that are sent from here.
        flows_received: Those that are received here.
        workloads: Jobs that have ranks here.
        lossless: Priorities that PFC protects.
        switches: Switches that are here and have a cable.
    """

    def __init__(self, plan: Plan, owned: np.ndarray) -> None:
        self.plan, self.owned = plan, owned
        fabric = plan.scenario.fabric
        self.ends: list[PortRef] = sorted(end for end in fabric.link_at if owned[end.node])
        self.ports = np.array([plan.ports.of(end) for end in self.ends], np.int64)
        self.pvs = plan.lanes(self.ports)
        is_switch = np.array([fabric.nodes[end.node].kind is NodeKind.SWITCH for end in self.ends], bool)
        self.switch_ports = np.flatnonzero(is_switch)
        self.hca_ports = np.flatnonzero(~is_switch)
        self.switches = sorted({self.ends[position].node for position in self.switch_ports})
        self.lossless = sorted(plan.scenario.qos.lossless)
        self.requesters = self._queue_pairs("src")
        self.responders = self._queue_pairs("dst")
        named = range(min(len(plan.flows), MOST_FLOWS))
        self.flows_sent = [i for i in named if owned[plan.flows[i][1].src.node]]
        self.flows_received = [i for i in named if owned[plan.flows[i][1].dst.node]]
        nodes = [plan.scenario.jobs[job].programs[number].node for job, number in plan.ranks]
        self.ranks = np.flatnonzero(owned[np.array(nodes, np.int64)])
        self.workloads = sorted({plan.ranks[rank][0] for rank in self.ranks.tolist()})

    def _queue_pairs(self, end: str) -> np.ndarray:
        nodes = np.array([getattr(flow, end).node for _, flow in self.plan.flows], np.int64)
        return np.flatnonzero(np.repeat(self.owned[nodes], np.diff(self.plan.first_qp)))

    @cached_property
    def position_of(self) -> np.ndarray:
        """[ports of the fabric] position of a port, -1: not exported here."""
        position = np.full(self.plan.ports.total, -1, np.int64)
        position[self.ports] = np.arange(len(self.ports))
        return position

    @cached_property
    def enabled_rates(self) -> np.ndarray:
        """[n] bytes per second that the link of each port was cabled for."""
        links = self.plan.scenario.fabric.link_at
        return np.array([links[end].rate_bps // 8 for end in self.ends], np.int64)

    @cached_property
    def switch_of_port(self) -> np.ndarray:
        """[switch ports] which of the shard's switches has it."""
        nodes = [self.ends[position].node for position in self.switch_ports]
        return np.unique(np.array(nodes, np.int64), return_inverse=True)[1]

    def labels(self, rows: Rows) -> list[str]:
        """The label part of each series, braces included; none of rows that another technology has."""
        technology = self.plan.scenario.fabric.technology
        if TECHNOLOGY.get(rows, technology) is not technology:
            return []
        values = _VALUES[rows](self)
        return [_braces(LABELS[rows], row) for row in values]

    def _guid(self, end: PortRef) -> str:
        return f"0x{self.plan.scenario.fabric.nodes[end.node].port_guid(end.port):016x}"

    def _ports(self, positions: Iterable[int]) -> list[tuple[str, ...]]:
        return [(self._guid(end), str(end.port)) for end in (self.ends[at] for at in positions)]

    def _lid(self, end: PortRef) -> str:
        """LID of an HCA's port or of a switch's port 0."""
        fabric = self.plan.scenario.fabric
        if fabric.nodes[end.node].kind is NodeKind.SWITCH:
            end = PortRef(end.node, 0)
        return str(self.plan.forwarding.lid_of.get(end, 0))

    def _switches(self) -> list[tuple[str, ...]]:
        ends = [PortRef(node, 1) for node in self.switches]
        names = self.plan.scenario.fabric.nodes
        return [(self._guid(end), names[end.node].name, self._lid(end)) for end in ends]

    def _hcas(self) -> list[tuple[str, ...]]:
        ends = [self.ends[position] for position in self.hca_ports]
        names = self.plan.scenario.fabric.nodes
        return [(self._guid(end), names[end.node].name, self._lid(end)) for end in ends]

    def _devices(self) -> list[tuple[str, ...]]:
        nodes = self.plan.scenario.fabric.nodes
        ends = [self.ends[position] for position in self.hca_ports]
        return [(nodes[end.node].name, str(end.port), self._guid(end)) for end in ends]

    def _device_names(self) -> list[tuple[str, ...]]:
        """node_exporter's labels; a simulated adapter has neither board nor firmware."""
        nodes = self.plan.scenario.fabric.nodes
        here = sorted({self.ends[position].node for position in self.hca_ports})
        return [(nodes[index].name, "", "", nodes[index].model) for index in here]

    def _priorities(self, priorities: Iterable[int]) -> list[tuple[str, ...]]:
        return _times(self._ports(range(len(self.ends))), map(str, priorities))

    def _uplinks(self, positions: Iterable[int]) -> list[tuple[str, ...]]:
        fabric = self.plan.scenario.fabric
        rows: list[tuple[str, ...]] = []
        for end in (self.ends[position] for position in positions):
            other = fabric.link_at[end].other(end)
            peer = fabric.nodes[other.node]
            kind = "SW" if peer.kind is NodeKind.SWITCH else "CA"
            rows.append(
                (
                    *(self._guid(end), str(end.port), fabric.nodes[end.node].name),
                    *(peer.name, self._guid(other), kind, str(other.port), self._lid(other)),
                )
            )
        return rows

    def _port_names(self) -> list[tuple[str, ...]]:
        fabric = self.plan.scenario.fabric
        rows: list[tuple[str, ...]] = []
        for end in self.ends:
            node, other = fabric.nodes[end.node], fabric.link_at[end].other(end)
            peer = fabric.nodes[other.node].name
            rows.append((self._guid(end), str(end.port), node.name, str(node.kind), peer, str(other.port)))
        return rows

    def _flows(self, flows: Iterable[int]) -> list[tuple[str, ...]]:
        nodes = self.plan.scenario.fabric.nodes
        listed = (self.plan.flows[index][1] for index in flows)
        return [(flow.name, nodes[flow.src.node].name, nodes[flow.dst.node].name) for flow in listed]

    def _workloads(self) -> list[tuple[str, ...]]:
        jobs = self.plan.scenario.jobs
        return [(jobs[index].name, jobs[index].kind) for index in self.workloads]


def _times(rows: list[tuple[str, ...]], values: Iterable[str]) -> list[tuple[str, ...]]:
    more = list(values)
    return [(*row, value) for row in rows for value in more]


_VALUES: dict[Rows, Callable[[Layout], list[tuple[str, ...]]]] = {
    Rows.SERVICE: lambda layout: [()],
    Rows.SWITCH: lambda layout: [row[:1] for row in layout._switches()],
    Rows.SWITCH_NAMES: Layout._switches,
    Rows.SWITCH_PORT: lambda layout: layout._ports(layout.switch_ports),
    Rows.SWITCH_UPLINK: lambda layout: layout._uplinks(layout.switch_ports),
    Rows.HCA: lambda layout: [row[:1] for row in layout._hcas()],
    Rows.HCA_NAMES: Layout._hcas,
    Rows.HCA_PORT: lambda layout: layout._ports(layout.hca_ports),
    Rows.HCA_UPLINK: lambda layout: layout._uplinks(layout.hca_ports),
    Rows.HCA_QP_STATE: lambda layout: _times(
        layout._ports(layout.hca_ports), [state.name.lower() for state in QpState]
    ),
    Rows.PORT: lambda layout: layout._ports(range(len(layout.ends))),
    Rows.PORT_NAMES: Layout._port_names,
    Rows.PORT_VL: lambda layout: layout._priorities(range(layout.plan.vls - 1)),
    Rows.DEVICE: Layout._devices,
    Rows.DEVICE_NAMES: Layout._device_names,
    Rows.INFINIBAND_PORT: lambda layout: layout._ports(range(len(layout.ends))),
    Rows.INFINIBAND_HCA_PORT: lambda layout: layout._ports(layout.hca_ports),
    Rows.INFINIBAND_VL: lambda layout: layout._priorities(range(layout.plan.vls - 1)),
    Rows.ROCE_PORT: lambda layout: layout._ports(range(len(layout.ends))),
    Rows.ROCE_DEVICE: Layout._devices,
    Rows.ROCE_HCA_PORT: lambda layout: layout._ports(layout.hca_ports),
    Rows.ROCE_PRIORITY: lambda layout: layout._priorities(range(PRIORITIES)),
    Rows.LOSSLESS: lambda layout: layout._priorities(layout.lossless),
    Rows.SWITCH_BUFFER: lambda layout: [row[:1] for row in layout._switches()],
    Rows.FLOW_SENT: lambda layout: layout._flows(layout.flows_sent),
    Rows.FLOW_RECEIVED: lambda layout: layout._flows(layout.flows_received),
    Rows.WORKLOAD: Layout._workloads,
    Rows.EVENT: lambda layout: [(kind.name.lower(),) for kind in LogKind],
}


def _braces(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    if not names:
        return ""
    pairs = ",".join(f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + pairs + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
