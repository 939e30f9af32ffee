# SPDX-License-Identifier: Apache-2.0
"""What does not change while the arrays live: names and numbers for their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import NodeKind, PortRef, Technology
from fabrictwin.model.program import Flow
from fabrictwin.model.scenario import Scenario

PRIORITIES = 8
"""Of IEEE 802.1p."""


class PortIndex(NamedTuple):
    """Where the ports of the nodes stand in the arrays.

    Attributes:
        first: [nodes] index of each node's port 1.
        total: Number of ports.
    """

    first: np.ndarray
    total: int

    def of(self, end: PortRef) -> int:
        """Index of a port."""
        return int(self.first[end.node]) + end.port - 1


@dataclass(frozen=True)
class Plan:
    """What does not change while the arrays live: names for the rows.

    Attributes:
        scenario: The scenario.
        forwarding: Its forwarding tables.
        ports: Where ports stand.
        flows: (job index, flow) of every flow, in order.
        first_qp: [flows + 1] first queue pair of each flow.
        ranks: (job index, program index) of every rank.
        vls: Data VLs, plus one for VL15.
    """

    scenario: Scenario
    forwarding: Forwarding
    ports: PortIndex
    flows: tuple[tuple[int, Flow], ...]
    first_qp: np.ndarray
    ranks: tuple[tuple[int, int], ...]
    vls: int

    def lanes(self, ports: np.ndarray) -> np.ndarray:
        """[n * vls] index of each VL of some ports [n], port by port."""
        return (ports[:, None] + self.ports.total * np.arange(self.vls)).ravel()


def make_plan(scenario: Scenario, forwarding: Forwarding) -> Plan:
    """Numbers ports, flows, queue pairs and ranks."""
    sizes = np.array([node.ports for node in scenario.fabric.nodes], np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    flows = tuple((job, flow) for job, work in enumerate(scenario.jobs) for flow in work.flows)
    first_qp = np.concatenate([[0], np.cumsum([flow.qps for _, flow in flows])]).astype(np.int64)
    ranks = tuple((job, r) for job, work in enumerate(scenario.jobs) for r in range(len(work.programs)))
    plan = Plan(scenario, forwarding, PortIndex(first[:-1], int(first[-1])), flows, first_qp, ranks, 0)
    used = {scenario.qos.sl2vl[path_sl(plan, flow, number)] for _, number, _, flow in queue_pairs(plan)}
    if scenario.fabric.technology is Technology.ROCE:
        data_vls = PRIORITIES  # CNPs have one of their own, whatever the workload uses
    else:
        data_vls = max((vl for vl in used if vl < scenario.data_vls), default=0) + 1
    return Plan(scenario, forwarding, plan.ports, flows, first_qp, ranks, data_vls + 1)


def destination_lid(plan: Plan, flow: Flow, qp: int) -> int:
    """The LID that a queue pair of a flow sends to."""
    return plan.forwarding.lid_of[flow.dst] + qp % (1 << plan.forwarding.lmc)


def path_sl(plan: Plan, flow: Flow, qp: int) -> int:
    """The service level of a queue pair: the path's where routing decides it, else the flow's."""
    decide = plan.forwarding.service_level
    return flow.sl if decide is None else decide(flow.src, destination_lid(plan, flow, qp))


def model_of(scenario: Scenario, node: int) -> Any:
    """The hardware model of a node."""
    item = scenario.fabric.nodes[node]
    models: Any = scenario.switch_models if item.kind is NodeKind.SWITCH else scenario.hca_models
    return models[item.model]


def nodes_of_ports(plan: Plan) -> np.ndarray:
    """[ports] node of each port."""
    return np.repeat(
        np.arange(len(plan.scenario.fabric.nodes)), [node.ports for node in plan.scenario.fabric.nodes]
    )


_BOTH_ENDS = (ActionKind.LINK_STATE, ActionKind.LINK_RATE, ActionKind.LINK_ERROR)


def queue_pairs(plan: Plan) -> Iterator[tuple[int, int, int, Flow]]:
    """(queue pair, its number in the flow, flow index, flow) of every queue pair."""
    for index, (_, flow) in enumerate(plan.flows):
        for number in range(flow.qps):
            yield int(plan.first_qp[index]) + number, number, index, flow
