# SPDX-License-Identifier: Apache-2.0
"""Credit-based flow control of a link, per VL.

**Models**: FCTBS, FCCL and ABR of 12 bits in credit blocks; flow-control packets (FCPs) that take link
time, go ahead
of data and arrive later; loss of blocks and of FCPs and the re-synchronisation by the next FCP.
**Not**: FCPs that change nothing.
**State**: ``PV`` (sender: fctbs, fccl, FCPs on their way), ``PV_INPUT`` (receiver: advertised, freed blocks
that are due; a refresh stands among them as no blocks).
**Behaviour**: the FCPs of a port are worked out late, when its transmitter is wanted or when the other end
looks for
credits. That is exact, because an FCP depends only on what has been freed and sent before it: whoever looks
at a later time finds the same FCPs. An event is made only for a sender that waits.
**Source**: docs/models/infiniband.md section 3; models.md section 1.4.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import (
    CREDIT_WINDOW,
    FCP_BYTES,
    NEVER,
    REFRESH_BYTE_TIMES,
    SEQUENCE_MASK,
    EventKind,
)
from fabrictwin.engine.pools import give_cell, take_cell
from fabrictwin.engine.port_vl import number_of, pv_of
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel

FCP_UPDATE, FCP_RESYNC, FCP_LOST, FCP_INIT = 0, 1, 2, 3
"""Kinds of ``FCP_OUT`` records."""


@inline_kernel
def wire_time(length_bytes: int, fs_per_byte: int) -> int:
    """Picoseconds that so many bytes take on a link, rounded up."""
    return (np.int64(length_bytes) * np.int64(fs_per_byte) + 999) // 1000


@inline_kernel
def fits_credits(fccl: int, fctbs: int, blocks: int) -> bool:
    """The send rule: ((FCCL - (FCTBS + n)) mod 4096) <= 2048."""
    return (fccl - fctbs - blocks) & SEQUENCE_MASK <= CREDIT_WINDOW


@inline_kernel
def fcp_flight(s: State, p: int) -> int:
    """Picoseconds from an FCP's start on a port to its use at the other end."""
    port = s.port[p]
    return wire_time(FCP_BYTES, port.fs_per_byte) + port.delay_ps


@inline_kernel
def schedule_credit(s: State, p: int, vl: int, time_ps: int) -> None:
    """Looks for credits of a PV at a time, unless it is going to look earlier anyway."""
    pv = s.pv[pv_of(s, p, vl)]
    if time_ps < pv.credit_at_ps:
        pv.credit_at_ps = time_ps
        push_event(s, time_ps, s.port[p].node, EventKind.CREDIT, number_of(s, p, vl), p)


@inline_kernel
def free_blocks(s: State, p: int, vl: int, time_ps: int, blocks: int) -> None:
    """Blocks of an input buffer become free: an FCP is due then."""
    index = pv_of(s, p, vl)
    pv = s.pv_input[index]
    if pv.due_ps == NEVER:
        pv.due_ps = time_ps
        pv.due_blocks = blocks
    elif pv.due_ps == time_ps:
        pv.due_blocks += blocks
    else:
        _free_later(s, p, vl, time_ps, blocks)
    if pv.wanted:
        pv.wanted = 0
        _hasten_sender(s, p, vl, time_ps)
    if pv.eager:
        push_event(s, time_ps, s.port[p].node, EventKind.FCP_DUE, p, p)


@inline_kernel
def _hasten_sender(s: State, p: int, vl: int, time_ps: int) -> None:
    """The first blocks to be freed in a buffer are due at a time: a blocked sender looks for their FCP."""
    port = s.port[p]
    if not port.remote and s.pv[pv_of(s, port.peer, vl)].blocked:
        at_ps = max(time_ps, port.tx_free_ps) + fcp_flight(s, p)
        schedule_credit(s, port.peer, vl, at_ps)


@inline_kernel
def _free_later(s: State, p: int, vl: int, time_ps: int, blocks: int) -> None:
    """Puts freed blocks where they belong by time among those that are due."""
    index = pv_of(s, p, vl)
    pv = s.pv_input[index]
    if time_ps < pv.due_ps:
        cell = take_cell(s, pv.due_ps, pv.due_blocks)
        s.cell[cell].next = pv.due_head
        if pv.due_head < 0:
            pv.due_tail = cell
        pv.due_head = cell
        pv.due_ps = time_ps
        pv.due_blocks = blocks
        _hasten_sender(s, p, vl, time_ps)
        return
    tail = np.int64(pv.due_tail)
    if tail >= 0 and s.cell[tail].time_ps > time_ps:
        _insert_due(s, index, time_ps, blocks)
    elif tail >= 0 and s.cell[tail].time_ps == time_ps:
        s.cell[tail].value += blocks
    else:
        cell = take_cell(s, time_ps, blocks)
        if tail < 0:
            pv.due_head = cell
        else:
            s.cell[tail].next = cell
        pv.due_tail = cell


@seldom_kernel
def _insert_due(s: State, index: int, time_ps: int, blocks: int) -> None:
    """Puts a cell where it belongs by time; the list has a later one."""
    pv = s.pv_input[index]
    before = np.int64(-1)
    here = np.int64(pv.due_head)
    while s.cell[here].time_ps < time_ps:
        before = here
        here = np.int64(s.cell[here].next)
    if s.cell[here].time_ps == time_ps:
        s.cell[here].value += blocks
        return
    cell = take_cell(s, time_ps, blocks)
    s.cell[cell].next = here
    if before < 0:
        pv.due_head = cell
    else:
        s.cell[before].next = cell


@inline_kernel
def _drop_first_due(s: State, index: int) -> None:
    """The first freed blocks are no longer due."""
    pv = s.pv_input[index]
    cell = np.int64(pv.due_head)
    if cell < 0:
        pv.due_ps = NEVER
        return
    pv.due_ps = s.cell[cell].time_ps
    pv.due_blocks = s.cell[cell].value
    pv.due_head = s.cell[cell].next
    if pv.due_head < 0:
        pv.due_tail = -1
    give_cell(s, cell)


@inline_kernel
def _fcp_start(s: State, p: int, index: int) -> int:
    """When the next FCP of a PV could start, as far as is known."""
    pv = s.pv_input[index]
    port = s.port[p]
    start_ps = max(pv.due_ps, port.tx_free_ps)
    return max(start_ps, pv.last_fcp_ps + s.node[port.node].fcp_gap_ps)


@inline_kernel
def _advertise(s: State, p: int, vl: int, start_ps: int) -> None:
    """Sends one FCP with all that is due on a VL."""
    port = s.port[p]
    index = pv_of(s, p, vl)
    pv = s.pv_input[index]
    while pv.due_ps <= start_ps:
        pv.advertised = (pv.advertised + pv.due_blocks) & SEQUENCE_MASK
        _drop_first_due(s, index)
    if pv.refresh:
        forget_refresh(s, index)
    pv.last_fcp_ps = start_ps
    port.tx_free_ps = start_ps + wire_time(FCP_BYTES, port.fs_per_byte)
    pv.fcps += 1
    arrival_ps = port.tx_free_ps + port.delay_ps
    if s.par[0].trace:
        trace_fcp(s, p, vl, start_ps, pv.advertised)
    if port.odd and _is_hit(s, p):
        _lose_fcp(s, p, vl, start_ps, arrival_ps)
        return
    if port.remote:
        send_out(s, arrival_ps, number_of(s, port.peer, vl), pv.advertised, FCP_UPDATE)
    else:
        append_fcp(s, port.peer, pv_of(s, port.peer, vl), arrival_ps, pv.advertised)
    if pv.eager:
        _resynchronise(s, p, vl, arrival_ps)


@inline_kernel
def append_fcp(s: State, p: int, index: int, arrival_ps: int, fccl: int) -> None:
    """An FCP is on its way to a PV of a port, behind all others."""
    pv = s.pv[index]
    if pv.fcp_ps <= s.g[0].now_ps:
        hear_fcps(s, p, index, s.g[0].now_ps)
    if pv.fcp_ps == NEVER:
        pv.fcp_ps = arrival_ps
        pv.fcp_fccl = fccl
        return
    cell = take_cell(s, arrival_ps, fccl)
    if pv.fcp_head < 0:
        pv.fcp_head = cell
        return
    here = np.int64(pv.fcp_head)
    while s.cell[here].next >= 0:
        here = np.int64(s.cell[here].next)
    s.cell[here].next = cell


@seldom_kernel
def send_out(s: State, arrival_ps: int, number: int, value: int, kind: int) -> None:
    """Hands an FCP to the bus."""
    g = s.g[0]
    record = s.out_fcp[g.out_fcps]
    record.arrival_ps = arrival_ps
    record.pv = number
    record.value = value
    record.kind = kind
    g.out_fcps += 1


@seldom_kernel
def trace_fcp(s: State, p: int, vl: int, start_ps: int, fccl: int) -> None:
    """Records a flow-control packet that starts; of a PFC frame its quanta."""
    g = s.g[0]
    record = s.fcp_trace[g.traced_fcps]
    record.start_ps = start_ps
    record.port = p
    record.vl = vl
    record.fccl = fccl
    g.traced_fcps += 1


@seldom_kernel
def _is_hit(s: State, p: int) -> bool:
    sent = np.int64(0)
    for vl in range(s.par[0].vls):
        sent += s.pv_input[pv_of(s, p, vl)].fcps
    bits = draw_below(s.par[0].seed, Stream.FCP_ERROR, p, sent, 1 << 31)
    return 2 * bits < s.port_more[p].error_below


@seldom_kernel
def _lose_fcp(s: State, p: int, vl: int, start_ps: int, arrival_ps: int) -> None:
    """The FCP does not arrive; the next one is due when the refresh would be."""
    port = s.port[p]
    if port.remote:
        send_out(s, arrival_ps, number_of(s, port.peer, vl), 0, FCP_LOST)
    else:
        s.port_more[port.peer].symbol_errors += 1
    _plan_refresh(s, p, vl, start_ps)


@seldom_kernel
def _plan_refresh(s: State, p: int, vl: int, from_ps: int) -> None:
    """Something was lost: an FCP is due 65 536 symbol times after the last one, unless one goes before."""
    s.pv_input[pv_of(s, p, vl)].refresh = 1
    free_blocks(s, p, vl, from_ps + wire_time(REFRESH_BYTE_TIMES, s.port[p].fs_per_byte), 0)


@seldom_kernel
def forget_refresh(s: State, index: int) -> None:
    """No FCP is due any more only because something was lost."""
    pv = s.pv_input[index]
    pv.refresh = 0
    before = np.int64(-1)
    here = np.int64(pv.due_head)
    while here >= 0:
        following = np.int64(s.cell[here].next)
        if s.cell[here].value > 0:
            before = here
        else:
            if before < 0:
                pv.due_head = following
            else:
                s.cell[before].next = following
            give_cell(s, here)
        here = following
    pv.due_tail = before
    if pv.due_ps < NEVER and pv.due_blocks == 0:
        _drop_first_due(s, index)


@seldom_kernel
def _resynchronise(s: State, p: int, vl: int, arrival_ps: int) -> None:
    """This FCP's FCTBS shows the other end which blocks were lost."""
    port = s.port[p]
    index = pv_of(s, p, vl)
    more = s.pv_more[index]
    number = number_of(s, port.peer, vl)
    if port.remote:
        send_out(s, arrival_ps, number, more.lost_blocks, FCP_RESYNC)
    else:
        push_event(s, arrival_ps, port.peer_node, EventKind.RESYNC, number, more.lost_blocks)
    more.lost_blocks = 0
    s.pv_input[index].eager = 0


@inline_kernel
def send_fcps(s: State, p: int, until_ps: int) -> None:
    """Sends every FCP of a port that starts up to a time (which is not in the future)."""
    if s.par[0].vls > 2:
        _send_fcps_of_vls(s, p, until_ps)
        return
    while s.pv_input[p].due_ps <= until_ps and s.port[p].up:
        start_ps = _fcp_start(s, p, p)
        if start_ps > until_ps:
            return
        _advertise(s, p, 0, start_ps)


@seldom_kernel
def _send_fcps_of_vls(s: State, p: int, until_ps: int) -> None:
    """The same among several VLs: the earliest start first, then the earliest due, then the lowest VL."""
    while s.port[p].up:
        best_vl = 0
        best_start = until_ps + 1
        best_due = NEVER
        for vl in range(s.par[0].vls - 1):
            due_ps = s.pv_input[pv_of(s, p, vl)].due_ps
            if due_ps <= until_ps:
                start_ps = _fcp_start(s, p, pv_of(s, p, vl))
                if start_ps < best_start or (start_ps == best_start and due_ps < best_due):
                    best_vl = vl
                    best_start = start_ps
                    best_due = due_ps
        if best_start > until_ps:
            return
        _advertise(s, p, best_vl, best_start)


@inline_kernel
def flight_to(s: State, p: int) -> int:
    """Picoseconds from an FCP's start at the other end of a port's cable to its use at the port."""
    port = s.port[p]
    return wire_time(FCP_BYTES, port.fs_per_byte) + s.port[port.peer].delay_ps


@seldom_kernel
def survives(s: State, p: int, arrival_ps: int) -> bool:
    """Whether an FCP that arrives at a port was not on the wire while the link was down."""
    more = s.port_more[p]
    return arrival_ps <= more.down_at_ps or arrival_ps - flight_to(s, p) >= more.up_at_ps


@inline_kernel
def hear_fcps(s: State, p: int, index: int, now_ps: int) -> None:
    """Takes the FCPs that have arrived at a sender."""
    pv = s.pv[index]
    while pv.fcp_ps <= now_ps:
        if not s.port[p].flapped or survives(s, p, pv.fcp_ps):
            pv.fccl = pv.fcp_fccl
        cell = np.int64(pv.fcp_head)
        if cell < 0:
            pv.fcp_ps = NEVER
            return
        pv.fcp_ps = s.cell[cell].time_ps
        pv.fcp_fccl = s.cell[cell].value
        pv.fcp_head = s.cell[cell].next
        give_cell(s, cell)


@inline_kernel
def has_credits(s: State, p: int, index: int, blocks: int, now_ps: int) -> bool:
    """Whether a packet of so many blocks may leave now; looks at the other end only if need be."""
    pv = s.pv[index]
    if fits_credits(pv.fccl, pv.fctbs, blocks):
        return True
    port = s.port[p]
    if not port.remote:
        peer = np.int64(port.peer)
        send_fcps(s, peer, now_ps - fcp_flight(s, peer))
    hear_fcps(s, p, index, now_ps)
    return fits_credits(pv.fccl, pv.fctbs, blocks)


@inline_kernel
def expect_credits(s: State, p: int, vl: int, now_ps: int) -> int:
    """A lower bound of when the next FCP for a PV arrives; NEVER: the other end will say (``wanted``)."""
    pv = s.pv[pv_of(s, p, vl)]
    if pv.fcp_ps < NEVER:
        return pv.fcp_ps
    port = s.port[p]
    if port.remote:
        return NEVER
    peer = port.peer
    peer_index = pv_of(s, peer, vl)
    if s.pv_input[peer_index].due_ps == NEVER or not s.port[peer].up:
        s.pv_input[peer_index].wanted = 1
        return NEVER
    return max(_fcp_start(s, peer, peer_index) + fcp_flight(s, peer), now_ps + 1)


@inline_kernel
def block_sender(s: State, p: int, vl: int, now_ps: int, from_ps: int) -> None:
    """The candidate of a PV waits for credits from a time on."""
    pv = s.pv[pv_of(s, p, vl)]
    if not pv.blocked:
        pv.blocked = 1
        pv.blocked_at_ps = from_ps
    at_ps = expect_credits(s, p, vl, now_ps)
    if at_ps < NEVER:
        schedule_credit(s, p, vl, at_ps)
    elif s.port[p].remote:
        s.g[0].horizon_ps = min(s.g[0].horizon_ps, s.g[0].credits_known_ps)


@inline_kernel
def unblock_sender(s: State, p: int, index: int, now_ps: int) -> None:
    """The candidate of a PV has its credits."""
    pv = s.pv[index]
    pv.blocked = 0
    if now_ps > pv.blocked_at_ps:
        s.port_more[p].xmit_wait_ps += now_ps - pv.blocked_at_ps
        pv.starved = 1


@seldom_kernel
def lose_blocks(s: State, p: int, vl: int, blocks: int) -> None:
    """A data packet was lost behind a port: its blocks come back with the next FCP that the port sends."""
    index = pv_of(s, p, vl)
    pv = s.pv_input[index]
    s.pv_more[index].lost_blocks += blocks
    pv.eager = 1
    _plan_refresh(s, p, vl, max(pv.last_fcp_ps, 0))
    plan_fcp(s, p, 0)


@seldom_kernel
def plan_fcp(s: State, p: int, now_ps: int) -> None:
    """Makes an event for the next FCP of each VL that has lost blocks."""
    for vl in range(s.par[0].vls - 1):
        index = pv_of(s, p, vl)
        if s.pv_input[index].eager and s.pv_input[index].due_ps < NEVER:
            start_ps = max(_fcp_start(s, p, index), now_ps)
            push_event(s, start_ps, s.port[p].node, EventKind.FCP_DUE, p, p)


@seldom_kernel
def on_fcp_due(s: State, p: int, now_ps: int) -> None:
    """FCP_DUE: sends what can go and plans the next look."""
    send_fcps(s, p, now_ps)
    plan_fcp(s, p, now_ps)


@seldom_kernel
def init_link(s: State, p: int, now_ps: int) -> None:
    """LINK_INIT: advertises what is free on every VL (Op = init)."""
    port = s.port[p]
    arrival_ps = now_ps + fcp_flight(s, p)
    for vl in range(s.par[0].vls - 1):
        pv = s.pv_input[pv_of(s, p, vl)]
        advertised = pv.advertised
        pv.last_fcp_ps = now_ps
        if port.remote:
            send_out(s, arrival_ps, number_of(s, port.peer, vl), advertised, FCP_INIT)
        else:
            append_fcp(s, port.peer, pv_of(s, port.peer, vl), arrival_ps, advertised)
            schedule_credit(s, port.peer, vl, arrival_ps)


@inline_kernel
def forget_due(s: State, p: int, vl: int, now_ps: int) -> int:
    """Drops what is due up to now from a receiver's list; returns the blocks that become free later."""
    index = pv_of(s, p, vl)
    pv = s.pv_input[index]
    while pv.due_ps <= now_ps:
        _drop_first_due(s, index)
    later = np.int64(pv.due_blocks) if pv.due_ps < NEVER else np.int64(0)
    cell = np.int64(pv.due_head)
    while cell >= 0:
        later += s.cell[cell].value
        cell = np.int64(s.cell[cell].next)
    return later
