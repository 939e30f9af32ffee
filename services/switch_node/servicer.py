# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``SwitchNode``."""

from __future__ import annotations

from typing import Any

from fabrictwin.api.v1 import switch_node_pb2 as pb
from fabrictwin.api.v1.switch_node_pb2_grpc import SwitchNodeServicer as Base
from fabrictwin.model.fabric import PortRef
from fabrictwin.runtime.reading import (
    cut_page,
    describe_port,
    find_nodes,
    read_counters,
    rows_of,
    select_ports,
)
from fabrictwin.runtime.shard_service import ShardView

VL15 = 15


class SwitchNodeServicer(Base):
    """Answers from the arrays of the switches."""

    def __init__(self, shard: ShardView) -> None:
        self._shard = shard

    async def ListNodes(self, request: pb.ListSwitchesRequest, context: Any) -> pb.ListSwitchesResponse:
        """The switches that it simulates."""
        shard = self._shard
        nodes = shard.plan.scenario.fabric.nodes
        indices, token = cut_page(find_nodes(shard, ()), request.page)
        switches = [
            pb.Switch(name=node.name, guid=node.guid, model=node.model, ports=node.ports)
            for node in (nodes[index] for index in indices)
        ]
        return pb.ListSwitchesResponse(switches=switches, next_page=token)

    async def GetPorts(self, request: pb.GetPortsRequest, context: Any) -> pb.GetPortsResponse:
        """Their ports."""
        shard = self._shard
        ends, token = select_ports(shard, request.select)
        rows, _ = rows_of(shard.plan, ends)
        with shard.hold() as at_ps:
            records = shard.state.port[rows]
        ports = [describe_port(shard, end, record) for end, record in zip(ends, records, strict=True)]
        return pb.GetPortsResponse(at_ps=at_ps, ports=ports, next_page=token)

    async def GetCounters(
        self, request: pb.GetSwitchCountersRequest, context: Any
    ) -> pb.GetSwitchCountersResponse:
        """The counters of their ports."""
        shard = self._shard
        ends, token = select_ports(shard, request.select)
        at_ps, ports = read_counters(shard, ends)
        return pb.GetSwitchCountersResponse(at_ps=at_ps, ports=ports, next_page=token)

    async def GetQueues(self, request: pb.GetQueuesRequest, context: Any) -> pb.GetQueuesResponse:
        """What waits at their outputs, and for what."""
        shard = self._shard
        ends, token = select_ports(shard, request.select)
        vls = shard.plan.vls
        _, lanes = rows_of(shard.plan, ends)
        with shard.hold() as at_ps:
            pv, pv_input = shard.state.pv[lanes], shard.state.pv_input[lanes]
        queues = [
            _describe_queue(shard, end, vl, pv[index * vls + vl], pv_input[index * vls + vl])
            for index, end in enumerate(ends)
            for vl in range(vls)
        ]
        return pb.GetQueuesResponse(at_ps=at_ps, queues=queues, next_page=token)

    async def GetForwardingTable(
        self, request: pb.GetForwardingTableRequest, context: Any
    ) -> pb.GetForwardingTableResponse:
        """The forwarding table that a switch uses now."""
        shard = self._shard
        (node,) = find_nodes(shard, [request.node])
        lids = int(shard.plan.forwarding.lft.shape[1])
        with shard.hold() as at_ps:
            first = int(shard.state.node.switch[node]) * lids
            table = shard.state.lft[first : first + lids].tobytes()
        return pb.GetForwardingTableResponse(at_ps=at_ps, ports=table)


def _describe_queue(shard: ShardView, end: PortRef, vl: int, pv: Any, pv_input: Any) -> pb.Queue:
    shift = int(pv.block_shift)
    return pb.Queue(
        node=shard.plan.scenario.fabric.nodes[end.node].name,
        port=end.port,
        vl=VL15 if vl == shard.plan.vls - 1 else vl,
        waiting_bytes=int(pv.waiting_blocks) << shift,
        held_bytes=int(pv_input.held_blocks) << shift,
        credits_blocks=_credits(int(pv.fccl), int(pv.fctbs)),
        blocked=bool(pv.blocked),
        blocked_since_ps=int(pv.blocked_at_ps) if pv.blocked else -1,
    )


def _credits(fccl: int, fctbs: int) -> int:
    """Blocks that may still be sent: FCCL minus FCTBS, both modulo 4096."""
    return (fccl - fctbs + 2048) % 4096 - 2048
