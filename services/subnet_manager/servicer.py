# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``SubnetManager``."""

from __future__ import annotations

from typing import Any

import grpc.aio

from fabrictwin.api.v1 import director_pb2
from fabrictwin.api.v1 import subnet_manager_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerServicer as Base
from fabrictwin.errors import InputError, nearest
from fabrictwin.model.fabric import Fabric, Node, NodeKind, PortRef
from fabrictwin.runtime.blueprint import DIRECTOR
from fabrictwin.runtime.failures import NotReadyError, StateError, UnknownNameError
from fabrictwin.runtime.grpc_server import CLIENT_OPTIONS
from fabrictwin.runtime.process_runner import ProcessRunner
from fabrictwin.runtime.reading import cut_page
from fabrictwin.runtime.service import Host
from fabrictwin.runtime.sm_process import SmProcess
from fabrictwin.subnet.routes import Routes

ORDER_WITHIN_S = 10.0
LARGEST_TABLES_BYTES = 16 << 20


class SubnetManagerServicer(Base):
    """Answers from what the subnet manager knows; orders go to the director, who gives them a fabric time."""

    def __init__(self, runner: ProcessRunner[SmProcess]) -> None:
        self._runner = runner
        self._host: Host | None = None

    def attach(self, host: Host) -> None:
        """Knows from now on where the director can be found."""
        self._host = host

    async def GetSubnet(self, request: pb.GetSubnetRequest, context: Any) -> pb.GetSubnetResponse:
        """The nodes that it has found."""
        routes = self._runner.process.manager.routes
        nodes = routes.graph.fabric.nodes
        shown, token = cut_page(range(len(nodes)), request.page)
        found = [_describe_node(routes, index, nodes[index]) for index in shown]
        return pb.GetSubnetResponse(nodes=found, next_page=token)

    async def GetRoutes(self, request: pb.GetRoutesRequest, context: Any) -> pb.GetRoutesResponse:
        """The forwarding tables that it wants."""
        routes = self._runner.process.manager.routes
        fabric = routes.graph.fabric
        most = max(1, LARGEST_TABLES_BYTES // int(routes.lft.shape[1]))
        rows, token = cut_page(range(len(fabric.switches)), request.page, most)
        switches = [
            pb.SwitchRoutes(node=fabric.nodes[fabric.switches[row]].name, ports=routes.lft[row].tobytes())
            for row in rows
        ]
        return pb.GetRoutesResponse(engine=routes.engine, switches=switches, next_page=token)

    async def GetPathRecord(self, request: pb.GetPathRecordRequest, context: Any) -> pb.GetPathRecordResponse:
        """The path between two HCA ports."""
        process = self._runner.process
        routes, fabric = process.manager.routes, process.scenario.fabric
        source = _find_port(fabric, request.source, "source")
        destination = _find_port(fabric, request.destination, "destination")
        dlid = routes.lid_of[destination]
        hops, rate_bps = _trace(fabric, routes, source, dlid)
        return pb.GetPathRecordResponse(
            slid=routes.lid_of[source],
            dlid=dlid,
            sl=routes.service_level(source, dlid),
            mtu_bytes=process.scenario.mtu_bytes,
            rate_bps=rate_bps,
            hops=hops,
        )

    async def GetSmInfo(self, request: pb.GetSmInfoRequest, context: Any) -> pb.GetSmInfoResponse:
        """Its state among the subnet managers."""
        process = self._runner.process
        info = process.manager.info
        priority, minus_guid = info.rank
        return pb.GetSmInfoResponse(
            guid=-minus_guid or _guid_of(process),
            number=process.number,
            priority=priority,
            state=info.state.name.lower(),
            act_count=process.manager.act_count,
            master=-1 if process.manager.master is None else process.manager.master,
        )

    async def Sweep(self, request: pb.SweepRequest, context: Any) -> pb.SweepResponse:
        """Sweeps, by way of the director's command log."""
        async with self._director() as channel:
            order = director_pb2.SweepSubnetRequest(by=request.by)
            answer = await _ask(DirectorStub(channel).SweepSubnet, order)
        return pb.SweepResponse(at_ps=answer.at_ps)

    async def Handover(self, request: pb.HandoverRequest, context: Any) -> pb.HandoverResponse:
        """Hands over to another subnet manager, by way of the director's command log."""
        async with self._director() as channel:
            order = director_pb2.HandOverSubnetRequest(to=request.to, by=request.by)
            answer = await _ask(DirectorStub(channel).HandOverSubnet, order)
        return pb.HandoverResponse(at_ps=answer.at_ps)

    def _director(self) -> grpc.aio.Channel:
        record = self._host.directory.services().get(DIRECTOR) if self._host is not None else None
        if record is None:
            raise NotReadyError("the director has not come yet")
        return grpc.aio.insecure_channel(record.address, options=CLIENT_OPTIONS)


async def _ask(call: Any, order: Any) -> Any:
    try:
        return await call(order, timeout=ORDER_WITHIN_S)
    except grpc.aio.AioRpcError as error:
        raise StateError(f"the director refuses: {error.details()}") from None


def _guid_of(process: SmProcess) -> int:
    """GUID of the port that it runs on; 0: it is the underlay, which runs on every switch."""
    managers = process.scenario.managers
    return managers[process.number].guid if managers else 0


def _describe_node(routes: Routes, index: int, node: Node) -> pb.SubnetNode:
    ports = [0] if node.kind is NodeKind.SWITCH else range(1, node.ports + 1)
    lids = [routes.lid_of[PortRef(index, port)] for port in ports if PortRef(index, port) in routes.lid_of]
    return pb.SubnetNode(name=node.name, guid=node.guid, kind=str(node.kind), ports=node.ports, lids=lids)


def _find_port(fabric: Fabric, text: str, field: str) -> PortRef:
    name, _, number = text.partition("/")
    index = fabric.index_of.get(name)
    if index is None or fabric.nodes[index].kind is not NodeKind.HCA:
        hcas = [fabric.nodes[hca].name for hca in fabric.hcas]
        raise UnknownNameError(f"{field}: no HCA {name[:80]!r}{nearest(name[:80], hcas)}")
    end = PortRef(index, int(number) if number.isdecimal() else 1)
    if (number and not number.isdecimal()) or end not in fabric.link_at:
        raise InputError.of(f"expected a cabled port of {name}, got {text[:80]!r}", field=field)
    return end


def _trace(fabric: Fabric, routes: Routes, source: PortRef, dlid: int) -> tuple[list[str], int]:
    """(every output on the way to a LID, the least rate of their cables)."""
    link = fabric.link_at[source]
    hops, rate_bps = [fabric.port_name(source)], link.rate_bps
    at = link.other(source)
    row_of = {node: row for row, node in enumerate(fabric.switches)}
    while at.node in row_of and len(hops) <= len(fabric.switches):
        out = PortRef(at.node, int(routes.lft[row_of[at.node], dlid]))
        if out not in fabric.link_at:
            break
        link = fabric.link_at[out]
        hops.append(fabric.port_name(out))
        rate_bps = min(rate_bps, link.rate_bps)
        at = link.other(out)
    return hops, rate_bps
