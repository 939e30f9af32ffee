# SPDX-License-Identifier: Apache-2.0
"""An input-buffered switch: forwarding, virtual output queues, cut-through, head-of-queue lifetime.

**Models**: docs/models/infiniband.md sections 4 and 6. **Not**: contention inside the crossbar.
**State**: ``VOQ`` FIFOs, the ring of those that have packets (``PV.ring_*``), ``PV.head_since_ps``.
**Events in**: ARRIVE, STORED, HOQ_TIMER. **Out**: STORED, HOQ_TIMER; the port to serve is returned.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V03, V04, V15, V16).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import has_credits, send_fcps, unblock_sender, wire_time
from fabrictwin.engine.cc.ib_cca import mark_fecn
from fabrictwin.engine.codes import DROP_PORT, NEVER, STALL_FACTOR, EventKind, LogKind, PacketKind, PvCare
from fabrictwin.engine.link import blocks_of, discard_packet, receive_packet, tail_in, transmit
from fabrictwin.engine.pools import write_log
from fabrictwin.engine.port_vl import number_of, pv_of, split_number
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel

NOBODY = -1
"""No port has to be served."""


@inline_kernel
def push_fifo(s: State, index: int, packet_index: int) -> None:
    """Appends a packet to the FIFO of a PV (responses of an HCA, VL15)."""
    pv = s.pv_more[index]
    s.packet[packet_index].next = -1
    if pv.fifo_tail < 0:
        pv.fifo_head = packet_index
    else:
        s.packet[pv.fifo_tail].next = packet_index
    pv.fifo_tail = packet_index


@inline_kernel
def pop_fifo(s: State, index: int) -> int:
    """Takes the first packet of the FIFO of a PV, which has one."""
    pv = s.pv_more[index]
    first = pv.fifo_head
    pv.fifo_head = s.packet[first].next
    if pv.fifo_head < 0:
        pv.fifo_tail = -1
    return first


@inline_kernel
def _ring_append(s: State, index: int, voq: int) -> None:
    pv = s.pv[index]
    s.voq[voq].next = -1
    if pv.ring_tail < 0:
        pv.ring_head = voq
    else:
        s.voq[pv.ring_tail].next = voq
    pv.ring_tail = voq


@inline_kernel
def _ring_turn(s: State, index: int) -> None:
    """The front goes to the end."""
    pv = s.pv[index]
    front = pv.ring_head
    if front != pv.ring_tail:
        pv.ring_head = s.voq[front].next
        _ring_append(s, index, front)


@seldom_kernel
def _turn_randomly(s: State, p: int, vl: int) -> None:
    index = pv_of(s, p, vl)
    seed, number = s.par[0].seed, number_of(s, p, vl)
    places = draw_below(seed, Stream.ARBITER, number, s.pv_more[index].departures, s.pv[index].ring_count)
    for _ in range(places):
        _ring_turn(s, index)


@seldom_kernel
def arm_hoq(s: State, p: int, vl: int) -> None:
    """Makes sure that a HOQ_TIMER of a PV is under way."""
    pv = s.pv[pv_of(s, p, vl)]
    life_ps = hoq_life(s, p)
    if life_ps >= NEVER:
        pv.care = pv.care | PvCare.NO_HOQ
        return
    pv.care = pv.care | PvCare.HOQ_ARMED
    at_ps = pv.head_since_ps + life_ps
    push_event(s, at_ps, s.port[p].node, EventKind.HOQ_TIMER, number_of(s, p, vl), p)


@inline_kernel
def hoq_life(s: State, p: int) -> int:
    """Head-of-queue lifetime of a switch port."""
    node = s.node[s.port[p].node]
    return node.leaf_hoq_ps if s.port[p].peer_is_hca else node.hoq_ps


@inline_kernel
def _enqueue(s: State, out: int, vl: int, packet_index: int, now_ps: int) -> None:
    port = s.port[out]
    packet = s.packet[packet_index]
    index = pv_of(s, out, vl)
    pv = s.pv[index]
    node_ports = s.node[port.node].ports
    voq = port.voq0 + vl * node_ports + s.pv_input[packet.port].number - 1
    packet.next = -1
    pv.waiting_blocks += packet.blocks
    queue = s.voq[voq]
    if queue.head < 0:
        queue.head = packet_index
        queue.tail = packet_index
        queue.wire = packet.wire
        _ring_append(s, index, voq)
        pv.ring_count += 1
        if pv.ring_count == 1:
            pv.head_since_ps = now_ps
            port.vl_mask = port.vl_mask | (1 << vl)
            if not pv.care & (PvCare.HOQ_ARMED | PvCare.NO_HOQ):
                arm_hoq(s, out, vl)
    else:
        s.packet[queue.tail].next = packet_index
        queue.tail = packet_index


@seldom_kernel
def _forget_discards(s: State, index: int) -> None:
    """A packet leaves: discards in a row are counted anew."""
    s.pv_more[index].discards_in_row = 0
    s.pv[index].care = s.pv[index].care & ~PvCare.DISCARDED


@inline_kernel
def _remove_candidate(s: State, p: int, vl: int, now_ps: int) -> int:
    """Removes the candidate of an output's VL, and turns the ring."""
    port = s.port[p]
    index = pv_of(s, p, vl)
    pv = s.pv[index]
    voq = np.int64(pv.ring_head)
    queue = s.voq[voq]
    packet_index = np.int64(queue.head)
    packet = s.packet[packet_index]
    following = packet.next
    queue.head = following
    pv.waiting_blocks -= packet.blocks
    if following < 0:
        queue.tail = -1
        pv.ring_head = queue.next
        pv.ring_count -= 1
        if pv.ring_head < 0:
            pv.ring_tail = -1
            port.vl_mask = port.vl_mask & (0xFFFF ^ (1 << vl))
    else:
        queue.wire = s.packet[following].wire
        _ring_turn(s, index)
    pv.head_since_ps = now_ps
    if pv.ring_count > 1 and pv.care & PvCare.DRAWS:
        _turn_randomly(s, p, vl)
    return packet_index


@inline_kernel
def take_from_queues(s: State, p: int, vl: int, now_ps: int) -> int:
    """Removes the candidate of an output's VL to send it, and marks it if the output is congested."""
    packet_index = _remove_candidate(s, p, vl, now_ps)
    index = pv_of(s, p, vl)
    pv = s.pv[index]
    if pv.care & PvCare.DISCARDED:
        _forget_discards(s, index)
    if pv.care & PvCare.DRAWS:
        s.pv_more[index].departures += 1
    if pv.care & PvCare.MARKS:
        mark_fecn(s, p, index, packet_index)
    pv.starved = 0
    return packet_index


@seldom_kernel
def _refuse(s: State, packet_index: int, out: int, now_ps: int) -> int:
    """Discards a packet that cannot go to an output (-1: there is none)."""
    packet = s.packet[packet_index]
    if out < 0:
        s.port_more[packet.port].relay_errors += 1
    else:
        s.port_more[out].xmit_discards += 1
    discard_packet(s, packet_index, max(now_ps, tail_in(s, packet_index)))
    return NOBODY


@seldom_kernel
def _offer_vl15(s: State, packet_index: int, out: int) -> int:
    packet = s.packet[packet_index]
    port_in = s.port_more[packet.port]
    if s.pv_input[pv_of(s, packet.port, packet.vl)].held_blocks > port_in.vl15_blocks:
        port_in.vl15_dropped += 1
        discard_packet(s, packet_index, tail_in(s, packet_index))
        return NOBODY
    push_fifo(s, pv_of(s, out, s.par[0].vls - 1), packet_index)
    return out


@inline_kernel
def offer_packet(s: State, packet_index: int, out: int, now_ps: int) -> int:
    """A packet is ready for its output; returns the port to serve."""
    packet = s.packet[packet_index]
    if s.port[out].up == 0:
        return _refuse(s, packet_index, out, now_ps)
    if packet.kind == PacketKind.MANAGEMENT:
        return _offer_vl15(s, packet_index, out)
    vl = np.int64(s.sl2vl[packet.sl])
    if vl >= s.par[0].vls - 1:
        return _refuse(s, packet_index, out, now_ps)
    index = pv_of(s, out, vl)
    if s.pv[index].care & PvCare.STALLED and s.pv_more[index].stalled_until_ps > now_ps:
        return _refuse(s, packet_index, out, now_ps)
    _enqueue(s, out, vl, packet_index, now_ps)
    return out


@inline_kernel
def find_output(s: State, packet_index: int, node_index: int) -> int:
    """Port that a switch's forwarding table names for a packet, -1: none."""
    packet = s.packet[packet_index]
    node = s.node[node_index]
    number = np.int64(s.lft[node.switch * s.par[0].lids + packet.dlid])
    if number == 0 or number == DROP_PORT or number > node.ports:
        return -1
    out = node.port0 + number - 1
    if out == packet.port or s.port[out].peer < 0:
        return -1
    return out


@inline_kernel
def _pass_through(s: State, packet_index: int, out: int, now_ps: int) -> bool:
    """Sends a packet at once if its output is free and nobody waits there: what most packets do.

    The same as to queue it and to choose it, on a fabric with a single data VL.
    """
    port = s.port[out]
    if port.vl_mask != 0 or port.data_free_ps > now_ps or port.up == 0 or s.par[0].management:
        return False
    pv = s.pv[out]
    packet = s.packet[packet_index]
    if pv.care & PvCare.STALLED or s.sl2vl[packet.sl] != 0:
        return False
    if not has_credits(s, out, out, blocks_of(packet.wire, pv.block_shift), now_ps):
        return False
    if pv.care & PvCare.DISCARDED:
        _forget_discards(s, out)
    if pv.care & PvCare.DRAWS:
        s.pv_more[out].departures += 1
    pv.starved = 0
    send_fcps(s, out, now_ps)
    transmit(s, out, packet_index, 0, now_ps)
    return True


@inline_kernel
def on_arrive_switch(s: State, packet_index: int, node_index: int, now_ps: int) -> int:
    """ARRIVE at a switch; returns the port to serve."""
    if not receive_packet(s, packet_index, now_ps):
        return NOBODY
    packet = s.packet[packet_index]
    s.pv_input[pv_of(s, packet.port, packet.vl)].held_blocks += packet.blocks
    out = find_output(s, packet_index, node_index)
    if out < 0:
        return _refuse(s, packet_index, out, now_ps)
    node = s.node[node_index]
    if node.stores == 0:
        ser_out_ps = wire_time(packet.wire, s.port[out].fs_per_byte)
        if ser_out_ps < packet.ser_ps:
            at_ps = tail_in(s, packet_index) + node.forwarding_ps
            packet.next = out
            push_event(s, at_ps, node_index, EventKind.STORED, packet.port, packet_index)
            return NOBODY
    if s.par[0].vls == 2 and _pass_through(s, packet_index, out, now_ps):
        return NOBODY
    return offer_packet(s, packet_index, out, now_ps)


@seldom_kernel
def on_stored(s: State, packet_index: int, now_ps: int) -> int:
    """STORED: a packet that had to be stored may go; returns the port to serve."""
    return offer_packet(s, packet_index, np.int64(s.packet[packet_index].next), now_ps)


@seldom_kernel
def discard_waiting(s: State, p: int, vl: int, now_ps: int) -> None:
    """Discards all that waits for an output's VL."""
    index = pv_of(s, p, vl)
    pv = s.pv[index]
    while pv.ring_count > 0:
        packet_index = _remove_candidate(s, p, vl, now_ps)
        s.port_more[p].xmit_discards += 1
        discard_packet(s, packet_index, max(now_ps, tail_in(s, packet_index)))
    if pv.blocked:
        unblock_sender(s, p, index, now_ps)
    pv.credit_at_ps = NEVER


@seldom_kernel
def on_hoq_timer(s: State, number: int, now_ps: int) -> int:
    """HOQ_TIMER: discards a candidate that is too old; returns the port to serve."""
    p, vl = split_number(s, number)
    index = pv_of(s, p, vl)
    pv = s.pv[index]
    pv.care = pv.care & ~PvCare.HOQ_ARMED
    if pv.ring_count == 0:
        return NOBODY
    life_ps = hoq_life(s, p)
    if pv.head_since_ps + life_ps > now_ps:
        arm_hoq(s, p, vl)
        return NOBODY
    packet_index = _remove_candidate(s, p, vl, now_ps)
    s.port_more[p].xmit_discards += 1
    discard_packet(s, packet_index, now_ps)
    if pv.blocked:
        unblock_sender(s, p, index, now_ps)
    more = s.pv_more[index]
    more.discards_in_row += 1
    pv.care = pv.care | PvCare.DISCARDED
    if more.discards_in_row >= s.node[s.port[p].node].stall_count:
        more.stalled_until_ps = now_ps + STALL_FACTOR * life_ps
        more.discards_in_row = 0
        pv.care = pv.care | PvCare.STALLED
        discard_waiting(s, p, vl, now_ps)
        write_log(s, now_ps, s.port[p].node, LogKind.VL_STALLED, p, vl)
    elif pv.ring_count > 0:
        arm_hoq(s, p, vl)
    return p
