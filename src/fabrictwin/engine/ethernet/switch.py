# SPDX-License-Identifier: Apache-2.0
"""A shared-buffer Ethernet switch: routing, admission, egress queues of priorities, the PFC watchdog.

**Models**: docs/models/rocev2.md sections 3 and 6.
**State**: ``PV.ring_head``, ``ring_tail``: the packets that wait for an output's priority;
``PV.waiting_blocks``: their bytes.
**Events in**: ARRIVE, STORED, WATCHDOG. **Out**: STORED, WATCHDOG; the port to serve is returned.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import wire_time
from fabrictwin.engine.codes import EventKind, LogKind
from fabrictwin.engine.ethernet.buffer import admit, count_full, egress_threshold, frame_bytes, release
from fabrictwin.engine.ethernet.ecmp import choose_output
from fabrictwin.engine.ethernet.pfc import pause_if_full, resume_if_drained
from fabrictwin.engine.link import receive_packet, tail_in
from fabrictwin.engine.pools import give_packet, write_log
from fabrictwin.engine.port_vl import port_of, pv_of, vl_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY
from fabrictwin.jit import inline_kernel, seldom_kernel

FLOOD = -2
"""In place of an output: the packet goes to all of them."""


@seldom_kernel
def _drop(s: State, packet_index: int, now_ps: int) -> int:
    """A packet that is in no buffer is gone."""
    give_packet(s, packet_index)
    s.g[0].last_live_ps = now_ps
    return NOBODY


@seldom_kernel
def _drop_unrouted(s: State, packet_index: int, node_index: int, now_ps: int) -> int:
    """No output for a packet: it is dropped, or flooded if it is the MAC address that is missing."""
    packet = s.packet[packet_index]
    if packet.ttl > 0 and _is_flooded(s, packet_index, node_index):
        packet.next = FLOOD
        push_event(s, now_ps, node_index, EventKind.STORED, packet.port, packet_index)
        return NOBODY
    s.port_more[packet.port].relay_errors += 1
    return _drop(s, packet_index, now_ps)


@seldom_kernel
def _is_flooded(s: State, packet_index: int, node_index: int) -> bool:
    """Whether a switch has lost the MAC address of a packet's destination, which is attached to it."""
    node = s.node[node_index]
    group = s.group[s.route[node.switch * s.par[0].lids + s.packet[packet_index].dlid]]
    return group.count == 1 and s.port_more[node.port0 + np.int64(s.member[group.first]) - 1].floods != 0


@seldom_kernel
def _drop_full(s: State, packet_index: int, out: int, now_ps: int) -> int:
    packet = s.packet[packet_index]
    s.port_more[out].xmit_discards += 1
    count_full(s, pv_of(s, packet.port, packet.vl))
    return _drop(s, packet_index, now_ps)


@seldom_kernel
def _drop_storm(s: State, packet_index: int, lane: int, now_ps: int) -> int:
    """The watchdog has taken an output's priority out of service."""
    s.lane_more[lane].storm_drops += 1
    s.port_more[port_of(s, lane)].xmit_discards += 1
    return _drop(s, packet_index, now_ps)


@inline_kernel
def _enqueue(s: State, packet_index: int, out: int, lane: int, size_bytes: int, now_ps: int) -> None:
    packet = s.packet[packet_index]
    pv = s.pv[lane]
    packet.next = -1
    if pv.ring_tail < 0:
        pv.ring_head = packet_index
        s.port[out].vl_mask = s.port[out].vl_mask | (1 << np.int64(packet.vl))
        s.lane[lane].departed_ps = now_ps
        if not s.lane[lane].watched and s.buffer_rule[s.port[out].node].watch_ps > 0:
            _watch(s, lane, now_ps)
    else:
        s.packet[pv.ring_tail].next = packet_index
    pv.ring_tail = packet_index
    pv.ring_count += 1
    pv.waiting_blocks += size_bytes
    s.lane[lane].peak_bytes = max(s.lane[lane].peak_bytes, pv.waiting_blocks)


@inline_kernel
def offer(s: State, packet_index: int, out: int, node: int, now_ps: int) -> int:
    """A packet is ready for its output; returns the port to serve."""
    packet = s.packet[packet_index]
    group = pv_of(s, packet.port, packet.vl)
    lane = pv_of(s, out, packet.vl)
    size_bytes = frame_bytes(s, packet_index)
    if s.port[out].up == 0:
        return _drop_full(s, packet_index, out, now_ps)
    if s.lane[lane].drops:
        return _drop_storm(s, packet_index, lane, now_ps)
    if not s.lane[group].lossless and s.pv[lane].waiting_blocks + size_bytes > egress_threshold(s, node):
        return _drop_full(s, packet_index, out, now_ps)
    if not admit(s, node, group, size_bytes):
        return _drop_full(s, packet_index, out, now_ps)
    _enqueue(s, packet_index, out, lane, size_bytes, now_ps)
    pause_if_full(s, node, group, now_ps)
    return out


@inline_kernel
def on_arrive_ethernet(s: State, packet_index: int, node_index: int, now_ps: int) -> int:
    """ARRIVE at a switch; returns the port to serve."""
    if not receive_packet(s, packet_index, now_ps):
        return NOBODY
    packet = s.packet[packet_index]
    packet.ttl -= 1
    out = -1
    if packet.ttl > 0:
        out = choose_output(s, packet_index, node_index, now_ps)
    if out < 0:
        return _drop_unrouted(s, packet_index, node_index, now_ps)
    node = s.node[node_index]
    if node.stores == 0 and wire_time(packet.wire, s.port[out].fs_per_byte) < packet.ser_ps:
        at_ps = tail_in(s, packet_index) + node.forwarding_ps
        packet.next = out
        push_event(s, at_ps, node_index, EventKind.STORED, packet.port, packet_index)
        return NOBODY
    return offer(s, packet_index, out, node_index, now_ps)


@seldom_kernel
def on_stored_ethernet(s: State, packet_index: int, now_ps: int) -> int:
    """STORED: a packet that had to be stored may go; returns the port to serve."""
    out = np.int64(s.packet[packet_index].next)
    return offer(s, packet_index, out, np.int64(s.port[out].node), now_ps)


@seldom_kernel
def drop_queue(s: State, p: int, priority: int, now_ps: int) -> None:
    """Drops all that waits for an output's priority."""
    pv = s.pv[pv_of(s, p, priority)]
    node = np.int64(s.port[p].node)
    while pv.ring_head >= 0:
        index = np.int64(pv.ring_head)
        packet = s.packet[index]
        pv.ring_head = packet.next
        group = pv_of(s, packet.port, packet.vl)
        release(s, node, group, frame_bytes(s, index))
        resume_if_drained(s, node, group, now_ps)
        s.port_more[p].xmit_discards += 1
        if s.lane[pv_of(s, p, priority)].drops:
            s.lane_more[pv_of(s, p, priority)].storm_drops += 1
        give_packet(s, index)
        s.g[0].last_live_ps = now_ps
    pv.ring_tail = -1
    pv.ring_count = 0
    pv.waiting_blocks = 0
    s.port[p].vl_mask = s.port[p].vl_mask & (0xFFFF ^ (1 << priority))


@seldom_kernel
def _watch(s: State, lane: int, now_ps: int) -> None:
    """Makes sure that the watchdog looks at a priority at its next poll, on a grid of fabric time."""
    p = port_of(s, lane)
    if not s.lane[lane].lossless:
        return
    every_ps = s.buffer_rule[s.port[p].node].watch_ps
    s.lane[lane].watched = 1
    at_ps = (now_ps // every_ps + 1) * every_ps
    push_event(s, at_ps, s.port[p].node, EventKind.WATCHDOG, lane, np.int64(0))


@seldom_kernel
def on_watchdog(s: State, lane: int, now_ps: int) -> None:
    """WATCHDOG: finds a priority that is paused and has sent nothing for too long, and restores it later."""
    p = port_of(s, lane)
    rule = s.buffer_rule[s.port[p].node]
    watched = s.lane[lane]
    watched.watched = 0
    if watched.drops:
        if watched.until_ps == 0 or now_ps - s.lane_more[lane].heard_ps >= rule.restoration_ps:
            watched.drops = 0
            write_log(s, now_ps, s.port[p].node, LogKind.PFC_RESTORED, p, vl_of(s, lane))
            return
        _watch(s, lane, now_ps)
        return
    if s.pv[lane].ring_head < 0:
        return
    paused_for_ps = now_ps - max(watched.departed_ps, watched.paused_at_ps)
    if watched.until_ps != 0 and paused_for_ps >= rule.detection_ps:
        watched.drops = 1
        s.lane_more[lane].storms_found += 1
        write_log(s, now_ps, s.port[p].node, LogKind.PFC_STORM, p, vl_of(s, lane))
        drop_queue(s, p, vl_of(s, lane), now_ps)
    _watch(s, lane, now_ps)
