# SPDX-License-Identifier: Apache-2.0
"""An HCA: transmit rings, responses and receive side (infiniband.md sections 3, 9 and 10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from fabrictwin.model.hardware import HcaModel
from fabrictwin.model.qos import DROP_VL
from reference.drain import Drain
from reference.events import Kind
from reference.packet import CNP_BYTES, RESPONSE_BYTES, Arrival, Packet, PacketKind
from reference.port import VL15, Port, Receiving
from reference.queue_pair import Message, QueuePair, WaitingAnswer
from reference.rate_control import RateControl
from reference.vl_arbitration import VlArbiter
from reference.world import World


class Hca:
    """One HCA."""

    def __init__(self, world: World, node: int, model: HcaModel, queue_pairs: list[QueuePair]) -> None:
        self.world = world
        self.node = node
        self.model = model
        self.receiving = Receiving(
            model.receive_buffer_bytes, model.credit_block_bytes, 0, model.fec_latency_ps, model.llr
        )
        self.queue_pairs = queue_pairs
        self.ports: dict[int, Port] = {}
        self.rings: dict[tuple[int, int], deque[QueuePair]] = {}
        self.datagrams: dict[int, deque[Packet]] = {}
        self.responses: dict[tuple[int, int], deque[QueuePair]] = {}
        self.arbiters: dict[int, VlArbiter] = {}
        self.drains: dict[int, Drain] = {}
        self.receive_queue_ready = True
        self.rate_control = RateControl(world, node, queue_pairs)
        self.on_sent: Callable[[QueuePair], None] = lambda queue_pair: None
        self.on_received: Callable[[QueuePair], None] = lambda queue_pair: None

    def prepare(self) -> None:
        """Every port is cabled: sets the transmit side up."""
        for number, port in self.ports.items():
            for vl in range(self.world.data_vls):
                self.rings[number, vl] = deque()
                self.responses[number, vl] = deque()
            self.datagrams[number] = deque()
            self.arbiters[number] = self.world.new_arbiter()
            self.drains[number] = Drain(port, self.model.drain_rate_bps)

    def vl_of(self, sl: int) -> int:
        """VL that a service level is sent on; what the table drops is left to the first switch."""
        vl = self.world.case.qos.sl2vl[sl]
        return 0 if vl == DROP_VL else vl

    # Posting

    def post(self, queue_pair: QueuePair, size_bytes: int) -> None:
        """Posts a message."""
        if queue_pair.requester.failed:
            queue_pair.refused += 1
            return
        now_ps = self.world.now_ps
        is_prefetched = queue_pair.is_prefetching(now_ps)
        message = queue_pair.post(size_bytes, now_ps)
        if is_prefetched:
            self._posted(queue_pair, message)
        else:
            ready_ps = now_ps + self.model.tx_latency_ps
            self._at(ready_ps, Kind.POSTED, queue_pair.index, lambda: self._posted(queue_pair, message))

    def _at(self, time_ps: int, kind: Kind, argument: int, what: Callable[[], None]) -> None:
        self.world.calendar.at(time_ps, self.node, kind, 0, argument, what)

    def _posted(self, queue_pair: QueuePair, message: Message) -> None:
        queue_pair.requester.end = message.end
        if queue_pair.management:
            self._queue_datagrams(queue_pair)
        else:
            self._update(queue_pair)

    def _queue_datagrams(self, queue_pair: QueuePair) -> None:
        """Nobody acknowledges them: they are done with when they are queued."""
        requester = queue_pair.requester
        while requester.next < requester.end:
            if queue_pair.first_ps is None:
                queue_pair.first_ps = self.world.now_ps
            self.datagrams[queue_pair.src.number].append(queue_pair.next_data())
            requester.next += 1
            requester.una = requester.sent_end = requester.next
        self.on_sent(queue_pair)
        self.choose(queue_pair.src)

    # Transmit side

    def _update(self, queue_pair: QueuePair) -> None:
        """Puts a queue pair into its ring, or takes it out, and lets the port choose."""
        if queue_pair.requester.failed:
            self.on_sent(queue_pair)
        ring = self.rings[queue_pair.src.number, self.vl_of(queue_pair.sl)]
        can_send = queue_pair.requester.can_send
        if not can_send and queue_pair in ring:
            ring.remove(queue_pair)
            if self._candidate(queue_pair.src, self.vl_of(queue_pair.sl)) is None:
                queue_pair.src.waits(self.vl_of(queue_pair.sl), for_credits=False)
        elif can_send and queue_pair not in ring:
            if queue_pair.not_before_ps > self.world.now_ps:
                self._pace(queue_pair)
            else:
                ring.append(queue_pair)
        self.choose(queue_pair.src)

    def _candidate(self, port: Port, vl: int) -> Packet | None:
        if self.responses[port.number, vl]:
            return self._response(self.responses[port.number, vl][0])
        if self.rings[port.number, vl]:
            return self.rings[port.number, vl][0].next_data()
        return None

    def choose(self, port: Port) -> None:
        """Starts a packet if the transmitter is free and one may go."""
        if not port.up or port.packet_until_ps > self.world.now_ps:
            return
        candidates = {vl: self._candidate(port, vl) for vl in range(self.world.data_vls)}
        eligible = []
        for vl, packet in candidates.items():
            if packet is not None:
                fits = port.may_send(packet, vl)
                port.waits(vl, for_credits=not fits)
                eligible += [vl] * fits
        if self.datagrams[port.number]:
            port.transmit(self.datagrams[port.number].popleft(), VL15)
            return
        chosen = self.arbiters[port.number].choose(eligible)
        first = None if chosen is None else candidates[chosen]
        if chosen is None or first is None:
            return
        if first.kind is PacketKind.DATA:
            self._send_data(port, chosen, first)
        else:
            self.responses[port.number, chosen].popleft().answer = None
            port.transmit(first, chosen)
        self.arbiters[port.number].sent(first.wire_bytes)

    def _send_data(self, port: Port, vl: int, packet: Packet) -> None:
        queue_pair = self.rings[port.number, vl].popleft()
        requester = queue_pair.requester
        start_ps, end_ps = port.transmit(packet, vl)
        queue_pair.retransmitted += packet.psn < requester.sent_end
        if queue_pair.first_ps is None:
            queue_pair.first_ps = start_ps
        requester.sent(start_ps)
        queue_pair.last_end_ps = end_ps
        self._set_ack_timer(queue_pair)
        delay_ps = self.rate_control.delay_ps(queue_pair, end_ps - start_ps)
        queue_pair.limited_ps += delay_ps
        if delay_ps:
            queue_pair.not_before_ps = end_ps + delay_ps
            self._pace(queue_pair)
        elif requester.can_send:
            self.rings[port.number, vl].append(queue_pair)
        self.on_sent(queue_pair)

    def _pace(self, queue_pair: QueuePair) -> None:
        at_ps = queue_pair.not_before_ps
        self._at(at_ps, Kind.PACED, queue_pair.index, lambda: self._update(queue_pair))

    def drop_waiting(self, port: Port) -> None:
        """The link is down: discards the responses and datagrams that wait; queue pairs wait."""
        port.counters["port_xmit_discards"] += len(self.datagrams[port.number])
        self.datagrams[port.number].clear()
        for vl in range(self.world.data_vls):
            for queue_pair in self.responses[port.number, vl]:
                queue_pair.answer = None
                port.counters["port_xmit_discards"] += 1
            self.responses[port.number, vl].clear()

    # Timers

    def _set_ack_timer(self, queue_pair: QueuePair) -> None:
        deadline_ps = queue_pair.requester.deadline_ps
        if deadline_ps is not None and deadline_ps != queue_pair.ack_timer_ps:
            queue_pair.ack_timer_ps = deadline_ps
            self._at(
                deadline_ps,
                Kind.ACK_TIMER,
                queue_pair.index,
                lambda: self._ack_timeout(queue_pair, deadline_ps),
            )

    def _ack_timeout(self, queue_pair: QueuePair, deadline_ps: int) -> None:
        if queue_pair.requester.deadline_ps == deadline_ps:
            queue_pair.requester.timeout(self.world.now_ps)
            self._set_ack_timer(queue_pair)
            self._update(queue_pair)

    def _rnr_over(self, queue_pair: QueuePair, until_ps: int) -> None:
        if queue_pair.requester.rnr_until_ps == until_ps:
            queue_pair.requester.rnr_over()
            self._update(queue_pair)

    # Receive side

    def arrives_at(self, head_in_ps: int, tail_in_ps: int) -> int:
        return tail_in_ps

    def arrive(self, arrival: Arrival) -> None:
        """The last byte is in."""
        arrival.port.settle(arrival)
        queue_pair = self.queue_pairs[arrival.packet.queue_pair]
        if arrival.packet.kind is PacketKind.DATA:
            self.drains[arrival.port.number].take(arrival, lambda: self._data(arrival.packet, queue_pair))
        elif arrival.packet.kind is PacketKind.MANAGEMENT:
            self._deliver(arrival.packet, queue_pair)
        else:
            arrival.free(self.world.now_ps)
            self._answered(arrival.packet, queue_pair)

    def _data(self, packet: Packet, queue_pair: QueuePair) -> None:
        accepted, response = queue_pair.responder.receive(
            packet.psn, packet.ack_req, packet.first, self.receive_queue_ready
        )
        if accepted:
            self._deliver(packet, queue_pair)
        if response is not None:
            self._respond(queue_pair, PacketKind(response.answer), response.psn, packet.fecn)
        elif packet.fecn:
            self._respond(queue_pair, PacketKind.CNP, 0, True)

    def _deliver(self, packet: Packet, queue_pair: QueuePair) -> None:
        message = queue_pair.message_of(packet.psn)
        in_memory_ps = self.world.now_ps + self.model.rx_latency_ps
        queue_pair.delivered_bytes += queue_pair.payload_bytes(packet.psn)
        queue_pair.last_ps = in_memory_ps
        if packet.psn == message.end - 1:
            self._complete(queue_pair, message, in_memory_ps)

    def _complete(self, queue_pair: QueuePair, message: Message, in_memory_ps: int) -> None:
        message.in_memory_ps = in_memory_ps

        def received() -> None:
            queue_pair.completed += 1
            self.on_received(queue_pair)

        self._at(in_memory_ps, Kind.RECEIVED, queue_pair.index, received)

    def _respond(self, queue_pair: QueuePair, kind: PacketKind, psn: int, becn: bool) -> None:
        port, waiting = queue_pair.dst, queue_pair.answer
        if waiting is None:
            queue_pair.answer = WaitingAnswer(kind, psn, becn)
            self.responses[port.number, self.vl_of(queue_pair.sl)].append(queue_pair)
        else:
            waiting.becn |= becn
            if kind is not PacketKind.CNP:
                waiting.kind, waiting.psn = kind, psn
        self.choose(port)

    def _response(self, queue_pair: QueuePair) -> Packet:
        answer = queue_pair.answer
        assert answer is not None
        wire_bytes = CNP_BYTES if answer.kind is PacketKind.CNP else RESPONSE_BYTES
        return Packet(
            answer.kind,
            queue_pair.index,
            answer.psn,
            wire_bytes,
            queue_pair.sl,
            queue_pair.slid,
            becn=answer.becn,
        )

    def _answered(self, packet: Packet, queue_pair: QueuePair) -> None:
        requester, now_ps = queue_pair.requester, self.world.now_ps
        if packet.becn:
            self.rate_control.becn(queue_pair)
        if packet.kind is PacketKind.ACK:
            requester.acknowledge(packet.psn, now_ps)
        elif packet.kind is PacketKind.NAK:
            requester.nak(packet.psn, now_ps)
        elif packet.kind is PacketKind.RNR_NAK:
            requester.rnr_nak(packet.psn, now_ps)
            until_ps = requester.rnr_until_ps
            if until_ps is not None:
                self._at(
                    until_ps, Kind.RNR_TIMER, queue_pair.index, lambda: self._rnr_over(queue_pair, until_ps)
                )
        self._set_ack_timer(queue_pair)
        self._update(queue_pair)
