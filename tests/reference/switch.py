# SPDX-License-Identifier: Apache-2.0
"""A switch: input buffers, virtual output queues, head-of-queue lifetime (infiniband.md sections 4 to 6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabrictwin.engine.rng import Stream
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.hardware import SwitchModel
from fabrictwin.model.qos import DROP_VL
from reference.events import Kind
from reference.hoq import HeadOfQueue
from reference.ib_cc import Marker, threshold_blocks
from reference.packet import Arrival, Packet, PacketKind
from reference.port import VL15, Port, Receiving
from reference.vl_arbitration import VlArbiter
from reference.world import World

NO_ROUTE = 255
LFT_BLOCK_LIDS = 64


@dataclass
class Output:
    """One VL of an output port.

    Attributes:
        hoq: Age of the candidate.
        marker: Congestion marking.
        queues: What waits, by input port.
        ring: Input ports whose queue has packets; the front one's first packet is the candidate.
        departures: Packets that have left.
        one_queue: All inputs share a queue (VL15).
    """

    hoq: HeadOfQueue
    marker: Marker
    queues: dict[int, deque[Arrival]] = field(default_factory=dict)
    ring: deque[int] = field(default_factory=deque)
    departures: int = 0
    one_queue: bool = False

    @property
    def candidate(self) -> Arrival | None:
        return self.queues[self.ring[0]][0] if self.ring else None

    @property
    def waiting_blocks(self) -> int:
        return sum(arrival.blocks for queue in self.queues.values() for arrival in queue)

    def put(self, arrival: Arrival) -> None:
        number = 0 if self.one_queue else arrival.port.number
        queue = self.queues.setdefault(number, deque())
        if not queue:
            self.ring.append(number)
        queue.append(arrival)

    def take(self) -> Arrival:
        """Removes the candidate; its queue goes to the end of the ring."""
        number = self.ring.popleft()
        queue = self.queues[number]
        arrival = queue.popleft()
        if queue:
            self.ring.append(number)
        return arrival

    def take_all(self) -> list[Arrival]:
        waiting = [arrival for number in self.ring for arrival in self.queues[number]]
        self.ring.clear()
        self.queues.clear()
        return waiting


class Switch:
    """One switch."""

    def __init__(self, world: World, node: int, model: SwitchModel) -> None:
        self.world = world
        self.node = node
        self.model = model
        self.receiving = Receiving(
            model.buffer_per_vl_bytes,
            model.credit_block_bytes,
            model.fcp_min_gap_ps,
            model.fec_latency_ps,
            model.llr,
        )
        self.vl15_blocks = model.vl15_buffer_bytes // model.credit_block_bytes
        self.ports: dict[int, Port] = {}
        self.outputs: dict[tuple[int, int], Output] = {}
        self.arbiters: dict[int, VlArbiter] = {}
        self.lft = dict(world.case.lft[node])
        self.moved: dict[int, int] = {}

    def prepare(self) -> None:
        """Every port is cabled: sets the outputs up."""
        for number, port in self.ports.items():
            for vl in [*range(self.world.data_vls), VL15]:
                self.outputs[number, vl] = self._output(port, vl)
            self.arbiters[number] = self.world.new_arbiter()

    def _output(self, port: Port, vl: int) -> Output:
        to_hca = self.world.is_hca(port.peer.node)
        life_ps = self.model.leaf_hoq_life_ps if to_hca else self.model.hoq_life_ps
        hoq = HeadOfQueue(None if vl == VL15 else life_ps, self.model.vl_stall_count)
        parameters = self.world.case.congestion_control
        cap = self.receiving.buffer_bytes // self.receiving.block_bytes
        marker = Marker(
            threshold_blocks(parameters.threshold, cap),
            parameters.packet_size_blocks,
            parameters.marking_rate,
            PortRef(self.node, port.number) in parameters.victim_ports,
        )
        return Output(hoq, marker, one_queue=vl == VL15)

    def write_lft(self, ports: Mapping[int, int]) -> None:
        """Changes entries of the forwarding table; those that lead elsewhere wait for a first packet."""
        for lid, number in ports.items():
            if self.lft.get(lid, NO_ROUTE) != number:
                self.moved.pop(lid, None)
                if number in self.ports:
                    self.moved[lid] = number
        self.lft |= ports

    # Input

    def arrives_at(self, head_in_ps: int, tail_in_ps: int) -> int:
        whole = self.model.forwarding == "store_and_forward"
        return (tail_in_ps if whole else head_in_ps) + self.model.forwarding_latency_ps

    def arrive(self, arrival: Arrival) -> None:
        """The header has passed the pipeline: finds the output."""
        arrival.port.settle(arrival)
        if arrival.vl == VL15:
            arrival.port.vl15_held += arrival.blocks
        number = self.lft.get(arrival.packet.dlid, NO_ROUTE)
        if number not in self.ports or number == arrival.port.number:
            self._discard(arrival, arrival.port, "port_rcv_switch_relay_errors")
            return
        port = self.ports[number]
        vl = VL15 if arrival.vl == VL15 else self.world.case.qos.sl2vl[arrival.packet.sl]
        faster = port.wire_ps(arrival.packet.wire_bytes) < arrival.tail_in_ps - arrival.head_in_ps
        if faster and self.model.forwarding == "cut_through":
            stored_ps = arrival.tail_in_ps + self.model.forwarding_latency_ps
            arrival.port.at(stored_ps, Kind.STORED, 0, lambda: self._offer(arrival, port, vl))
        else:
            self._offer(arrival, port, vl)

    def _discard(self, arrival: Arrival, port: Port, counter: str) -> None:
        port.counters[counter] += 1
        self.world.trace_discard(port, counter, arrival.packet)
        arrival.free(max(self.world.now_ps, arrival.tail_in_ps))

    def _offer(self, arrival: Arrival, port: Port, vl: int) -> None:
        output = self.outputs[port.number, vl]
        dropped = vl == DROP_VL and arrival.vl != VL15
        if not port.up or dropped or output.hoq.is_stalled(self.world.now_ps):
            self._discard(arrival, port, "port_xmit_discards")
            return
        if vl == VL15 and arrival.port.vl15_held > self.vl15_blocks:
            self._discard(arrival, arrival.port, "vl15_dropped")
            return
        was_empty = output.candidate is None
        output.put(arrival)
        if was_empty:
            self._new_candidate(port, vl, output)
        self.choose(port)

    # Output

    def choose(self, port: Port) -> None:
        """Starts a packet if the transmitter is free and one may go."""
        if not port.up or port.packet_until_ps > self.world.now_ps:
            return
        eligible = [vl for vl in range(self.world.data_vls) if self._is_eligible(port, vl)]
        if self.outputs[port.number, VL15].candidate is not None:
            self._send(port, VL15)
            return
        vl = self.arbiters[port.number].choose(eligible)
        if vl is not None:
            wire_bytes = self._send(port, vl)
            self.arbiters[port.number].sent(wire_bytes)

    def _is_eligible(self, port: Port, vl: int) -> bool:
        output = self.outputs[port.number, vl]
        if output.candidate is None:
            return False
        fits = port.may_send(output.candidate.packet, vl)
        port.waits(vl, for_credits=not fits)
        output.marker.blocked |= not fits
        return fits

    def _send(self, port: Port, vl: int) -> int:
        output = self.outputs[port.number, vl]
        arrival = output.take()
        packet = arrival.packet
        if packet.kind is PacketKind.DATA and output.marker.mark(arrival.blocks, output.waiting_blocks):
            packet.fecn = True
            port.counters["port_mark_fecn"] += 1
        output.marker.packet_left()
        _, end_ps = port.transmit(packet, vl)
        self._follow(port, packet)
        arrival.free(end_ps)
        output.hoq.sent()
        self._move_on(port, vl, output)
        output.departures += 1
        return packet.wire_bytes

    def _follow(self, port: Port, packet: Packet) -> None:
        """The first packet on a new path tells of all that the same block has changed."""
        if self.moved.get(packet.dlid) == port.number:
            self.world.trace_first_packet(port, packet)
            block = packet.dlid // LFT_BLOCK_LIDS
            self.moved = {lid: out for lid, out in self.moved.items() if lid // LFT_BLOCK_LIDS != block}

    def _move_on(self, port: Port, vl: int, output: Output) -> None:
        """The candidate is gone: the ring's next one takes its place."""
        queues = len(output.ring)
        if self.model.arbitration == "random" and queues >= 2:
            index = port.index * self.world.vls + vl
            output.ring.rotate(-self.world.draw_below(Stream.ARBITER, index, output.departures, queues))
        if output.candidate is None:
            output.hoq.no_candidate()
        else:
            self._new_candidate(port, vl, output)

    # Head-of-queue lifetime and link state

    def _new_candidate(self, port: Port, vl: int, output: Output) -> None:
        expires_ps = output.hoq.new_candidate(self.world.now_ps)
        if expires_ps is not None:
            number = output.hoq.candidate
            port.at(expires_ps, Kind.HOQ_TIMER, vl, lambda: self._hoq_expired(port, vl, number))

    def _hoq_expired(self, port: Port, vl: int, candidate: int) -> None:
        output = self.outputs[port.number, vl]
        if candidate != output.hoq.candidate:
            return
        self._discard(output.take(), port, "port_xmit_discards")
        port.waits(vl, for_credits=False)
        if output.hoq.expire(self.world.now_ps):
            self._drop_output(port, output)
        else:
            self._move_on(port, vl, output)
            self.choose(port)

    def _drop_output(self, port: Port, output: Output) -> None:
        for arrival in output.take_all():
            self._discard(arrival, port, "port_xmit_discards")
        output.hoq.no_candidate()

    def drop_waiting(self, port: Port) -> None:
        """The link is down: discards what waits for it."""
        for vl in [*range(self.world.data_vls), VL15]:
            self._drop_output(port, self.outputs[port.number, vl])
