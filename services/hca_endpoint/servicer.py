# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``HcaEndpoint``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabrictwin.api.v1 import hca_endpoint_pb2 as pb
from fabrictwin.api.v1.hca_endpoint_pb2_grpc import HcaEndpointServicer as Base
from fabrictwin.engine.codes import QpState
from fabrictwin.model.fabric import PortRef
from fabrictwin.runtime.reading import (
    cut_page,
    describe_port,
    find_nodes,
    pick,
    read_counters,
    select_ports,
)
from fabrictwin.runtime.shard_service import ShardView


class HcaEndpointServicer(Base):
    """Answers from the arrays of the HCAs."""

    def __init__(self, shard: ShardView) -> None:
        self._shard = shard

    async def ListNodes(self, request: pb.ListHcasRequest, context: Any) -> pb.ListHcasResponse:
        """The HCAs that it simulates."""
        shard = self._shard
        indices, token = cut_page(find_nodes(shard, ()), request.page)
        with shard.hold():
            port = shard.state.port.copy()
        return pb.ListHcasResponse(
            hcas=[_describe_hca(shard, index, port) for index in indices], next_page=token
        )

    async def GetCounters(self, request: pb.GetHcaCountersRequest, context: Any) -> pb.GetHcaCountersResponse:
        """The counters of their ports."""
        shard = self._shard
        ends, token = select_ports(shard, request.select)
        at_ps, ports = read_counters(shard, ends)
        return pb.GetHcaCountersResponse(at_ps=at_ps, ports=ports, next_page=token)

    async def ListQueuePairs(
        self, request: pb.ListQueuePairsRequest, context: Any
    ) -> pb.ListQueuePairsResponse:
        """Queue pairs that send from here."""
        shard = self._shard
        flows = _find_flows(shard, request.flows, "src")
        first = shard.plan.first_qp
        pairs = [(flow, qp) for flow in flows for qp in range(int(first[flow]), int(first[flow + 1]))]
        shown, token = cut_page(pairs, request.page)
        rows = [qp for _, qp in shown]
        with shard.hold() as at_ps:
            requesters = shard.state.requester[rows]
            entities = np.minimum(requesters.cc, len(shard.state.cc) - 1)
            cctis = shard.state.cc.applied[entities]
            rates = shard.state.rate.rate_bps[np.minimum(rows, len(shard.state.rate) - 1)]
        messages = [
            _describe_queue_pair(shard, flow, qp, requesters[index], int(cctis[index]), int(rates[index]))
            for index, (flow, qp) in enumerate(shown)
        ]
        return pb.ListQueuePairsResponse(at_ps=at_ps, queue_pairs=messages, next_page=token)

    async def GetMessageStatistics(
        self, request: pb.GetMessageStatisticsRequest, context: Any
    ) -> pb.GetMessageStatisticsResponse:
        """What was delivered here, by flow."""
        shard = self._shard
        flows, token = cut_page(_find_flows(shard, request.flows, "dst"), request.page)
        with shard.hold() as at_ps:
            responders = shard.state.responder.copy()
        rows = [_describe_flow(shard, flow, responders) for flow in flows]
        return pb.GetMessageStatisticsResponse(at_ps=at_ps, flows=rows, next_page=token)


def _find_flows(shard: ShardView, names: Sequence[str], end: str) -> list[int]:
    """Indices of flows by name, or of all, that have an end at an HCA of the shard."""
    mine = {
        flow.name: index
        for index, (_, flow) in enumerate(shard.plan.flows)
        if shard.owned[getattr(flow, end).node]
    }
    return pick(mine, names, "flow")


def _describe_hca(shard: ShardView, index: int, port: Any) -> pb.Hca:
    node = shard.plan.scenario.fabric.nodes[index]
    ends = [PortRef(index, number) for number in range(1, node.ports + 1)]
    return pb.Hca(
        name=node.name,
        guid=node.guid,
        model=node.model,
        ports=[describe_port(shard, end, port[shard.plan.ports.of(end)]) for end in ends],
    )


def _describe_queue_pair(
    shard: ShardView, flow: int, qp: int, record: Any, ccti: int, rate_bps: int
) -> pb.QueuePair:
    work = shard.plan.flows[flow][1]
    nodes = shard.plan.scenario.fabric.nodes
    return pb.QueuePair(
        number=qp,
        flow=work.name,
        source=nodes[work.src.node].name,
        destination=nodes[work.dst.node].name,
        state=QpState(int(record.state)).name.lower(),
        sl=int(record.sl),
        vl=int(record.vl),
        next_psn=int(record.next_psn),
        unacknowledged_psn=int(record.una_psn),
        posted=int(record.posted),
        completed=int(record.completed),
        failed=int(record.failed),
        retransmitted_packets=int(record.retransmitted),
        ccti=ccti,
        rate_bps=rate_bps,
    )


def _describe_flow(shard: ShardView, flow: int, responders: Any) -> pb.MessageStatistics:
    work = shard.plan.flows[flow][1]
    nodes = shard.plan.scenario.fabric.nodes
    rows = responders[int(shard.plan.first_qp[flow]) : int(shard.plan.first_qp[flow + 1])]
    return pb.MessageStatistics(
        flow=work.name,
        source=nodes[work.src.node].name,
        destination=nodes[work.dst.node].name,
        messages=int(rows.messages.sum()) // work.qps,
        bytes=int(rows.bytes.sum()),
        last_ps=int(rows.last_ps.max()),
    )
