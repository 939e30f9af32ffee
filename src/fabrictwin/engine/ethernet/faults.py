# SPDX-License-Identifier: Apache-2.0
"""Actions at a node of an Ethernet fabric: links that go down or come up, a NIC's PFC storm, flooding.

**Models**: docs/models/rocev2.md sections 4 and 6; the other actions are those of InfiniBand.
**Events in**: ACTION, LINK_INIT.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import LogKind
from fabrictwin.engine.ethernet.ecmp import write_route
from fabrictwin.engine.ethernet.pfc import release_lane, set_storm
from fabrictwin.engine.ethernet.switch import drop_queue
from fabrictwin.engine.faults import ROUTE_WRITE, log_kind, on_action
from fabrictwin.engine.pools import give_packet, write_log
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import pop_fifo
from fabrictwin.jit import kernel
from fabrictwin.model.action import ActionKind


@kernel
def _flush_responses(s: State, p: int, priority: int, now_ps: int) -> None:
    """Drops what an adapter would have answered."""
    index = pv_of(s, p, priority)
    while s.pv_more[index].fifo_head >= 0:
        packet_index = pop_fifo(s, index)
        if s.responder[s.packet[packet_index].qp].response == packet_index:
            s.responder[s.packet[packet_index].qp].response = -1
        s.port_more[p].xmit_discards += 1
        give_packet(s, packet_index)
        s.g[0].last_live_ps = now_ps
    if s.pv[index].ring_head < 0:
        s.port[p].vl_mask = s.port[p].vl_mask & (0xFFFF ^ (1 << priority))


@kernel
def _link_down(s: State, p: int, now_ps: int) -> None:
    port = s.port[p]
    port.up = 0
    port.flapped = 1
    s.port_more[p].down_at_ps = now_ps
    s.port_more[p].downed += 1
    for priority in range(s.par[0].vls - 1):
        lane = pv_of(s, p, priority)
        s.pv_input[lane].flapped = 1
        s.lane[lane].pausing = 0
        release_lane(s, lane, now_ps)
        if port.voq0 >= 0:
            drop_queue(s, p, priority, now_ps)
        else:
            _flush_responses(s, p, priority, now_ps)


@kernel
def _link_up(s: State, p: int, now_ps: int) -> None:
    port = s.port[p]
    port.up = 1
    s.port_more[p].up_at_ps = now_ps
    port.tx_free_ps = now_ps
    port.data_free_ps = now_ps
    s.port_more[p].last_tail_ps = 0


@kernel
def on_ethernet_action(s: State, a: int, now_ps: int) -> int:
    """ACTION: makes one change at one node; returns the port to serve."""
    action = s.action[a]
    p = np.int64(action.port)
    if action.kind == ActionKind.LINK_STATE:
        if action.value == 0 and s.port[p].up:
            _link_down(s, p, now_ps)
        elif action.value == 1 and not s.port[p].up:
            _link_up(s, p, now_ps)
        write_log(s, now_ps, action.node, log_kind(action.kind, action.value), p, action.value)
    elif action.kind == ActionKind.PFC_STORM:
        priority = np.int64(abs(action.value)) - 1
        set_storm(s, p, priority, action.value > 0, now_ps)
        write_log(s, now_ps, action.node, np.int64(LogKind.NIC_STORM), p, action.value)
    elif action.kind == ROUTE_WRITE:
        write_route(s, np.int64(action.node), action.value, np.int64(action.block))
    elif action.kind == ActionKind.FLOODING:
        s.port_more[p].floods = action.value
        write_log(s, now_ps, action.node, np.int64(LogKind.FLOODING), p, action.value)
    else:
        on_action(s, a, now_ps)
    return p
