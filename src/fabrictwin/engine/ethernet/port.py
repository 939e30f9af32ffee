# SPDX-License-Identifier: Apache-2.0
"""The choice at an Ethernet port, and the packet on its link.

**Models**: docs/models/rocev2.md sections 2 to 5.
**Events in**: PORT_FREE, and whatever returned this port. **Out**: PORT_FREE, ARRIVE.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cc.hpcc import note_use
from fabrictwin.engine.codes import Flag, PacketKind, RateControl
from fabrictwin.engine.ethernet.buffer import frame_bytes, release
from fabrictwin.engine.ethernet.nic import after_frame, take_from_nic
from fabrictwin.engine.ethernet.pfc import resume_if_drained
from fabrictwin.engine.link import begin_packet, send_off, serve_later
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.engine.state_type import lowest_bit
from fabrictwin.engine.vl_arbitration import charge_vl, choose_vl
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def _not_paused(s: State, p: int, waiting: int) -> int:
    """Those of a set of priorities that may send, as bits."""
    allowed = waiting
    left = waiting
    while left != 0:
        priority = lowest_bit(np.uint64(left))
        left &= left - 1
        if s.lane[pv_of(s, p, priority)].until_ps != 0:
            allowed ^= 1 << priority
    return allowed


@seldom_kernel
def is_marked(s: State, p: int, waiting_bytes: int) -> bool:
    """Whether a data packet that leaves a queue of so many bytes is marked; the queue is above Kmin."""
    port = s.port[p]
    rule = s.buffer_rule[port.node]
    if rule.pmax_q16 == 0:
        return False
    if waiting_bytes > rule.kmax_bytes:
        return True
    below = rule.pmax_q16 * (waiting_bytes - rule.kmin_bytes) // (rule.kmax_bytes - rule.kmin_bytes)
    return bool(draw_below(s.par[0].seed, Stream.ECN, p, port.xmit_pkts, 1 << 16) < below)


@inline_kernel
def _take_from_switch(s: State, p: int, priority: int, now_ps: int) -> int:
    """Removes the first packet of an output's priority, marks it, and gives its buffer back."""
    port = s.port[p]
    lane = pv_of(s, p, priority)
    pv = s.pv[lane]
    index = np.int64(pv.ring_head)
    packet = s.packet[index]
    pv.ring_head = packet.next
    pv.ring_count -= 1
    if pv.ring_head < 0:
        pv.ring_tail = -1
        port.vl_mask = port.vl_mask & (0xFFFF ^ (1 << priority))
    above = pv.waiting_blocks > s.buffer_rule[port.node].kmin_bytes and packet.kind == PacketKind.DATA
    if above and is_marked(s, p, np.int64(pv.waiting_blocks)):
        packet.bits |= Flag.CE
        s.port_more[p].fecn_marked += 1
    size_bytes = frame_bytes(s, index)
    pv.waiting_blocks -= size_bytes
    s.lane[lane].departed_ps = now_ps
    if s.par[0].rate_control == RateControl.HPCC:
        note_use(s, p, index, np.int64(pv.waiting_blocks), now_ps)
    group = pv_of(s, packet.port, packet.vl)
    release(s, port.node, group, size_bytes)
    resume_if_drained(s, port.node, group, now_ps)
    return index


@inline_kernel
def serve_ethernet(s: State, p: int, now_ps: int) -> None:
    """Chooses and starts a packet if the transmitter is free, or sees to it that this happens when it is."""
    port = s.port[p]
    if port.up == 0 or port.vl_mask == 0:
        return
    if port.data_free_ps > now_ps:
        serve_later(s, p, port.data_free_ps)
        return
    allowed = _not_paused(s, p, np.int64(port.vl_mask))
    if allowed == 0:
        return
    high = False
    if allowed & (allowed - 1) == 0:
        priority = lowest_bit(np.uint64(allowed))
    else:
        priority, high = choose_vl(s, p, allowed)
    sender = np.int64(-1)
    if port.voq0 < 0:
        index = take_from_nic(s, p, priority)
        if s.packet[index].kind == PacketKind.DATA:
            sender = np.int64(s.packet[index].qp)
    else:
        index = _take_from_switch(s, p, priority, now_ps)
    wire, psn = np.int64(s.packet[index].wire), s.packet[index].psn
    asks = s.packet[index].bits & Flag.ACK_REQUEST != 0
    if allowed & (allowed - 1) != 0:
        charge_vl(s, p, high, wire)
    begin_packet(s, p, index, priority, now_ps)
    send_off(s, p, index, priority)
    if sender >= 0:
        after_frame(s, sender, psn, wire, asks, now_ps)
    if port.vl_mask != 0:
        serve_later(s, p, port.data_free_ps)
