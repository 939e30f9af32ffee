# SPDX-License-Identifier: Apache-2.0
"""The event loop of an Ethernet fabric: who handles what.

The queue, the order of events and the seldom events of transport and ranks are those of
:mod:`fabrictwin.engine.loop`.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cc.tcp import on_tcp_timeout
from fabrictwin.engine.codes import FREQUENT, PASSIVE, EventKind, Status
from fabrictwin.engine.ethernet.faults import on_ethernet_action
from fabrictwin.engine.ethernet.flood import flood
from fabrictwin.engine.ethernet.nic import on_arrive_nic, on_frame_drained
from fabrictwin.engine.ethernet.pfc import on_pfc, on_pfc_expire, on_pfc_refresh
from fabrictwin.engine.ethernet.port import serve_ethernet
from fabrictwin.engine.ethernet.switch import FLOOD, on_arrive_ethernet, on_stored_ethernet, on_watchdog
from fabrictwin.engine.loop import RECORDS_PER_EVENT, RESERVE, handle_seldom, room
from fabrictwin.engine.port import on_port_free
from fabrictwin.engine.queue import advance_bucket, argument_of, kind_of, node_of
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY
from fabrictwin.engine.transport import on_paced
from fabrictwin.jit import kernel, seldom_kernel


@seldom_kernel
def _handle_seldom(s: State, key: int, data: int, now_ps: int) -> int:
    kind = kind_of(key)
    argument = argument_of(key)
    if kind == EventKind.ACTION:
        return on_ethernet_action(s, argument, now_ps)
    if kind == EventKind.STORED:
        if s.packet[data].next != FLOOD:
            return on_stored_ethernet(s, data, now_ps)
        flood(s, data, now_ps)
        return NOBODY
    if kind == EventKind.ACK_TIMER and s.requester[argument].tcp:
        on_tcp_timeout(s, argument, now_ps)
    if kind == EventKind.DRAINED:
        return on_frame_drained(s, argument, now_ps)
    if kind == EventKind.PFC:
        return on_pfc(s, argument, data, now_ps)
    if kind == EventKind.PFC_EXPIRE:
        return on_pfc_expire(s, argument, now_ps)
    if kind == EventKind.PFC_REFRESH:
        on_pfc_refresh(s, argument, now_ps)
        return NOBODY
    if kind == EventKind.WATCHDOG:
        on_watchdog(s, argument, now_ps)
        return NOBODY
    return handle_seldom(s, key, data, now_ps)


@kernel
def run_ethernet(s: State, until_ps: int) -> int:
    """Handles every event before a fabric time, or before that up to which PFC frames are known.

    Returns a :class:`Status`; ``now_ps`` is then the fabric time reached.
    """
    g = s.g[0]
    g.horizon_ps = min(until_ps, g.credits_known_ps)
    budget = 0
    while True:
        if g.sorted_at == g.sorted_count:
            if not advance_bucket(s, g.horizon_ps):
                g.now_ps = g.horizon_ps
                return np.int64(Status.REACHED)
            continue
        event = s.sorted[g.sorted_at]
        now_ps = event.time_ps
        if now_ps >= g.horizon_ps:
            g.now_ps = g.horizon_ps
            return np.int64(Status.REACHED)
        kind = kind_of(event.key)
        budget -= 1
        if budget < 0 or (FREQUENT >> kind) & 1 == 0:
            left = room(s)
            if left < RESERVE:
                return np.int64(Status.GROW)
            budget = (left - RESERVE) // RECORDS_PER_EVENT
        argument = argument_of(event.key)
        data = np.int64(event.detail)
        g.sorted_at += 1
        g.now_ps = now_ps
        g.events += 1
        if (PASSIVE >> kind) & 1 == 0:
            g.live -= 1
            g.last_live_ps = now_ps
        if kind == EventKind.ARRIVE:
            node = node_of(event.key)
            if s.node[node].switch < 0:
                p = on_arrive_nic(s, data, now_ps)
            else:
                p = on_arrive_ethernet(s, data, node, now_ps)
        elif kind == EventKind.PORT_FREE:
            p = on_port_free(s, argument)
        elif kind == EventKind.PACED:
            p = on_paced(s, argument, now_ps)
        else:
            p = _handle_seldom(s, event.key, data, now_ps)
        if p >= 0:
            serve_ethernet(s, p, now_ps)
