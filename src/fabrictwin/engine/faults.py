# SPDX-License-Identifier: Apache-2.0
"""Actions at a node: links that go down, come up or change, slow receivers, forwarding-table writes.

**Models**: docs/models/infiniband.md sections 7 and 8.
**Events in**: ACTION, LINK_INIT, RESYNC. **Out**: LINK_INIT, PORT_FREE.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V12, V16).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import (
    flight_to,
    forget_due,
    forget_refresh,
    free_blocks,
    hear_fcps,
    schedule_credit,
    send_fcps,
    unblock_sender,
)
from fabrictwin.engine.codes import NEVER, SEQUENCE_MASK, EventKind, LogKind, Odd
from fabrictwin.engine.hca import set_drain_rate
from fabrictwin.engine.link import discard_packet
from fabrictwin.engine.new_paths import write_entry
from fabrictwin.engine.pools import give_packet, write_log
from fabrictwin.engine.port_vl import pv_of, split_number
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import discard_waiting, pop_fifo
from fabrictwin.jit import kernel
from fabrictwin.model.action import ActionKind

LFT_WRITE, VOID, ROUTE_WRITE = 100, 101, 102
"""Kinds of ``ACTION`` records: a block of a forwarding table is written, one that was withdrawn, a route of a
RoCE switch (``value``: destination, ``block``: group) is written."""


@kernel
def _flush_fifo(s: State, p: int, vl: int, now_ps: int) -> None:
    """Discards responses of an HCA, or VL15 packets, that wait at a port."""
    index = pv_of(s, p, vl)
    while s.pv_more[index].fifo_head >= 0:
        packet_index = pop_fifo(s, index)
        packet = s.packet[packet_index]
        s.port_more[p].xmit_discards += 1
        if packet.port >= 0:
            discard_packet(s, packet_index, now_ps)
        else:
            s.responder[packet.qp].response = -1
            give_packet(s, packet_index)
            s.g[0].last_live_ps = now_ps


@kernel
def _link_down(s: State, p: int, now_ps: int) -> None:
    port = s.port[p]
    send_fcps(s, p, now_ps)
    port.up = 0
    port.flapped = 1
    s.port_more[p].down_at_ps = now_ps
    s.port_more[p].downed += 1
    vls = s.par[0].vls
    for vl in range(vls):
        index = pv_of(s, p, vl)
        pv = s.pv[index]
        _flush_fifo(s, p, vl, now_ps)
        if port.voq0 >= 0 and vl < vls - 1:
            discard_waiting(s, p, vl, now_ps)
        # Another shard may have said already what it sends once the link is up again.
        hear_fcps(s, p, index, now_ps + flight_to(s, p))
        s.pv_input[index].flapped = 1
        if pv.blocked:
            unblock_sender(s, p, index, now_ps)
        pv.credit_at_ps = NEVER
        if port.voq0 < 0 and pv.ring_head < 0:
            port.vl_mask = port.vl_mask & (0xFFFF ^ (1 << vl))


@kernel
def _link_up(s: State, p: int, now_ps: int) -> None:
    port = s.port[p]
    port.up = 1
    s.port_more[p].up_at_ps = now_ps
    port.tx_free_ps = now_ps
    port.data_free_ps = now_ps
    s.port_more[p].last_tail_ps = 0
    for vl in range(s.par[0].vls - 1):
        index = pv_of(s, p, vl)
        s.pv[index].fctbs = 0
        s.pv[index].fccl = 0
        s.pv_more[index].lost_blocks = 0
        pv = s.pv_input[index]
        pv.eager = 0
        pv.wanted = 0
        if pv.refresh:
            forget_refresh(s, index)
        later = forget_due(s, p, vl, now_ps)
        pv.advertised = (pv.cap - pv.held_blocks - later) & SEQUENCE_MASK
    push_event(s, now_ps, port.node, EventKind.LINK_INIT, p, p)


@kernel
def _change_rate(s: State, p: int, fs_per_byte: int, now_ps: int) -> None:
    """What starts later takes another time; whoever waits for an FCP from here must look again."""
    send_fcps(s, p, now_ps)
    port = s.port[p]
    port.fs_per_byte = fs_per_byte
    for vl in range(s.par[0].vls - 1):
        if not port.remote and s.pv[pv_of(s, port.peer, vl)].blocked:
            schedule_credit(s, port.peer, vl, now_ps)


@kernel
def log_kind(kind: int, value: int) -> int:
    """What the event log says of an action."""
    if kind == ActionKind.LINK_STATE:
        return np.int64(LogKind.LINK_UP) if value else np.int64(LogKind.LINK_DOWN)
    if kind == ActionKind.LINK_RATE:
        return np.int64(LogKind.LINK_RATE)
    if kind == ActionKind.LINK_ERROR:
        return np.int64(LogKind.LINK_ERROR)
    if kind == ActionKind.DRAIN_RATE:
        return np.int64(LogKind.DRAIN_RATE)
    if kind == ActionKind.RECEIVE_QUEUE:
        return np.int64(LogKind.RECEIVE_QUEUE)
    return np.int64(LogKind.LFT_WRITE)


@kernel
def on_action(s: State, a: int, now_ps: int) -> None:
    """ACTION: makes one change at one node."""
    action = s.action[a]
    if action.kind == VOID:
        return
    p = np.int64(action.port)
    if action.kind == LFT_WRITE:
        first = action.value * 64
        for i in range(min(64, s.par[0].lids - first)):
            write_entry(s, action.node, first + i, np.int64(s.lft_blocks[action.block * 64 + i]))
    elif action.kind == ActionKind.LINK_STATE:
        if action.value == 0 and s.port[p].up:
            _link_down(s, p, now_ps)
        elif action.value == 1 and not s.port[p].up:
            _link_up(s, p, now_ps)
    elif action.kind == ActionKind.LINK_RATE:
        _change_rate(s, p, action.value, now_ps)
    elif action.kind == ActionKind.LINK_ERROR:
        send_fcps(s, p, now_ps)
        s.port_more[p].error_below = action.value
        suffers = action.value != 0 or s.port_more[p].jitter_ps > 0
        s.port[p].odd = (s.port[p].odd & ~Odd.ERRORS) | (Odd.ERRORS if suffers else 0)
    elif action.kind == ActionKind.DRAIN_RATE:
        set_drain_rate(s, p, action.value, now_ps)
    elif action.kind == ActionKind.RECEIVE_QUEUE:
        s.port_more[p].receives = action.value
    write_log(s, now_ps, action.node, log_kind(action.kind, action.value), p, action.value)


@kernel
def on_resync(s: State, number: int, blocks: int, now_ps: int) -> None:
    """RESYNC: ABR := FCTBS; the blocks of lost packets are free."""
    p, vl = split_number(s, number)
    if s.port[p].up:
        free_blocks(s, p, vl, now_ps, blocks)
