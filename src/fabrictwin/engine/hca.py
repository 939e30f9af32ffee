# SPDX-License-Identifier: Apache-2.0
"""An HCA's port: which queue pair sends next, and what comes in.

**Models**: docs/models/infiniband.md sections 3 (receive buffer) and 9.
**State**: the ring of queue pairs and the FIFO of responses of a PV; ``PORT.drain_*``.
**Events in**: ARRIVE, DRAINED. **Out**: DRAINED, PACED; the port to serve is returned.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V01, V10, V40).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import free_blocks, wire_time
from fabrictwin.engine.cc.ib_cca import injection_delay
from fabrictwin.engine.codes import EventKind, PacketKind, QpState
from fabrictwin.engine.link import receive_packet
from fabrictwin.engine.pools import give_packet
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY, pop_fifo
from fabrictwin.engine.transport import (
    advance_requester,
    build_data,
    can_send,
    join_ring,
    on_data,
    on_response,
)
from fabrictwin.jit import inline_kernel, seldom_kernel

AT_LINE_RATE = -1


@inline_kernel
def after_data(s: State, qp: int, wire: int, now_ps: int) -> None:
    """Moves a queue pair on after its packet, whose end is known: to the ring again, paced, or idle."""
    requester = s.requester[qp]
    port = s.port[requester.port]
    end_ps = port.data_free_ps
    ser_ps = wire_time(wire, port.fs_per_byte)
    advance_requester(s, qp, end_ps - ser_ps, now_ps)
    requester.last_end_ps = end_ps
    go_on(s, qp, injection_delay(s, requester.cc, ser_ps) if s.par[0].cc_on else np.int64(0))


@inline_kernel
def go_on(s: State, qp: int, delay_ps: int) -> None:
    """A queue pair may send again so long after its last packet ends: paced, or to the ring at once."""
    requester = s.requester[qp]
    if delay_ps > 0:
        requester.limited_ps += delay_ps
        requester.allowed_ps = requester.last_end_ps + delay_ps
    if not can_send(s, qp):
        return
    if delay_ps > 0:
        requester.state = QpState.PACED
        push_event(s, requester.allowed_ps, s.port[requester.port].node, EventKind.PACED, qp, qp)
    else:
        join_ring(s, qp)


@inline_kernel
def take_turn(s: State, index: int) -> int:
    """Takes the queue pair whose turn it is out of the ring of a port and VL."""
    pv = s.pv[index]
    qp = np.int64(pv.ring_head)
    requester = s.requester[qp]
    pv.ring_head = requester.next
    pv.ring_count -= 1
    if pv.ring_head < 0:
        pv.ring_tail = -1
    requester.state = QpState.IDLE
    return qp


@inline_kernel
def take_from_hca(s: State, p: int, vl: int) -> int:
    """Removes the candidate of a VL: a response, else the next packet of the queue pair whose turn it is."""
    index = pv_of(s, p, vl)
    if s.pv_more[index].fifo_head >= 0:
        packet_index = pop_fifo(s, index)
        s.responder[s.packet[packet_index].qp].response = -1
    else:
        packet_index = build_data(s, take_turn(s, index))
    if s.pv_more[index].fifo_head < 0 and s.pv[index].ring_head < 0:
        s.port[p].vl_mask = s.port[p].vl_mask & (0xFFFF ^ (1 << vl))
    return packet_index


@inline_kernel
def drain_next(s: State, p: int, now_ps: int) -> None:
    """Starts to move the next packet to memory, if the HCA does that now."""
    port = s.port_more[p]
    port.drains = 1
    if port.draining < 0 and port.drain_head < 0 and port.drain_fs == AT_LINE_RATE:
        port.drains = 0
    if port.draining >= 0 or port.drain_head < 0 or port.drain_fs == 0:
        return
    index = port.drain_head
    port.drain_head = s.packet[index].next
    if port.drain_head < 0:
        port.drain_tail = -1
    port.draining = index
    length = s.packet[index].wire
    took_ps = 0 if port.drain_fs == AT_LINE_RATE else wire_time(length, port.drain_fs)
    push_event(s, now_ps + took_ps, s.port[p].node, EventKind.DRAINED, p, p)


@seldom_kernel
def queue_to_drain(s: State, packet_index: int) -> None:
    """Puts a packet behind those that wait to be moved to memory."""
    packet = s.packet[packet_index]
    port = s.port_more[packet.port]
    packet.next = -1
    if port.drain_tail < 0:
        port.drain_head = packet_index
    else:
        s.packet[port.drain_tail].next = packet_index
    port.drain_tail = packet_index


@seldom_kernel
def _drain_later(s: State, packet_index: int, now_ps: int) -> None:
    packet = s.packet[packet_index]
    queue_to_drain(s, packet_index)
    s.pv_input[pv_of(s, packet.port, packet.vl)].held_blocks += packet.blocks
    drain_next(s, packet.port, now_ps)


@seldom_kernel
def on_drained(s: State, p: int, now_ps: int) -> int:
    """DRAINED: a packet is in memory; returns the port to serve."""
    port = s.port_more[p]
    index = port.draining
    port.draining = -1
    packet = s.packet[index]
    s.pv_input[pv_of(s, p, packet.vl)].held_blocks -= packet.blocks
    free_blocks(s, p, packet.vl, now_ps, packet.blocks)
    served = on_data(s, index, now_ps)
    give_packet(s, index)
    drain_next(s, p, now_ps)
    return served


@seldom_kernel
def set_drain_rate(s: State, p: int, fs_per_byte: int, now_ps: int) -> None:
    """The HCA moves packets to memory at another rate from now on."""
    s.port_more[p].drain_fs = fs_per_byte
    drain_next(s, p, now_ps)


@inline_kernel
def on_arrive_hca(s: State, packet_index: int, now_ps: int) -> int:
    """ARRIVE at an HCA; returns the port to serve."""
    if not receive_packet(s, packet_index, now_ps):
        return NOBODY
    packet = s.packet[packet_index]
    p = np.int64(packet.port)
    kind = packet.kind
    data = kind == PacketKind.DATA
    if data and s.port_more[p].drains:
        _drain_later(s, packet_index, now_ps)
        return NOBODY
    if kind != PacketKind.MANAGEMENT:
        free_blocks(s, p, packet.vl, now_ps, packet.blocks)
    served = NOBODY
    if data or kind == PacketKind.MANAGEMENT:
        served = on_data(s, packet_index, now_ps)
    else:
        served = on_response(s, packet_index, now_ps)
    give_packet(s, packet_index)
    return served
