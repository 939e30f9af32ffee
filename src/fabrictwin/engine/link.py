# SPDX-License-Identifier: Apache-2.0
"""Putting a packet on a link: serialisation, propagation, FEC jitter, symbol errors, link-level retry.

**Models**: docs/models/infiniband.md sections 2 and 7.
**State**: ``PORT.tx_free_ps``, ``PV.fctbs``; the packet's times.
**Events out**: ARRIVE at the other end, when the header has passed a switch's pipeline or the last byte is
in an HCA.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V01, V03, V04, V07, V12).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import free_blocks, lose_blocks, wire_time
from fabrictwin.engine.codes import LLR_TRIES, SEQUENCE_MASK, EventKind, Flag, Odd
from fabrictwin.engine.new_paths import note_first_packet
from fabrictwin.engine.pools import give_packet
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def blocks_of(wire: int, block_shift: int) -> int:
    """Credit blocks that a packet takes in a buffer whose block is a power of two."""
    return (wire + (1 << block_shift) - 1) >> block_shift


@inline_kernel
def release_input(s: State, index: int, time_ps: int) -> None:
    """The buffer that a packet stands in is free from a time on."""
    packet = s.packet[index]
    s.pv_input[pv_of(s, packet.port, packet.vl)].held_blocks -= packet.blocks
    if packet.vl < s.par[0].vls - 1 and packet.blocks > 0:
        free_blocks(s, packet.port, packet.vl, time_ps, packet.blocks)


@seldom_kernel
def discard_packet(s: State, index: int, time_ps: int) -> None:
    """Drops a packet that stands in a switch."""
    release_input(s, index, time_ps)
    give_packet(s, index)
    s.g[0].last_live_ps = s.g[0].now_ps


@seldom_kernel
def _is_hit(s: State, p: int, attempt: int) -> bool:
    """Whether a symbol error hits the packet that a port sends, at its first attempt or a later one."""
    below = s.port_more[p].error_below
    sent = s.port[p].xmit_pkts
    if below < 0:
        return attempt == 0 and (sent + 1) % -below == 0
    return 2 * draw_below(s.par[0].seed, Stream.PACKET_ERROR, p, sent * 8 + attempt, 1 << 31) < below


@seldom_kernel
def suffer_errors(s: State, p: int, index: int, ser_ps: int) -> int:
    """Draws symbol errors for a packet; returns the delay of link-level retry, or marks it corrupted."""
    port = s.port[p]
    packet = s.packet[index]
    tries = LLR_TRIES if s.port_more[p].llr else 1
    for attempt in range(tries):
        if not _is_hit(s, p, attempt):
            return attempt * (ser_ps + 2 * port.delay_ps)
        packet.hits += 1
    packet.bits |= Flag.CORRUPTED
    return (tries - 1) * (ser_ps + 2 * port.delay_ps)


@seldom_kernel
def delay_by_jitter(s: State, p: int, head_in_ps: int) -> int:
    """Arrival with FEC jitter; packets of a link stay in order."""
    more = s.port_more[p]
    if more.jitter_ps == 0:
        return head_in_ps
    extra_ps = draw_below(s.par[0].seed, Stream.FEC_JITTER, p, s.port[p].xmit_pkts, more.jitter_ps)
    return max(head_in_ps + extra_ps, more.last_tail_ps)


@seldom_kernel
def trace_packet(s: State, p: int, index: int, vl: int) -> None:
    """Records a packet that starts."""
    g = s.g[0]
    packet = s.packet[index]
    record = s.trace[g.traced]
    record.start_ps = packet.start_ps
    record.psn = packet.psn
    record.port = p
    record.qp = packet.qp
    record.wire = packet.wire
    record.kind = packet.kind
    record.bits = packet.bits
    record.vl = vl
    g.traced += 1


@seldom_kernel
def copy_out(s: State, index: int) -> None:
    """Hands a packet to the bus."""
    g = s.g[0]
    s.out_packet[g.out_packets] = s.packet[index]
    g.out_packets += 1
    give_packet(s, index)


@inline_kernel
def schedule_arrival(s: State, index: int, node_index: int) -> None:
    """ARRIVE for a packet on its way to ``packet.port``, a port of a node. An HCA waits for the last byte."""
    packet = s.packet[index]
    q = packet.port
    node = s.node[node_index]
    at_ps = packet.head_in_ps + node.forwarding_ps
    if node.stores:
        at_ps += packet.ser_ps
    push_event(s, at_ps, node_index, EventKind.ARRIVE, q, index)


@inline_kernel
def begin_packet(s: State, p: int, index: int, vl: int, now_ps: int) -> int:
    """Starts a packet on a port's link; returns when it ends. What goes first has been sent."""
    port = s.port[p]
    packet = s.packet[index]
    ser_ps = wire_time(packet.wire, port.fs_per_byte)
    start_ps = max(now_ps, port.tx_free_ps)
    packet.start_ps = start_ps
    if port.odd:
        if port.odd & Odd.MOVED:
            note_first_packet(s, p, index)
        start_ps += suffer_errors(s, p, index, ser_ps)
    end_ps = start_ps + ser_ps
    port.tx_free_ps = end_ps
    port.data_free_ps = end_ps
    if s.par[0].trace:
        trace_packet(s, p, index, vl)
    s.g[0].packet_hops += 1
    packet.head_in_ps = start_ps + port.delay_ps
    packet.ser_ps = ser_ps
    if port.odd:
        packet.head_in_ps = delay_by_jitter(s, p, packet.head_in_ps)
        s.port_more[p].last_tail_ps = packet.head_in_ps + ser_ps
    port.xmit_bytes += packet.wire
    port.xmit_pkts += 1
    return end_ps


@inline_kernel
def send_off(s: State, p: int, index: int, vl: int) -> None:
    """A packet that was begun is on its way to the other end."""
    port = s.port[p]
    packet = s.packet[index]
    packet.vl = vl
    packet.port = port.peer
    if port.remote:
        copy_out(s, index)
    else:
        schedule_arrival(s, index, port.peer_node)


@inline_kernel
def transmit(s: State, p: int, index: int, vl: int, now_ps: int) -> None:
    """Sends a chosen packet, for which there are credits; FCPs that go first have been sent."""
    packet = s.packet[index]
    end_ps = begin_packet(s, p, index, vl, now_ps)
    if packet.port >= 0:
        release_input(s, index, end_ps)
    pv = s.pv[pv_of(s, p, vl)]
    packet.blocks = blocks_of(packet.wire, pv.block_shift)
    if vl < s.par[0].vls - 1:
        pv.fctbs = (pv.fctbs + packet.blocks) & SEQUENCE_MASK
        if packet.bits & Flag.CORRUPTED:
            lose_blocks(s, p, vl, packet.blocks)
    send_off(s, p, index, vl)


@inline_kernel
def serve_later(s: State, p: int, time_ps: int) -> None:
    """Makes sure that the port chooses a packet at a time: now, or when its last packet ends."""
    port = s.port[p]
    if not port.planned:
        port.planned = 1
        push_event(s, time_ps, port.node, EventKind.PORT_FREE, p, p)


@inline_kernel
def tail_in(s: State, index: int) -> int:
    """When the last byte of a packet has come in."""
    return s.packet[index].head_in_ps + s.packet[index].ser_ps


@seldom_kernel
def _count_hits(s: State, index: int) -> None:
    packet = s.packet[index]
    more = s.port_more[packet.port]
    more.symbol_errors += packet.hits
    if more.llr:
        more.integrity_errors += packet.hits
    packet.hits = 0


@inline_kernel
def receive_packet(s: State, index: int, now_ps: int) -> bool:
    """Counts a packet that arrives at a port; False: it is lost and gone."""
    packet = s.packet[index]
    q = np.int64(packet.port)
    pv = s.pv_input[pv_of(s, q, packet.vl)]
    if packet.hits > 0 or pv.flapped:
        more = s.port_more[q]
        if more.down_at_ps > packet.start_ps and tail_in(s, index) > more.down_at_ps:
            give_packet(s, index)
            return False
        if more.up_at_ps > packet.start_ps:
            packet.blocks = 0  # the link has come up since, and advertised the whole buffer
        _count_hits(s, index)
    if packet.bits & (Flag.CORRUPTED | Flag.FECN | Flag.BECN):
        more = s.port_more[q]
        if packet.bits & Flag.CORRUPTED:
            more.rcv_errors += 1
            give_packet(s, index)
            return False
        if packet.bits & Flag.FECN:
            more.fecn_received += 1
        if packet.bits & Flag.BECN:
            more.becn_received += 1
    pv.rcv_pkts += 1
    pv.rcv_bytes += packet.wire
    return True
