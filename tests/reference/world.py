# SPDX-License-Identifier: Apache-2.0
"""What every part of the oracle shares: the calendar, the case, the random numbers and the traces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fabrictwin.engine.rng import Stream, draw, draw_below, draw_exponential
from fabrictwin.model.fabric import NodeKind
from reference.case import Case
from reference.events import Calendar
from reference.packet import Packet
from reference.vl_arbitration import VlArbiter

if TYPE_CHECKING:
    from reference.port import Port


class PacketRow(NamedTuple):
    """A packet that was put on a wire."""

    start_ps: int
    node: int
    port: int
    vl: int
    kind: int
    queue_pair: int
    psn: int
    wire_bytes: int
    fecn: bool
    becn: bool


class FcpRow(NamedTuple):
    """A flow-control packet that was put on a wire."""

    start_ps: int
    node: int
    port: int
    vl: int
    fccl: int


class FirstPacketRow(NamedTuple):
    """The first packet on a new path."""

    start_ps: int
    node: int
    port: int
    dlid: int


class DiscardRow(NamedTuple):
    """A packet that was discarded, and the counter that it went to."""

    at_ps: int
    node: int
    port: int
    counter: str
    queue_pair: int
    psn: int


@dataclass
class World:
    """Shared state of one run.

    Attributes:
        case: What is simulated.
        calendar: What will happen.
        packets: Trace of packets.
        fcps: Trace of flow-control packets.
        discards: Trace of discards in switches.
        first_packets: Trace of the first packets on new paths.
        vls: Data VLs up to the highest that a queue pair is on, and VL15: numbers the random draws of a port.
    """

    case: Case
    calendar: Calendar = field(default_factory=Calendar)
    packets: list[PacketRow] = field(default_factory=list)
    fcps: list[FcpRow] = field(default_factory=list)
    discards: list[DiscardRow] = field(default_factory=list)
    first_packets: list[FirstPacketRow] = field(default_factory=list)
    vls: int = 2

    @property
    def now_ps(self) -> int:
        return self.calendar.now_ps

    @property
    def data_vls(self) -> int:
        return self.case.qos.data_vls

    def is_hca(self, node: int) -> bool:
        return self.case.fabric.nodes[node].kind is NodeKind.HCA

    def new_arbiter(self) -> VlArbiter:
        """The arbiter of a port, at its start."""
        qos = self.case.qos
        return VlArbiter(qos.vlarb_high, qos.vlarb_low, qos.vl_high_limit)

    def draw(self, stream: Stream, index: int, counter: int) -> int:
        return int(draw(self.case.seed, int(stream), index, counter))

    def draw_below(self, stream: Stream, index: int, counter: int, bound: int) -> int:
        return int(draw_below(self.case.seed, int(stream), index, counter, bound))

    def draw_exponential(self, stream: Stream, index: int, counter: int, mean: int) -> int:
        return int(draw_exponential(self.case.seed, int(stream), index, counter, mean))

    def trace_packet(self, start_ps: int, port: Port, vl: int, packet: Packet) -> None:
        self.packets.append(
            PacketRow(
                start_ps,
                port.node,
                port.number,
                vl,
                int(packet.kind),
                packet.queue_pair,
                packet.psn,
                packet.wire_bytes,
                packet.fecn,
                packet.becn,
            )
        )

    def trace_fcp(self, start_ps: int, port: Port, vl: int, fccl: int) -> None:
        self.fcps.append(FcpRow(start_ps, port.node, port.number, vl, fccl))

    def trace_first_packet(self, port: Port, packet: Packet) -> None:
        """The packet that was traced last is the first on a new path."""
        start_ps = self.packets[-1].start_ps
        self.first_packets.append(FirstPacketRow(start_ps, port.node, port.number, packet.dlid))

    def trace_discard(self, port: Port, counter: str, packet: Packet) -> None:
        self.discards.append(
            DiscardRow(self.now_ps, port.node, port.number, counter, packet.queue_pair, packet.psn)
        )
