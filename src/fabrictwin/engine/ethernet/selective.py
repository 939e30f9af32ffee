# SPDX-License-Identifier: Apache-2.0
"""Selective repeat: a receiver keeps what comes ahead, and only what is missing is sent again.

**Models**: docs/models/rocev2.md section 8 (after IRN, SIGCOMM 2018). **Not**: IRN's
bitmap, which is a list of packets here.
**State**: ``RESPONDER.held_head`` (packets by PSN), ``REQUESTER.resend_head`` (ranges of PSNs).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import Flag, PacketKind, QpState
from fabrictwin.engine.pools import give_cell, give_packet, take_cell, take_packet
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY, push_fifo
from fabrictwin.engine.transport import (
    acknowledge,
    build_packet,
    can_send,
    deliver,
    leave_ring,
    on_data,
    on_response,
    respond,
    wake_requester,
)
from fabrictwin.jit import inline_kernel, kernel, seldom_kernel


@seldom_kernel
def _ask_again(s: State, qp: int, first_psn: int, count: int) -> int:
    """Queues a NAK that names what is missing; returns the port to serve."""
    responder = s.responder[qp]
    index = take_packet(s)
    packet = s.packet[index]
    packet.kind = PacketKind.NAK
    packet.bits = 0
    packet.payload = min(count, np.int64(0xFFFF))
    packet.wire = s.par[0].ack_bytes
    packet.psn = first_psn
    packet.posted_ps = responder.expected_psn
    packet.qp = qp
    packet.dlid = responder.dlid
    packet.sl = s.requester[qp].sl
    packet.port = -1
    packet.hits = 0
    push_fifo(s, pv_of(s, responder.port, responder.vl), index)
    s.port[responder.port].vl_mask = s.port[responder.port].vl_mask | (1 << np.int64(responder.vl))
    return np.int64(responder.port)


@seldom_kernel
def _hold(s: State, packet_index: int) -> bool:
    """Keeps a packet that came ahead, in the order of PSNs; False: it is there already."""
    packet = s.packet[packet_index]
    responder = s.responder[packet.qp]
    tail = np.int64(responder.held_tail)
    if tail >= 0 and s.packet[tail].psn < packet.psn:
        s.packet[tail].next = packet_index
        packet.next = -1
        responder.held_tail = packet_index
        return True
    before = np.int64(-1)
    here = np.int64(responder.held_head)
    while here >= 0 and s.packet[here].psn < packet.psn:
        before = here
        here = np.int64(s.packet[here].next)
    if here >= 0 and s.packet[here].psn == packet.psn:
        return False
    packet.next = here
    if before < 0:
        responder.held_head = packet_index
    else:
        s.packet[before].next = packet_index
    if here < 0:
        responder.held_tail = packet_index
    return True


@seldom_kernel
def _release_held(s: State, qp: int, now_ps: int) -> int:
    """Delivers what was kept and is now in order; returns the flags of those packets."""
    responder = s.responder[qp]
    flags = np.int64(0)
    while responder.held_head >= 0 and s.packet[responder.held_head].psn <= responder.expected_psn:
        index = np.int64(responder.held_head)
        responder.held_head = s.packet[index].next
        if s.packet[index].psn == responder.expected_psn:
            responder.expected_psn += 1
            deliver(s, index, now_ps)
            flags |= np.int64(s.packet[index].bits)
        give_packet(s, index)
    if responder.held_head < 0:
        responder.held_tail = -1
    return flags


@seldom_kernel
def _keep_ahead(s: State, packet_index: int) -> int:
    """A packet ahead of what is expected: asks for what counts as lost; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    responder = s.responder[qp]
    s.port_more[packet.port].out_of_sequence += 1
    reorder = np.int64(s.hca[s.port[responder.port].node].reorder_packets)
    first = max(responder.asked_psn, responder.expected_psn)
    if reorder == 0 and responder.held_tail >= 0:
        first = max(first, s.packet[responder.held_tail].psn + 1)
    psn = packet.psn
    if not _hold(s, packet_index):
        give_packet(s, packet_index)
        return NOBODY
    if reorder > 0:
        if psn - first <= reorder or first > responder.expected_psn:
            return NOBODY
        psn = s.packet[responder.held_head].psn
    if psn <= first:
        return NOBODY
    responder.asked_psn = psn
    return _ask_again(s, qp, first, psn - first)


@inline_kernel
def on_data_selective(s: State, packet_index: int, now_ps: int) -> int:
    """A data packet at the responder, which takes it over; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    responder = s.responder[qp]
    if packet.psn > responder.expected_psn:
        return _keep_ahead(s, packet_index)
    expected = responder.expected_psn
    served = on_data(s, packet_index, now_ps)
    give_packet(s, packet_index)
    if responder.held_head >= 0 and responder.expected_psn > expected:
        flags = _release_held(s, qp, now_ps)
        if flags & Flag.ACK_REQUEST:
            served = respond(s, qp, PacketKind.ACK, responder.expected_psn - 1, False)
    return served


@kernel
def build_again(s: State, qp: int) -> int:
    """The first packet that a requester has been asked for."""
    requester = s.requester[qp]
    cell = np.int64(requester.resend_head)
    psn = s.cell[cell].time_ps
    message = np.int64(requester.oldest)
    while s.message[message].first_psn + s.message[message].packets <= psn:
        message = np.int64(s.message[message].next)
    s.cell[cell].time_ps += 1
    s.cell[cell].value -= 1
    if s.cell[cell].value == 0:
        _drop_first_range(s, qp)
    return build_packet(s, qp, message, psn)


@inline_kernel
def _drop_first_range(s: State, qp: int) -> None:
    requester = s.requester[qp]
    cell = np.int64(requester.resend_head)
    requester.resend_head = s.cell[cell].next
    if requester.resend_head < 0:
        requester.resend_tail = -1
    give_cell(s, cell)


@seldom_kernel
def _forget_acknowledged(s: State, qp: int, now_ps: int) -> None:
    """Takes what has been acknowledged off what is to be sent again."""
    requester = s.requester[qp]
    while requester.resend_head >= 0:
        cell = s.cell[requester.resend_head]
        late = requester.una_psn - cell.time_ps
        if late <= 0:
            break
        if late >= cell.value:
            _drop_first_range(s, qp)
        else:
            cell.time_ps += late
            cell.value -= late
    if requester.state == QpState.READY and not can_send(s, qp):
        leave_ring(s, qp, now_ps)


@seldom_kernel
def _on_request(s: State, packet_index: int, now_ps: int) -> int:
    """A NAK: what it names is sent again; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    s.port_more[s.requester[qp].port].sequence_naks += 1
    acknowledge(s, qp, packet.posted_ps, now_ps)
    requester = s.requester[qp]
    first = max(packet.psn, requester.una_psn)
    count = min(packet.psn + packet.payload, requester.next_psn) - first
    if count > 0:
        cell = take_cell(s, first, count)
        if requester.resend_tail < 0:
            requester.resend_head = cell
        else:
            s.cell[requester.resend_tail].next = cell
        requester.resend_tail = cell
    _forget_acknowledged(s, qp, now_ps)
    return wake_requester(s, qp, now_ps)


@seldom_kernel
def on_response_selective(s: State, packet_index: int, now_ps: int) -> int:
    """A response at the requester's adapter; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    if packet.kind == PacketKind.NAK:
        return NOBODY if s.requester[qp].state == QpState.ERROR else _on_request(s, packet_index, now_ps)
    served = on_response(s, packet_index, now_ps)
    if s.requester[qp].resend_head >= 0:
        _forget_acknowledged(s, qp, now_ps)
    return served
