# SPDX-License-Identifier: Apache-2.0
"""A port: transmitter, flow-control packets and the wire to its peer (infiniband.md sections 2, 3, 7, 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fabrictwin.engine.rng import Stream
from fabrictwin.units import femtoseconds_per_byte
from reference.credits import CreditReceiver, CreditSender, blocks_of
from reference.events import Kind
from reference.lane import Lane
from reference.packet import FCP_BYTES, Arrival, Packet

if TYPE_CHECKING:
    from reference.world import World

VL15 = 15
MAX_TRIES = 8
REFRESH_BYTE_TIMES = 262_144
CODEWORD_BYTES = 640
"""5440 bit at 1.0625 times the rate of the cable, in bytes at that rate."""


@dataclass(frozen=True)
class Receiving:
    """What a node's model says about what comes in.

    Attributes:
        buffer_bytes: Buffer of one data VL.
        block_bytes: Unit of credit.
        min_gap_ps: Shortest time between two flow-control packets of a VL.
        fec_latency_ps: Added by each packet.
        llr: Link-level retry.
    """

    buffer_bytes: int
    block_bytes: int
    min_gap_ps: int
    fec_latency_ps: int
    llr: bool


class Owner(Protocol):
    """What a port asks of the switch or HCA that it belongs to."""

    receiving: Receiving

    def arrives_at(self, head_in_ps: int, tail_in_ps: int) -> int:
        """When the node looks at a packet."""

    def arrive(self, arrival: Arrival) -> None:
        """The node looks at a packet."""

    def choose(self, port: Port) -> None:
        """Starts a packet if the transmitter is free and one may go."""

    def drop_waiting(self, port: Port) -> None:
        """The link is down: discards what waits for it."""


class Port:
    """One port of a node, cabled."""

    def __init__(self, world: World, owner: Owner, node: int, number: int, index: int) -> None:
        self.world = world
        self.owner = owner
        self.node = node
        self.number = number
        self.index = index
        self.counters: Counter[str] = Counter()
        self.up = True
        self.free_ps = 0
        self.packet_until_ps = 0
        self.error_threshold = 0
        self.packets_sent = 0
        self.fcps_sent = 0
        self._fcp_looks_ps: set[int] = set()
        self.last_tail_in_ps = 0
        self.incoming: list[Arrival] = []
        self.vl15_held = 0
        self.outages = 0
        self.xmit_wait_ps = 0
        self.waits_since_ps: dict[int, int] = {}

    def connect(self, peer: Port, rate_bps: int, propagation_ps: int) -> None:
        """Plugs the cable in."""
        self.peer = peer
        self.fs_per_byte = self.cable_fs_per_byte = femtoseconds_per_byte(rate_bps)
        there, here = peer.owner.receiving, self.owner.receiving
        self.delay_ps = propagation_ps + there.fec_latency_ps
        self.llr = here.llr and there.llr
        self.lanes = [
            Lane(
                CreditReceiver(here.buffer_bytes // here.block_bytes),
                CreditSender(there.buffer_bytes // there.block_bytes),
            )
            for _ in range(self.world.data_vls)
        ]

    def set_rate(self, rate_bps: int) -> None:
        """Packets that start from now on take another time."""
        self.fs_per_byte = femtoseconds_per_byte(rate_bps)

    def wire_ps(self, wire_bytes: int) -> int:
        """Time on the wire."""
        return (wire_bytes * self.fs_per_byte + 999) // 1000

    def at(self, time_ps: int, kind: Kind, argument: int, what: Callable[[], None]) -> None:
        """Puts an event of this port into the calendar."""
        self.world.calendar.at(time_ps, self.node, kind, self.number, argument, what)

    @property
    def now_ps(self) -> int:
        return self.world.calendar.now_ps

    # Sending packets

    def blocks_there(self, packet: Packet) -> int:
        """Blocks of a packet in the buffer at the other end."""
        return blocks_of(packet.wire_bytes, self.peer.owner.receiving.block_bytes)

    def may_send(self, packet: Packet, vl: int) -> bool:
        """Whether the credits let a packet go."""
        return vl == VL15 or self.lanes[vl].sender.may_send(self.blocks_there(packet))

    def transmit(self, packet: Packet, vl: int) -> tuple[int, int]:
        """Sends a packet that was chosen, after the flow-control packets that go first.

        Returns:
            When it starts and when its last byte has left.
        """
        self.send_fcps(before_packet=True)
        wire_ps = self.wire_ps(packet.wire_bytes)
        hits, lost = self._hits()
        first_ps = max(self.now_ps, self.free_ps)
        start_ps = first_ps + (hits - lost) * (wire_ps + 2 * self.delay_ps)
        self.free_ps = self.packet_until_ps = start_ps + wire_ps
        self.at(self.free_ps, Kind.PORT_FREE, 0, lambda: self.owner.choose(self))
        self.counters["port_xmit_pkts"] += 1
        self.counters["port_xmit_data"] += packet.wire_bytes
        self.world.trace_packet(first_ps, self, vl, packet)
        if vl != VL15:
            self.lanes[vl].sender.send(self.blocks_there(packet))
            if lost:
                self.lanes[vl].lost_something(self.wire_ps(REFRESH_BYTE_TIMES))
        self.peer.expect(packet, vl, start_ps, wire_ps, hits, lost)
        self.packets_sent += 1
        self.schedule_fcp()
        return start_ps, start_ps + wire_ps

    def _is_hit(self, stream: Stream, counter: int) -> bool:
        return self.world.draw(stream, self.index, counter) >> 32 < self.error_threshold

    def _hits(self) -> tuple[int, bool]:
        """Tries that a symbol error spoils, and whether that is all of them."""
        tries = MAX_TRIES if self.llr else 1
        if self.error_threshold < 0:
            is_hit = (self.packets_sent + 1) % -self.error_threshold == 0
            return int(is_hit), is_hit and not self.llr
        for attempt in range(tries):
            if not self._is_hit(Stream.PACKET_ERROR, self.packets_sent * MAX_TRIES + attempt):
                return attempt, False
        return tries, True

    def count_hits(self, hits: int, retried: bool) -> None:
        """Symbol errors at this port."""
        self.counters["symbol_error_counter"] += hits
        if retried:
            self.counters["local_link_integrity_errors"] += hits

    def waits(self, vl: int, for_credits: bool) -> None:
        """The candidate of a VL has no credits, or has them (or there is none any more)."""
        if for_credits:
            self.waits_since_ps.setdefault(vl, self.now_ps)
        elif vl in self.waits_since_ps:
            self.xmit_wait_ps += self.now_ps - self.waits_since_ps.pop(vl)

    def waited_ps(self, until_ps: int) -> int:
        """Sum over the VLs of the time that candidates have waited for credits."""
        return self.xmit_wait_ps + sum(until_ps - since_ps for since_ps in self.waits_since_ps.values())

    # Receiving packets

    def expect(self, packet: Packet, vl: int, start_ps: int, wire_ps: int, hits: int, lost: bool) -> None:
        """A packet is on the wire towards this port."""
        nominal_ps = start_ps + self.peer.delay_ps
        head_in_ps = max(nominal_ps + self._jitter_ps(), self.last_tail_in_ps)
        tail_in_ps = self.last_tail_in_ps = head_in_ps + wire_ps
        blocks = blocks_of(packet.wire_bytes, self.owner.receiving.block_bytes)
        arrival = Arrival(packet, self, vl, blocks, head_in_ps, tail_in_ps, hits, lost)
        self.incoming.append(arrival)
        self.at(nominal_ps, Kind.HEADER, 0, lambda: self._header(arrival))
        self.at(self.owner.arrives_at(head_in_ps, tail_in_ps), Kind.ARRIVE, 0, lambda: self._arrive(arrival))

    def _jitter_ps(self) -> int:
        if self.owner.receiving.fec_latency_ps == 0:
            return 0
        codeword_ps = (CODEWORD_BYTES * self.peer.cable_fs_per_byte + 999) // 1000
        return self.world.draw_below(Stream.FEC_JITTER, self.peer.index, self.peer.packets_sent, codeword_ps)

    def _header(self, arrival: Arrival) -> None:
        if not arrival.lost and not arrival.corrupted and arrival.vl != VL15:
            arrival.received = True
            self.lanes[arrival.vl].receiver.receive(arrival.blocks)

    def _arrive(self, arrival: Arrival) -> None:
        if arrival.lost:
            return
        self.count_hits(arrival.hits, self.peer.llr)
        if arrival.corrupted:
            self.settle(arrival)
            self.counters["port_rcv_errors"] += 1
            return
        self.counters["port_rcv_pkts"] += 1
        self.counters["port_rcv_data"] += arrival.packet.wire_bytes
        self.counters["port_pkt_rcv_fecn"] += arrival.packet.fecn
        self.counters["port_pkt_rcv_becn"] += arrival.packet.becn
        self.owner.arrive(arrival)

    def settle(self, arrival: Arrival) -> None:
        """The node has taken charge of a packet: a link that goes down does not touch it any more."""
        self.incoming.remove(arrival)

    # Flow-control packets

    def free_blocks(self, vl: int, blocks: int, due_ps: int) -> None:
        """Blocks of the receive buffer are free from ``due_ps`` on."""
        if vl == VL15:
            self.vl15_held -= blocks
        else:
            self.lanes[vl].pending.append((due_ps, blocks))
            self.schedule_fcp()

    def _next_fcp(self) -> tuple[int, int, int] | None:
        """(start, due, VL) of the flow-control packet that goes next."""
        best = None
        for vl, lane in enumerate(self.lanes):
            start_ps = lane.earliest_ps(self.free_ps, self.owner.receiving.min_gap_ps)
            due_ps = lane.due_ps()
            if start_ps is None or due_ps is None:
                continue
            if best is None or (start_ps, due_ps, vl) < best:
                best = (start_ps, due_ps, vl)
        return best

    def schedule_fcp(self) -> None:
        """Looks again at the moment when the next flow-control packet can go."""
        following = self._next_fcp()
        if not self.up or following is None:
            return
        at_ps = max(following[0], self.now_ps)
        # A look that is still to come at that time will see what this one would.
        if at_ps not in self._fcp_looks_ps:
            self._fcp_looks_ps.add(at_ps)
            self.at(at_ps, Kind.FCP_SEND, 0, self._look_for_fcps)

    def _look_for_fcps(self) -> None:
        self._fcp_looks_ps.discard(self.now_ps)
        self.send_fcps(before_packet=False)

    def send_fcps(self, before_packet: bool) -> None:
        """Sends what can start now, or, before a packet, what can start before the packet could."""
        while self.up:
            following = self._next_fcp()
            if following is None or following[0] > self.now_ps:
                break
            self._send_fcp(following[0], following[2])
        if not before_packet:
            self.schedule_fcp()

    def _send_fcp(self, start_ps: int, vl: int) -> None:
        lane = self.lanes[vl]
        lane.starts(start_ps)
        self.free_ps = start_ps + self.wire_ps(FCP_BYTES)
        self.world.trace_fcp(start_ps, self, vl, lane.receiver.fccl)
        self.fcps_sent += 1
        self.counters["flow_control_packets"] += 1
        hit = self._is_hit(Stream.FCP_ERROR, self.fcps_sent)
        if hit:
            self.peer.count_hits(1, False)
            lane.lost_something(self.wire_ps(REFRESH_BYTE_TIMES))
        else:
            self.peer.expect_fcp(vl, lane.sender.fctbs, lane.receiver.fccl, self.free_ps + self.delay_ps)

    def expect_fcp(self, vl: int, fctbs: int, fccl: int, arrives_ps: int) -> None:
        """A flow-control packet is on the wire towards this port."""
        outages = self.outages

        def resynchronise() -> None:
            if outages == self.outages:
                self.lanes[vl].sender.hear(fccl)
                lost_blocks = self.lanes[vl].receiver.resynchronise(fctbs)
                if lost_blocks:
                    self.free_blocks(vl, 0, self.now_ps)

        def credit() -> None:
            if outages == self.outages:
                self.owner.choose(self)

        self.at(arrives_ps, Kind.RESYNC, vl, resynchronise)
        self.at(arrives_ps, Kind.CREDIT, vl, credit)

    # Link state

    def go_down(self) -> None:
        """The link at this port has failed."""
        if not self.up:
            return
        self.up = False
        self.outages += 1
        self.counters["link_downed_counter"] += 1
        for arrival in [arrival for arrival in self.incoming if arrival.tail_in_ps > self.now_ps]:
            arrival.lost = True
            self.incoming.remove(arrival)
            if arrival.received:
                self.lanes[arrival.vl].receiver.free(arrival.blocks)
        self.owner.drop_waiting(self)
        for vl in range(self.world.data_vls):
            self.waits(vl, for_credits=False)

    def go_up(self) -> None:
        """The link at this port works again."""
        if self.up:
            return
        self.up = True
        self.free_ps = self.packet_until_ps = self.now_ps
        for arrival in self.incoming:
            if arrival.vl != VL15:
                self.lanes[arrival.vl].receiver.free(arrival.blocks)
            arrival.blocks = 0
        for lane in self.lanes:
            lane.starts(self.now_ps)
            lane.receiver.restart()
            lane.sender.restart()
        self.at(self.now_ps, Kind.LINK_INIT, 0, self._advertise)

    def _advertise(self) -> None:
        arrives_ps = self.now_ps + self.wire_ps(FCP_BYTES) + self.delay_ps
        for vl, lane in enumerate(self.lanes):
            self.peer.expect_fcp(vl, 0, lane.receiver.fccl, arrives_ps)
        self.schedule_fcp()
        self.owner.choose(self)
