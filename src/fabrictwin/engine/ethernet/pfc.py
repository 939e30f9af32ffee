# SPDX-License-Identifier: Apache-2.0
"""Priority flow control: PFC frames, their effect, refresh and expiry.

**Models**: docs/models/rocev2.md section 4 (IEEE 802.1Qbb). **Not**: symbol errors on PFC frames.
**State**: ``LANE.pausing`` (receiver), ``LANE.until_ps`` (sender).
**Events in**: PFC, PFC_REFRESH, PFC_EXPIRE. **Out**: PFC, PFC_REFRESH, PFC_EXPIRE; the port to serve is
returned.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import send_out, trace_fcp, wire_time
from fabrictwin.engine.codes import PFC_BYTES, QUANTUM_BYTES, EventKind
from fabrictwin.engine.ethernet.buffer import shared_of, threshold
from fabrictwin.engine.port_vl import number_of, port_of, pv_of, vl_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY
from fabrictwin.jit import inline_kernel, seldom_kernel

PFC_FRAME = 4
"""Kind of an ``FCP_OUT`` record: a PFC frame, ``value`` being its quanta."""


@seldom_kernel
def hear_later(s: State, lane: int, arrival_ps: int, quanta: int) -> None:
    """A PFC frame is on its way to a port; its last byte comes in at a time."""
    node = s.port[port_of(s, lane)].node
    push_event(s, arrival_ps + s.buffer_rule[node].response_ps, node, EventKind.PFC, lane, quanta)


@seldom_kernel
def send_pfc(s: State, lane: int, quanta: int, now_ps: int) -> None:
    """Sends a PFC frame for one priority of a port, ahead of all packets."""
    p = port_of(s, lane)
    port = s.port[p]
    if not port.up:
        return
    start_ps = max(now_ps, port.tx_free_ps)
    port.tx_free_ps = start_ps + wire_time(PFC_BYTES, port.fs_per_byte)
    arrival_ps = port.tx_free_ps + port.delay_ps
    if s.par[0].trace:
        trace_fcp(s, p, vl_of(s, lane), start_ps, quanta)
    s.pv_input[lane].fcps += 1
    if quanta > 0:
        s.lane_more[lane].pauses_sent += 1
    if port.remote:
        send_out(s, arrival_ps, number_of(s, np.int64(port.peer), vl_of(s, lane)), quanta, PFC_FRAME)
    else:
        hear_later(s, lane + port.peer - p, arrival_ps, quanta)


@inline_kernel
def quanta_time(s: State, p: int, quanta: int) -> int:
    """Picoseconds of so many pause quanta on a port's link."""
    return wire_time(quanta * QUANTUM_BYTES, s.port[p].fs_per_byte)


@seldom_kernel
def pause_peer(s: State, lane: int, now_ps: int) -> None:
    """Tells the sender of a priority to stop, now and again."""
    group = s.lane[lane]
    p = port_of(s, lane)
    node = s.port[p].node
    quanta = s.buffer_rule[node].quanta
    group.pausing = 1
    send_pfc(s, lane, quanta, now_ps)
    if not group.refreshing:
        group.refreshing = 1
        again_ps = now_ps + quanta_time(s, p, quanta) // 2
        push_event(s, again_ps, node, EventKind.PFC_REFRESH, lane, np.int64(0))


@seldom_kernel
def on_pfc_refresh(s: State, lane: int, now_ps: int) -> None:
    """PFC_REFRESH: pauses again where the reason lasts."""
    s.lane[lane].refreshing = 0
    if s.lane[lane].pausing:
        pause_peer(s, lane, now_ps)


@inline_kernel
def pause_if_full(s: State, node: int, lane: int, now_ps: int) -> None:
    """After an admission: a lossless priority group pauses its sender at the threshold."""
    group = s.lane[lane]
    if not group.lossless or group.pausing:
        return
    if group.headroom_bytes > 0 or shared_of(s, lane) >= threshold(s, node):
        pause_peer(s, lane, now_ps)


@inline_kernel
def resume_if_drained(s: State, node: int, lane: int, now_ps: int) -> None:
    """After a departure: a priority group that has paused its sender may let it go on."""
    if s.lane[lane].pausing:
        _resume(s, node, lane, now_ps)


@seldom_kernel
def _resume(s: State, node: int, lane: int, now_ps: int) -> None:
    group = s.lane[lane]
    if group.headroom_bytes > 0 or group.storms:
        return
    shared = shared_of(s, lane)
    if shared == 0 or shared + s.buffer_rule[node].xon_offset_bytes <= threshold(s, node):
        group.pausing = 0
        send_pfc(s, lane, np.int64(0), now_ps)


@seldom_kernel
def on_pfc(s: State, lane: int, quanta: int, now_ps: int) -> int:
    """PFC: a frame takes effect; returns the port to serve."""
    p = port_of(s, lane)
    if not s.port[p].up:
        return NOBODY
    more = s.lane_more[lane]
    if quanta == 0:
        release_lane(s, lane, now_ps)
        return np.int64(p)
    more.pauses_heard += 1
    more.heard_ps = now_ps
    paused = s.lane[lane]
    if paused.until_ps == 0:
        paused.paused_at_ps = now_ps
    paused.until_ps = now_ps + quanta_time(s, p, quanta)
    push_event(s, paused.until_ps, s.port[p].node, EventKind.PFC_EXPIRE, lane, np.int64(0))
    return NOBODY


@seldom_kernel
def on_pfc_expire(s: State, lane: int, now_ps: int) -> int:
    """PFC_EXPIRE: the pause is over unless it was refreshed; returns the port to serve."""
    if s.lane[lane].until_ps != now_ps:
        return NOBODY
    release_lane(s, lane, now_ps)
    return port_of(s, lane)


@seldom_kernel
def release_lane(s: State, lane: int, now_ps: int) -> None:
    """A priority may send again."""
    paused = s.lane[lane]
    if paused.until_ps != 0:
        paused.until_ps = 0
        paused.paused_ps += now_ps - paused.paused_at_ps


@seldom_kernel
def set_storm(s: State, p: int, priority: int, on: bool, now_ps: int) -> None:
    """An adapter begins to pause its peer without end, or no longer does."""
    lane = pv_of(s, p, priority)
    s.lane[lane].storms = 1 if on else 0
    if on:
        pause_peer(s, lane, now_ps)
    else:
        resume_if_drained(s, s.port[p].node, lane, now_ps)
