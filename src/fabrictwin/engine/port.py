# SPDX-License-Identifier: Apache-2.0
"""The choice at a port: VL15, then the VL that arbitration names among those whose candidate has credits.

**Models**: docs/models/infiniband.md sections 4, 5 and 9.
**Events in**: PORT_FREE, CREDIT, and whatever returned this port. **Out**: PORT_FREE, CREDIT, ARRIVE.
**Behaviour**: at most one event of its own is under way for a port: PORT_FREE if something may go when the
transmitter is free, or CREDIT if it is certain that the only candidate will wait longer than that.
A shard may run ahead of what it knows of FCPs from other shards; a port that needs them stops it.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import (
    block_sender,
    expect_credits,
    fits_credits,
    has_credits,
    hear_fcps,
    schedule_credit,
    send_fcps,
    unblock_sender,
)
from fabrictwin.engine.codes import NEVER, PacketKind
from fabrictwin.engine.hca import after_data, take_from_hca
from fabrictwin.engine.link import blocks_of, serve_later, transmit
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY, pop_fifo, take_from_queues
from fabrictwin.engine.transport import next_wire
from fabrictwin.engine.vl_arbitration import charge_vl, choose_vl
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def _candidate_wire(s: State, p: int, index: int) -> int:
    """Wire bytes of the candidate of a PV, which has one."""
    pv = s.pv[index]
    if s.port[p].voq0 < 0:
        response = s.pv_more[index].fifo_head
        if response >= 0:
            return np.int64(s.packet[response].wire)
        return next_wire(s, np.int64(pv.ring_head))
    return np.int64(s.voq[pv.ring_head].wire)


@inline_kernel
def _is_ready(s: State, p: int, vl: int, now_ps: int) -> bool:
    """Whether the candidate of a VL may leave now; if not, it waits for credits."""
    index = pv_of(s, p, vl)
    blocks = blocks_of(_candidate_wire(s, p, index), s.pv[index].block_shift)
    if not has_credits(s, p, index, blocks, now_ps):
        block_sender(s, p, vl, now_ps, now_ps)
        return False
    if s.pv[index].blocked:
        unblock_sender(s, p, index, now_ps)
    return True


@seldom_kernel
def _arbitrate(s: State, p: int, now_ps: int) -> tuple[int, bool]:
    """(VL, chosen by the high table) among several VLs; VL -1: none may go."""
    port = s.port[p]
    eligible = np.int64(0)
    for vl in range(s.par[0].vls - 1):
        if (port.vl_mask >> vl) & 1 != 0 and _is_ready(s, p, vl, now_ps):
            eligible |= 1 << vl
    if eligible == 0:
        return np.int64(-1), False
    return choose_vl(s, p, eligible)


@seldom_kernel
def _lacks_news(s: State, p: int, now_ps: int) -> bool:
    """Whether a port's choice depends on FCPs of another shard that may have arrived and are not yet known.

    If so, nothing more is handled at this time or later until they are; then the port chooses.
    """
    g = s.g[0]
    if now_ps < g.credits_known_ps:
        return False
    port = s.port[p]
    for vl in range(s.par[0].vls - 1):
        if (port.vl_mask >> vl) & 1 == 0:
            continue
        index = pv_of(s, p, vl)
        blocks = blocks_of(_candidate_wire(s, p, index), s.pv[index].block_shift)
        if not has_credits(s, p, index, blocks, now_ps):
            g.horizon_ps = now_ps
            g.stuck_ps = now_ps
            serve_later(s, p, now_ps)
            return True
    return False


@inline_kernel
def _note_waits(s: State, p: int, now_ps: int) -> None:
    """VL15 goes first: which candidates of data VLs would have waited for credits."""
    for vl in range(s.par[0].vls - 1):
        if (s.port[p].vl_mask >> vl) & 1 != 0:
            _is_ready(s, p, vl, now_ps)


@inline_kernel
def _plan_next(s: State, p: int, now_ps: int) -> None:
    """After a packet: PORT_FREE, or the arrival of credits if the only candidate must wait for that."""
    port = s.port[p]
    vls = s.par[0].vls
    if s.par[0].management and s.pv_more[pv_of(s, p, vls - 1)].fifo_head >= 0:
        serve_later(s, p, port.data_free_ps)
        return
    if port.vl_mask == 0:
        return
    if vls == 2 and not port.remote:
        pv = s.pv[p]
        blocks = blocks_of(_candidate_wire(s, p, p), pv.block_shift)
        if not fits_credits(pv.fccl, pv.fctbs, blocks):
            hear_fcps(s, p, p, now_ps)
            if not fits_credits(pv.fccl, pv.fctbs, blocks):
                at_ps = expect_credits(s, p, 0, now_ps)
                if at_ps >= port.data_free_ps:
                    if not pv.blocked:
                        pv.blocked = 1
                        pv.blocked_at_ps = port.data_free_ps
                    if at_ps < NEVER:
                        schedule_credit(s, p, 0, at_ps)
                    return
    serve_later(s, p, port.data_free_ps)


@inline_kernel
def serve_port(s: State, p: int, now_ps: int) -> None:
    """Chooses and starts a packet if the transmitter is free, or sees to it that this happens when it is."""
    port = s.port[p]
    vls = s.par[0].vls
    last = vls - 1
    vl15 = s.par[0].management and s.pv_more[pv_of(s, p, last)].fifo_head >= 0
    if port.up == 0 or (port.vl_mask == 0 and not vl15):
        return
    if port.data_free_ps > now_ps:
        # An HCA may have a response by now, which is smaller than the packet that waits for credits.
        if vls > 2 or vl15 or port.voq0 < 0 or not s.pv[p].blocked:
            serve_later(s, p, port.data_free_ps)
        return
    vl = last
    high = False
    if port.remote and _lacks_news(s, p, now_ps):
        return
    if vl15:
        _note_waits(s, p, now_ps)
    elif vls == 2:
        if not _is_ready(s, p, 0, now_ps):
            return
        vl = 0
    else:
        vl, high = _arbitrate(s, p, now_ps)
        if vl < 0:
            return
    send_fcps(s, p, now_ps)
    sender = np.int64(-1)
    if vl15:
        packet_index = pop_fifo(s, pv_of(s, p, last))
    elif port.voq0 < 0:
        packet_index = take_from_hca(s, p, vl)
        if s.packet[packet_index].kind == PacketKind.DATA:
            sender = np.int64(s.packet[packet_index].qp)
    else:
        packet_index = take_from_queues(s, p, vl, now_ps)
    wire = np.int64(s.packet[packet_index].wire)
    if vls > 2 and not vl15:
        charge_vl(s, p, high, wire)
    transmit(s, p, packet_index, vl, now_ps)
    if sender >= 0:
        after_data(s, sender, wire, now_ps)
    _plan_next(s, p, now_ps)


@inline_kernel
def on_port_free(s: State, p: int) -> int:
    """PORT_FREE: returns the port to serve."""
    s.port[p].planned = 0
    return p


@inline_kernel
def on_credit(s: State, number: int, p: int, now_ps: int) -> int:
    """CREDIT: returns the port to serve, or nobody if the event is stale."""
    pv = s.pv[pv_of(s, p, number - p * s.par[0].vls)]
    if pv.credit_at_ps != now_ps:
        return NOBODY
    pv.credit_at_ps = NEVER
    if s.port[p].data_free_ps > now_ps:
        serve_later(s, p, s.port[p].data_free_ps)
        return NOBODY
    return p
