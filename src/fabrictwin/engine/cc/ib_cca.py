# SPDX-License-Identifier: Apache-2.0
"""InfiniBand congestion control: FECN marking at switches, CCTI at channel adapters.

**Models**: docs/models/infiniband.md section 11 (IBTA Annex A10, models.md section 2).
**State**: ``PV_MORE.mark_above``, ``unmarked``, ``PV.starved`` in a switch; ``CC_ENTITY`` (one a queue
pair, or one a port and SL).
**Events in**: CC_NOTIFY, CC_TIMER, CC_APPLY. **Out**: CC_TIMER, CC_APPLY.
**Behaviour**: the reaction point hears of a BECN half a reaction latency after the HCA, and the HCA uses
its answer half
a reaction latency later: so whoever hosts the reaction point, in this process or in another, gives the same
result.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V40-V43).
"""

from __future__ import annotations

from fabrictwin.engine.codes import CcRole, EventKind, Flag, PacketKind
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel

CCTI_TIMER_UNIT_PS = 1_024_000
"""The CCTI timer counts in 1.024 us."""


@inline_kernel
def mark_fecn(s: State, p: int, index: int, packet_index: int) -> None:
    """Marks a data packet that leaves a congested port-VL, every (marking_rate + 1)-th eligible one."""
    pv = s.pv[index]
    more = s.pv_more[index]
    packet = s.packet[packet_index]
    par = s.par[0]
    if pv.waiting_blocks <= more.mark_above or packet.kind != PacketKind.DATA:
        return
    if packet.blocks < par.packet_size or (pv.starved and not s.port_more[p].victim_mask):
        return
    if more.unmarked < par.marking_rate:
        more.unmarked += 1
        return
    more.unmarked = 0
    packet.bits |= Flag.FECN
    s.port_more[p].fecn_marked += 1


@inline_kernel
def on_becn(s: State, qp: int, now_ps: int) -> None:
    """An HCA has received a BECN for a queue pair."""
    if s.par[0].cc_on == 0:
        return
    entity = s.requester[qp].cc
    notify_ps = now_ps + s.par[0].reaction_ps // 2
    if s.par[0].cc_role == CcRole.ADAPTERS:
        _send_out(s, notify_ps, entity, qp)
        return
    notify_later(s, notify_ps, entity, qp)


@inline_kernel
def notify_later(s: State, time_ps: int, entity: int, qp: int) -> None:
    """A reaction point is going to hear of a BECN."""
    push_event(s, time_ps, s.cc[entity].node, EventKind.CC_NOTIFY, qp, entity)


@inline_kernel
def apply_later(s: State, time_ps: int, entity: int, ccti: int) -> None:
    """An HCA is going to use a CCTI."""
    push_event(s, time_ps, s.cc[entity].node, EventKind.CC_APPLY, entity, ccti)


@seldom_kernel
def _send_out(s: State, time_ps: int, entity: int, value: int) -> None:
    """Hands a record to the bus."""
    g = s.g[0]
    record = s.out_cc[g.out_ccs]
    record.time_ps = time_ps
    record.entity = entity
    record.value = value
    g.out_ccs += 1


@inline_kernel
def on_cc_notify(s: State, entity: int, now_ps: int) -> None:
    """CC_NOTIFY: raises the CCTI and starts the timer."""
    par = s.par[0]
    cc = s.cc[entity]
    cc.becns += 1
    cc.ccti = min(par.ccti_limit, max(cc.ccti, par.ccti_min) + par.ccti_increase)
    _answer(s, entity, now_ps)
    if not cc.timer_on and cc.ccti > par.ccti_min:
        cc.timer_on = 1
        push_event(s, now_ps + par.ccti_timer_ps, cc.node, EventKind.CC_TIMER, entity, entity)


@inline_kernel
def on_cc_timer(s: State, entity: int, now_ps: int) -> None:
    """CC_TIMER: lowers the CCTI by one until it is at its minimum."""
    par = s.par[0]
    cc = s.cc[entity]
    if cc.ccti > par.ccti_min:
        cc.ccti -= 1
        _answer(s, entity, now_ps)
    cc.timer_on = 1 if cc.ccti > par.ccti_min else 0
    if cc.timer_on:
        push_event(s, now_ps + par.ccti_timer_ps, cc.node, EventKind.CC_TIMER, entity, entity)


@inline_kernel
def _answer(s: State, entity: int, now_ps: int) -> None:
    """Tells the HCA of a new CCTI."""
    cc = s.cc[entity]
    half_ps = s.par[0].reaction_ps - s.par[0].reaction_ps // 2
    if s.par[0].cc_role == CcRole.REACTION_POINTS:
        _send_out(s, now_ps + half_ps, entity, cc.ccti)
    else:
        apply_later(s, now_ps + half_ps, entity, cc.ccti)


@inline_kernel
def injection_delay(s: State, entity: int, ser_ps: int) -> int:
    """Injection-rate delay after a packet of a wire time: (t >> shift) * multiplier."""
    ccti = s.cc[entity].applied
    return (ser_ps >> s.cct[ccti].shift) * s.cct[ccti].multiplier
