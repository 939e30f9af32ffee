# SPDX-License-Identifier: Apache-2.0
"""An adapter on Ethernet: which queue pair sends next, what comes in, CNPs, and its receive buffer.

**Models**: docs/models/rocev2.md sections 2, 4 and 7.
**Events in**: ARRIVE, DRAINED. **Out**: DRAINED, PACED; the port to serve is returned.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import wire_time
from fabrictwin.engine.cc.dcqcn import on_cnp, owes_cnp
from fabrictwin.engine.cc.rate import keep_to_window, on_acknowledgement, on_departure, sending_time
from fabrictwin.engine.codes import (
    CNP_PRIORITY,
    FLOODED_TTL,
    TTL,
    Flag,
    LossRecovery,
    PacketKind,
    RateControl,
)
from fabrictwin.engine.ethernet.buffer import admit, count_full, frame_bytes, release
from fabrictwin.engine.ethernet.pfc import pause_if_full, resume_if_drained
from fabrictwin.engine.ethernet.restart import on_data_restarting, on_response_restarting
from fabrictwin.engine.ethernet.selective import build_again, on_data_selective, on_response_selective
from fabrictwin.engine.hca import drain_next, go_on, queue_to_drain, take_turn
from fabrictwin.engine.link import receive_packet, serve_later
from fabrictwin.engine.pools import give_packet, take_packet
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY, pop_fifo, push_fifo
from fabrictwin.engine.transport import (
    advance_requester,
    build_data,
    on_data,
    on_response,
)
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def after_frame(s: State, qp: int, psn: int, wire: int, asks: bool, now_ps: int) -> None:
    """Moves a queue pair on after its packet, whose end is known: to the ring again, paced, or idle."""
    requester = s.requester[qp]
    port = s.port[requester.port]
    end_ps = port.data_free_ps
    ser_ps = wire_time(wire, port.fs_per_byte)
    on_departure(s, qp, psn, asks, end_ps)
    if psn == requester.next_psn:
        advance_requester(s, qp, end_ps - ser_ps, now_ps)
    else:
        requester.retransmitted += 1
    requester.last_end_ps = end_ps
    took_ps = sending_time(s, qp, wire, end_ps - ser_ps) if s.par[0].cc_on else ser_ps
    go_on(s, qp, took_ps - ser_ps)


@inline_kernel
def _stamp(s: State, index: int) -> None:
    """What routers look at: how far it may go, and its UDP source port."""
    packet = s.packet[index]
    packet.ttl = TTL
    back = np.int64(0)
    if packet.kind == PacketKind.DATA:
        packet.blocks = 0
    else:
        back = np.int64(1)
        if s.par[0].rate_control == RateControl.HPCC:
            packet.blocks = s.window[packet.qp].heard_q8
    packet.entropy = draw_below(s.par[0].seed, Stream.ENTROPY, packet.qp, back, 1 << 16)


@inline_kernel
def take_from_nic(s: State, p: int, priority: int) -> int:
    """Removes the candidate of a priority: a response, else the next packet of the queue pair in turn."""
    index = pv_of(s, p, priority)
    if s.pv_more[index].fifo_head >= 0:
        packet_index = pop_fifo(s, index)
        if s.responder[s.packet[packet_index].qp].response == packet_index:
            s.responder[s.packet[packet_index].qp].response = -1
    else:
        qp = take_turn(s, index)
        packet_index = build_again(s, qp) if s.requester[qp].resend_head >= 0 else build_data(s, qp)
    if s.pv_more[index].fifo_head < 0 and s.pv[index].ring_head < 0:
        s.port[p].vl_mask = s.port[p].vl_mask & (0xFFFF ^ (1 << priority))
    _stamp(s, packet_index)
    return packet_index


@seldom_kernel
def _send_cnp(s: State, qp: int, now_ps: int) -> None:
    """Queues a CNP for the sender of a queue pair."""
    responder = s.responder[qp]
    p = np.int64(responder.port)
    index = take_packet(s)
    packet = s.packet[index]
    packet.kind = PacketKind.CNP
    packet.bits = 0
    packet.payload = 0
    packet.wire = s.par[0].cnp_bytes
    packet.psn = 0
    packet.qp = qp
    packet.dlid = responder.dlid
    packet.sl = CNP_PRIORITY
    packet.posted_ps = 0
    packet.port = -1
    packet.hits = 0
    push_fifo(s, pv_of(s, p, np.int64(CNP_PRIORITY)), index)
    s.port[p].vl_mask = s.port[p].vl_mask | (1 << CNP_PRIORITY)
    serve_later(s, p, max(now_ps, s.port[p].data_free_ps))


@seldom_kernel
def _on_mark(s: State, packet_index: int, now_ps: int) -> None:
    """A data packet with CE: its queue pair tells the sender, but not too often."""
    qp = np.int64(s.packet[packet_index].qp)
    s.port_more[s.packet[packet_index].port].ecn_received += 1
    if s.par[0].rate_control != RateControl.DCQCN or s.responder[qp].tcp:
        return
    if s.par[0].cc_on and owes_cnp(s, qp, now_ps):
        _send_cnp(s, qp, now_ps)


@inline_kernel
def _receive_data(s: State, packet_index: int, now_ps: int) -> int:
    """A data packet is in memory, or waits for those before it; returns the port to serve."""
    packet = s.packet[packet_index]
    recovery = s.responder[packet.qp].recovery
    if packet.bits & Flag.CE:
        _on_mark(s, packet_index, now_ps)
    if s.par[0].rate_control == RateControl.HPCC:
        s.window[packet.qp].heard_q8 = packet.blocks
    if recovery == LossRecovery.SELECTIVE:
        return on_data_selective(s, packet_index, now_ps)
    if recovery == LossRecovery.GO_BACK_0:
        return on_data_restarting(s, packet_index, now_ps)
    served = on_data(s, packet_index, now_ps)
    give_packet(s, packet_index)
    return served


@seldom_kernel
def _store(s: State, packet_index: int, now_ps: int) -> None:
    """Puts a packet into the receive buffer of a host that does not keep up."""
    packet = s.packet[packet_index]
    lane = pv_of(s, packet.port, packet.vl)
    node = np.int64(s.port[packet.port].node)
    if not admit(s, node, lane, frame_bytes(s, packet_index)):
        count_full(s, lane)
        s.port_more[packet.port].xmit_discards += 1
        give_packet(s, packet_index)
        s.g[0].last_live_ps = now_ps
        return
    queue_to_drain(s, packet_index)
    drain_next(s, np.int64(packet.port), now_ps)
    pause_if_full(s, node, lane, now_ps)


@seldom_kernel
def on_frame_drained(s: State, p: int, now_ps: int) -> int:
    """DRAINED: a packet is in memory; returns the port to serve."""
    port = s.port_more[p]
    index = np.int64(port.draining)
    port.draining = -1
    lane = pv_of(s, p, s.packet[index].vl)
    release(s, s.port[p].node, lane, frame_bytes(s, index))
    served = _receive_data(s, index, now_ps)
    drain_next(s, p, now_ps)
    resume_if_drained(s, s.port[p].node, lane, now_ps)
    return served


@inline_kernel
def _receive_response(s: State, packet_index: int, now_ps: int) -> int:
    """A response, after congestion control has looked at it; returns the port to serve."""
    packet = s.packet[packet_index]
    recovery = s.requester[packet.qp].recovery
    if recovery == LossRecovery.SELECTIVE:
        served = on_response_selective(s, packet_index, now_ps)
    elif recovery == LossRecovery.GO_BACK_0:
        served = on_response_restarting(s, packet_index, now_ps)
    else:
        served = on_response(s, packet_index, now_ps)
    if s.par[0].closed_loop:
        keep_to_window(s, np.int64(packet.qp), now_ps)
    return served


@seldom_kernel
def _drop_foreign(s: State, packet_index: int, now_ps: int) -> int:
    """A packet that a switch has flooded, for another MAC address."""
    s.port_more[s.packet[packet_index].port].rcv_errors += 1
    give_packet(s, packet_index)
    s.g[0].last_live_ps = now_ps
    return NOBODY


@inline_kernel
def on_arrive_nic(s: State, packet_index: int, now_ps: int) -> int:
    """ARRIVE at an adapter; returns the port to serve."""
    if not receive_packet(s, packet_index, now_ps):
        return NOBODY
    packet = s.packet[packet_index]
    p = np.int64(packet.port)
    served = NOBODY
    if packet.ttl == FLOODED_TTL:
        return _drop_foreign(s, packet_index, now_ps)
    if packet.kind == PacketKind.DATA:
        if s.port_more[p].drains:
            _store(s, packet_index, now_ps)
            return NOBODY
        return _receive_data(s, packet_index, now_ps)
    if packet.kind == PacketKind.CNP:
        if s.par[0].cc_on:
            on_cnp(s, np.int64(packet.qp), now_ps)
    else:
        on_acknowledgement(s, packet_index, now_ps)
        served = _receive_response(s, packet_index, now_ps)
    give_packet(s, packet_index)
    return served
