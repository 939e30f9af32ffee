# SPDX-License-Identifier: Apache-2.0
"""Reliable connection: messages to packets, PSNs, acknowledgements, go-back-N, RNR; and management datagrams.

**Models**: docs/models/infiniband.md section 10 (IBTA 9.7, models.md section 3.6).
**State**: ``REQUESTER`` and ``RESPONDER``, one of each for a queue pair (at its two ends), ``MESSAGE`` lists.
**Events in**: ACK_TIMER, RNR_TIMER, and packets at an HCA. **Out**: ACK_TIMER, RNR_TIMER, RECEIVED, RANK.
**Behaviour**: one ACK_TIMER event a queue pair is under way; when it comes too early it goes on to the true
deadline.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V61, V65, V90).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import unblock_sender
from fabrictwin.engine.cc.ib_cca import on_becn
from fabrictwin.engine.codes import (
    NEVER,
    EventKind,
    Flag,
    LogKind,
    PacketKind,
    QpState,
)
from fabrictwin.engine.link import serve_later
from fabrictwin.engine.pools import give_message, take_message, take_packet, write_log
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY, push_fifo
from fabrictwin.jit import inline_kernel, seldom_kernel

INFINITE_RNR = 7
MAX_OUTSTANDING = (1 << 23) - 1


@inline_kernel
def join_ring(s: State, qp: int) -> None:
    """A queue pair stands at the end of the ring of its port and VL."""
    requester = s.requester[qp]
    index = pv_of(s, requester.port, requester.vl)
    pv = s.pv[index]
    requester.next = -1
    requester.state = QpState.READY
    if pv.ring_tail < 0:
        pv.ring_head = qp
        s.port[requester.port].vl_mask = s.port[requester.port].vl_mask | (1 << np.int64(requester.vl))
    else:
        s.requester[pv.ring_tail].next = qp
    pv.ring_tail = qp
    pv.ring_count += 1


@inline_kernel
def can_send(s: State, qp: int) -> bool:
    """Whether a requester has something that it may send."""
    requester = s.requester[qp]
    if requester.sendable > 0 and requester.next_psn - requester.una_psn < requester.window:
        return True
    return requester.resend_head >= 0


@inline_kernel
def _choose_again(s: State, qp: int, now_ps: int) -> None:
    """What a queue pair would send has changed: where its VL waits for credits, another packet may fit."""
    requester = s.requester[qp]
    pv = s.pv[pv_of(s, requester.port, requester.vl)]
    if pv.blocked and pv.ring_count > 0:
        serve_later(s, requester.port, max(now_ps, s.port[requester.port].data_free_ps))


@seldom_kernel
def leave_ring(s: State, qp: int, now_ps: int) -> None:
    """Takes a queue pair out of the ring, wherever it stands."""
    requester = s.requester[qp]
    index = pv_of(s, requester.port, requester.vl)
    pv = s.pv[index]
    before = -1
    here = pv.ring_head
    while here != qp:
        before = here
        here = s.requester[here].next
    if before < 0:
        pv.ring_head = requester.next
    else:
        s.requester[before].next = requester.next
    if pv.ring_tail == qp:
        pv.ring_tail = before
    pv.ring_count -= 1
    if pv.ring_count == 0 and s.pv_more[index].fifo_head < 0:
        mask = np.int64(1) << requester.vl
        s.port[requester.port].vl_mask = s.port[requester.port].vl_mask & (0xFFFF ^ mask)
        if pv.blocked:
            unblock_sender(s, requester.port, index, now_ps)
    requester.state = QpState.IDLE
    _choose_again(s, qp, now_ps)


@inline_kernel
def build_data(s: State, qp: int) -> int:
    """The next packet of a requester; its message goes on."""
    requester = s.requester[qp]
    return build_packet(s, qp, np.int64(requester.current), requester.next_psn)


@inline_kernel
def build_packet(s: State, qp: int, of_message: int, psn: int) -> int:
    """A packet of one of a requester's messages."""
    requester = s.requester[qp]
    message = s.message[of_message]
    index = take_packet(s)
    packet = s.packet[index]
    mtu = s.par[0].mtu
    at = psn - message.first_psn
    packet.payload = min(mtu, message.bytes - at * mtu)
    packet.wire = data_wire(s, packet.payload)
    flags = 0
    if at == 0:
        flags |= Flag.FIRST
    if at == message.packets - 1:
        flags |= Flag.LAST | Flag.ACK_REQUEST
    elif (psn + 1) % requester.ack_every == 0:
        flags |= Flag.ACK_REQUEST
    packet.bits = flags
    packet.kind = PacketKind.DATA if requester.service == 0 else PacketKind.MANAGEMENT
    packet.psn = psn
    packet.qp = qp
    packet.dlid = requester.dlid
    packet.sl = requester.sl
    packet.posted_ps = message.posted_ps
    packet.port = -1
    packet.hits = 0
    return index


@inline_kernel
def data_wire(s: State, payload: int) -> int:
    """Wire bytes of a data packet: padded payload and headers."""
    return (payload + 3) // 4 * 4 + s.par[0].data_overhead


@inline_kernel
def next_wire(s: State, qp: int) -> int:
    """Wire bytes of the packet that a requester would send."""
    requester = s.requester[qp]
    message = s.message[requester.current]
    at = requester.next_psn - message.first_psn
    return data_wire(s, min(s.par[0].mtu, message.bytes - at * s.par[0].mtu))


@seldom_kernel
def _wake_sender_rank(s: State, flow: int, now_ps: int) -> None:
    rank = s.flow[flow].sender
    s.flow[flow].sender = -1
    push_event(s, now_ps, s.rank[rank].node, EventKind.RANK, rank, rank)


@inline_kernel
def advance_requester(s: State, qp: int, start_ps: int, now_ps: int) -> None:
    """A packet of a requester has been chosen: sequence number, message, acknowledgement timer."""
    requester = s.requester[qp]
    message = s.message[requester.current]
    if requester.next_psn < requester.high_psn:
        requester.retransmitted += 1
    if requester.next_psn == 0:
        requester.first_ps = start_ps if requester.first_ps < 0 else requester.first_ps
    requester.next_psn += 1
    last = requester.next_psn == message.first_psn + message.packets
    if last:
        requester.current = message.next
        requester.sendable -= 1
    if requester.next_psn > requester.high_psn:
        requester.high_psn = requester.next_psn
        if last:
            requester.unsent -= 1
            if requester.unsent == 0 and s.flow[requester.flow].sender >= 0:
                _wake_sender_rank(s, requester.flow, now_ps)
    if requester.deadline_ps == NEVER and requester.service == 0:
        _start_timer(s, qp, start_ps)


@seldom_kernel
def _start_timer(s: State, qp: int, from_ps: int) -> None:
    requester = s.requester[qp]
    node = s.port[requester.port].node
    requester.deadline_ps = from_ps + s.hca[node].ack_timeout_ps
    if not requester.timer_armed:
        requester.timer_armed = 1
        push_event(s, requester.deadline_ps, node, EventKind.ACK_TIMER, qp, qp)


@inline_kernel
def _finish_oldest(s: State, qp: int) -> None:
    """The oldest message is acknowledged (or, a datagram, sent)."""
    requester = s.requester[qp]
    index = requester.oldest
    requester.oldest = s.message[index].next
    if requester.oldest < 0:
        requester.newest = -1
    requester.completed += 1
    s.g[0].outstanding -= 1
    give_message(s, index)


@seldom_kernel
def _send_datagrams(s: State, qp: int, now_ps: int) -> int:
    """Queues every packet of a management queue pair on VL15; returns the port to serve."""
    requester = s.requester[qp]
    index = pv_of(s, requester.port, s.par[0].vls - 1)
    while can_send(s, qp):
        push_fifo(s, index, build_data(s, qp))
        advance_requester(s, qp, now_ps, now_ps)
        requester.una_psn = requester.next_psn
        if requester.oldest != requester.current:
            _finish_oldest(s, qp)
    return np.int64(requester.port)


@inline_kernel
def wake_requester(s: State, qp: int, now_ps: int) -> int:
    """Lets an idle requester send again if it can; returns the port to serve."""
    requester = s.requester[qp]
    if requester.state != QpState.IDLE or not can_send(s, qp):
        return NOBODY
    if requester.service != 0:
        return _send_datagrams(s, qp, now_ps)
    if requester.allowed_ps > now_ps:
        requester.state = QpState.PACED
        push_event(s, requester.allowed_ps, s.port[requester.port].node, EventKind.PACED, qp, qp)
        return NOBODY
    join_ring(s, qp)
    return np.int64(requester.port)


@inline_kernel
def post_message(s: State, qp: int, length_bytes: int, now_ps: int) -> int:
    """Posts a message; returns the port to serve."""
    g = s.g[0]
    requester = s.requester[qp]
    requester.posted += 1
    if requester.state == QpState.ERROR:
        requester.failed += 1
        return NOBODY
    index = take_message(s)
    message = s.message[index]
    message.bytes = length_bytes
    message.packets = max(1, (length_bytes + s.par[0].mtu - 1) // s.par[0].mtu)
    message.first_psn = requester.free_psn
    message.posted_ps = now_ps
    message.next = -1
    requester.free_psn += message.packets
    if requester.newest >= 0:
        s.message[requester.newest].next = index
    else:
        requester.oldest = index
    requester.newest = index
    if requester.current < 0:
        requester.current = index
    requester.unsent += 1
    g.outstanding += 1
    if requester.last_end_ps > now_ps and requester.fetching == 0:
        requester.sendable += 1
        return wake_requester(s, qp, now_ps)
    requester.fetching += 1
    node = s.port[requester.port].node
    push_event(s, now_ps + s.node[node].tx_latency_ps, node, EventKind.POSTED, qp, qp)
    return NOBODY


@inline_kernel
def on_posted(s: State, qp: int, now_ps: int) -> int:
    """POSTED: a posted message may be sent; returns the port to serve."""
    requester = s.requester[qp]
    requester.fetching -= 1
    if requester.state == QpState.ERROR:
        return NOBODY
    requester.sendable += 1
    return wake_requester(s, qp, now_ps)


@inline_kernel
def on_paced(s: State, qp: int, now_ps: int) -> int:
    """PACED: the injection-rate delay is over; returns the port to serve."""
    requester = s.requester[qp]
    if requester.state != QpState.PACED:
        return NOBODY
    requester.state = QpState.IDLE
    return wake_requester(s, qp, now_ps)


@inline_kernel
def acknowledge(s: State, qp: int, up_to_psn: int, now_ps: int) -> None:
    """All PSNs below a number are acknowledged."""
    requester = s.requester[qp]
    if up_to_psn <= requester.una_psn or up_to_psn > requester.high_psn:
        return
    node = s.port[requester.port].node
    requester.una_psn = up_to_psn
    requester.retries_left = s.hca[node].retry_count
    requester.rnr_left = s.hca[node].rnr_retry
    if requester.next_psn < up_to_psn:
        _skip_to(s, qp, up_to_psn, now_ps)
    while requester.oldest >= 0:
        oldest = s.message[requester.oldest]
        if oldest.first_psn + oldest.packets > up_to_psn:
            break
        _finish_oldest(s, qp)
    if requester.next_psn == requester.una_psn and requester.high_psn == requester.una_psn:
        requester.deadline_ps = NEVER
    else:
        requester.deadline_ps = now_ps + s.hca[node].ack_timeout_ps


@seldom_kernel
def _skip_to(s: State, qp: int, psn: int, now_ps: int) -> None:
    """After going back, an acknowledgement of what was about to be sent again."""
    requester = s.requester[qp]
    requester.next_psn = psn
    while requester.current >= 0:
        message = s.message[requester.current]
        if message.first_psn + message.packets > psn:
            _choose_again(s, qp, now_ps)
            return
        requester.current = message.next
        requester.sendable -= 1
    if requester.state == QpState.READY and not can_send(s, qp):
        leave_ring(s, qp, now_ps)


@seldom_kernel
def _go_back(s: State, qp: int, now_ps: int) -> None:
    """Sends again from the first PSN that is not acknowledged."""
    requester = s.requester[qp]
    stop = requester.current
    requester.next_psn = requester.una_psn
    requester.current = requester.oldest
    index = requester.oldest
    while index >= 0 and index != stop:
        requester.sendable += 1
        index = s.message[index].next
    _choose_again(s, qp, now_ps)


@seldom_kernel
def _fail(s: State, qp: int, now_ps: int) -> None:
    """Retries exhausted: the queue pair stops, its messages fail."""
    requester = s.requester[qp]
    if requester.state == QpState.READY:
        leave_ring(s, qp, now_ps)
    requester.state = QpState.ERROR
    while requester.oldest >= 0:
        index = requester.oldest
        requester.oldest = s.message[index].next
        requester.failed += 1
        s.g[0].outstanding -= 1
        give_message(s, index)
    s.g[0].last_live_ps = now_ps
    requester.newest = -1
    requester.current = -1
    requester.sendable = 0
    requester.unsent = 0
    requester.deadline_ps = NEVER
    write_log(s, now_ps, s.port[requester.port].node, LogKind.QP_ERROR, qp, requester.una_psn)
    if s.flow[requester.flow].sender >= 0:
        _wake_sender_rank(s, requester.flow, now_ps)


@seldom_kernel
def _retry(s: State, qp: int, now_ps: int) -> int:
    """Goes back, at the cost of one retry; returns the port to serve."""
    requester = s.requester[qp]
    if requester.retries_left == 0:
        _fail(s, qp, now_ps)
        return NOBODY
    requester.retries_left -= 1
    _go_back(s, qp, now_ps)
    return wake_requester(s, qp, now_ps)


@seldom_kernel
def on_ack_timer(s: State, qp: int, now_ps: int) -> int:
    """ACK_TIMER: retries if the deadline has come; returns the port to serve."""
    requester = s.requester[qp]
    requester.timer_armed = 0
    if requester.deadline_ps == NEVER:
        return NOBODY
    node = s.port[requester.port].node
    if requester.deadline_ps > now_ps:
        requester.timer_armed = 1
        push_event(s, requester.deadline_ps, node, EventKind.ACK_TIMER, qp, qp)
        return NOBODY
    if requester.state == QpState.RNR_WAIT:
        _start_timer(s, qp, now_ps)
        return NOBODY
    s.port_more[requester.port].ack_timeouts += 1
    served = _retry(s, qp, now_ps)
    if requester.state != QpState.ERROR:
        _start_timer(s, qp, now_ps)
    return served


@seldom_kernel
def on_rnr_timer(s: State, qp: int, now_ps: int) -> int:
    """RNR_TIMER: sends again; returns the port to serve."""
    requester = s.requester[qp]
    if requester.state != QpState.RNR_WAIT:
        return NOBODY
    requester.state = QpState.IDLE
    return wake_requester(s, qp, now_ps)


@seldom_kernel
def _on_rnr_nak(s: State, qp: int, now_ps: int) -> None:
    requester = s.requester[qp]
    node = s.port[requester.port].node
    if s.hca[node].rnr_retry != INFINITE_RNR:
        if requester.rnr_left == 0:
            _fail(s, qp, now_ps)
            return
        requester.rnr_left -= 1
    if requester.state == QpState.READY:
        leave_ring(s, qp, now_ps)
    _go_back(s, qp, now_ps)
    requester.state = QpState.RNR_WAIT
    push_event(s, now_ps + s.hca[node].rnr_timer_ps, node, EventKind.RNR_TIMER, qp, qp)


@inline_kernel
def on_response(s: State, packet_index: int, now_ps: int) -> int:
    """A response at the requester's HCA; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    kind = packet.kind
    if packet.bits & Flag.BECN:
        on_becn(s, qp, now_ps)
    requester = s.requester[qp]
    if kind == PacketKind.CNP or requester.state == QpState.ERROR:
        return NOBODY
    if kind == PacketKind.ACK:
        acknowledge(s, qp, packet.psn + 1, now_ps)
        return wake_requester(s, qp, now_ps)
    return _on_nak(s, qp, packet.psn, kind, now_ps)


@seldom_kernel
def _on_nak(s: State, qp: int, psn: int, kind: int, now_ps: int) -> int:
    """NAK(psn) or RNR NAK(psn); an old one is ignored."""
    acknowledge(s, qp, psn, now_ps)
    requester = s.requester[qp]
    if kind == PacketKind.NAK:
        s.port_more[requester.port].sequence_naks += 1
    if psn != requester.una_psn or psn >= requester.high_psn or requester.state == QpState.RNR_WAIT:
        return NOBODY
    if kind == PacketKind.RNR_NAK:
        s.port_more[requester.port].rnr_naks += 1
        _on_rnr_nak(s, qp, now_ps)
        return NOBODY
    return _retry(s, qp, now_ps)


@inline_kernel
def respond(s: State, qp: int, kind: int, psn: int, becn: bool) -> int:
    """Queues a response; returns the port to serve."""
    responder = s.responder[qp]
    index = responder.response
    if index >= 0:
        packet = s.packet[index]
        if kind == PacketKind.CNP:
            packet.bits |= Flag.BECN
            return np.int64(responder.port)
        if packet.kind == PacketKind.CNP:
            packet.wire = s.par[0].ack_bytes
        packet.kind = kind
        packet.psn = psn
        if becn:
            packet.bits |= Flag.BECN
        return np.int64(responder.port)
    index = take_packet(s)
    packet = s.packet[index]
    packet.kind = kind
    packet.bits = Flag.BECN if becn else 0
    packet.payload = 0
    packet.wire = s.par[0].cnp_bytes if kind == PacketKind.CNP else s.par[0].ack_bytes
    packet.psn = psn
    packet.qp = qp
    packet.dlid = responder.dlid
    packet.sl = s.requester[qp].sl
    packet.posted_ps = 0
    packet.port = -1
    packet.hits = 0
    responder.response = index
    push_fifo(s, pv_of(s, responder.port, responder.vl), index)
    s.port[responder.port].vl_mask = s.port[responder.port].vl_mask | (1 << np.int64(responder.vl))
    return np.int64(responder.port)


@inline_kernel
def deliver(s: State, packet_index: int, now_ps: int) -> None:
    """An accepted packet's payload, and its message if it is the last."""
    packet = s.packet[packet_index]
    g = s.g[0]
    qp = packet.qp
    responder = s.responder[qp]
    node = s.port[responder.port].node
    at_ps = now_ps + s.node[node].rx_latency_ps
    responder.bytes += packet.payload
    responder.last_ps = at_ps
    if packet.bits & Flag.LAST:
        responder.messages += 1
        record = s.latency[g.latencies]
        record.qp = qp
        record.at_ps = at_ps
        record.latency_ps = at_ps - packet.posted_ps
        g.latencies += 1
        if s.flow[responder.flow].consumer:
            push_event(s, at_ps, node, EventKind.RECEIVED, qp, qp)


@inline_kernel
def on_data(s: State, packet_index: int, now_ps: int) -> int:
    """A data packet at the responder; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    responder = s.responder[qp]
    port = s.port_more[packet.port]
    flags = packet.bits
    becn = (flags & Flag.FECN) != 0
    if packet.kind == PacketKind.MANAGEMENT:
        deliver(s, packet_index, now_ps)
        return NOBODY
    ahead = packet.psn - responder.expected_psn
    if ahead == 0 and (port.receives or flags & Flag.FIRST == 0):
        responder.expected_psn += 1
        responder.nak_sent = 0
        deliver(s, packet_index, now_ps)
        if flags & Flag.ACK_REQUEST:
            return respond(s, qp, PacketKind.ACK, packet.psn, becn)
    elif ahead == 0:
        responder.nak_sent = 1
        return respond(s, qp, PacketKind.RNR_NAK, packet.psn, becn)
    elif ahead > 0:
        port.out_of_sequence += 1
        if not responder.nak_sent:
            responder.nak_sent = 1
            return respond(s, qp, PacketKind.NAK, responder.expected_psn, becn)
    else:
        port.duplicates += 1
        if flags & Flag.ACK_REQUEST:
            return respond(s, qp, PacketKind.ACK, responder.expected_psn - 1, becn)
    if becn:
        return respond(s, qp, PacketKind.CNP, packet.psn, True)
    return NOBODY
