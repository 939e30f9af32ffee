# SPDX-License-Identifier: Apache-2.0
"""The interpreter of rank programs.

**Models**: nothing of the fabric; it posts messages and waits for them, as ``fabrictwin.model.program`` says.
**State**: ``RANK``, ``FLOW.consumed``, ``RESPONDER.in_memory``.
**Events in**: RANK, RECEIVED. **Out**: RANK, POSTED, PORT_FREE.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import EventKind, QpState
from fabrictwin.engine.link import serve_later
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.rng import Stream, draw_below, draw_exponential
from fabrictwin.engine.state import State
from fabrictwin.engine.transport import post_message
from fabrictwin.jit import kernel
from fabrictwin.model.program import Op

STEPS_PER_EVENT = 16
"""Instructions after which a rank yields to itself, so that one event needs a bounded part of the pools."""


@kernel
def _post(s: State, flow: int, length_bytes: int, now_ps: int) -> bool:
    """Posts a message split evenly over the queue pairs of a flow; False: one of them has failed."""
    alive = True
    record = s.flow[flow]
    share = length_bytes // record.qps
    rest = length_bytes - share * record.qps
    for i in range(record.qps):
        part = share + 1 if i < rest else share
        p = post_message(s, record.first_qp + i, part, now_ps)
        if p >= 0:
            serve_later(s, p, max(now_ps, s.port[p].data_free_ps))
        if s.requester[record.first_qp + i].state == QpState.ERROR:
            alive = False
    return alive


@kernel
def _is_sent(s: State, flow: int) -> bool:
    record = s.flow[flow]
    unsent = 0
    for i in range(record.qps):
        unsent += s.requester[record.first_qp + i].unsent
    return unsent == 0


@kernel
def _consume(s: State, flow: int) -> bool:
    """Takes the next message of a flow if all its parts are in memory."""
    record = s.flow[flow]
    for i in range(record.qps):
        if s.responder[record.first_qp + i].in_memory <= record.consumed:
            return False
    record.consumed += 1
    return True


@kernel
def _resume_at(s: State, r: int, time_ps: int) -> None:
    push_event(s, time_ps, s.rank[r].node, EventKind.RANK, r, r)


@kernel
def _pace(s: State, r: int, mean_ps: int, poisson: int, now_ps: int) -> bool:
    """Moves the rank's schedule on; True: that time has come already."""
    rank = s.rank[r]
    interval_ps = mean_ps
    if poisson:
        interval_ps = draw_exponential(s.par[0].seed, Stream.ARRIVAL, r, rank.draws, mean_ps)
        rank.draws += 1
    rank.paced_ps += interval_ps
    if rank.paced_ps <= now_ps:
        return True
    _resume_at(s, r, rank.paced_ps)
    return False


@kernel
def _loop(s: State, r: int, target: int, count: int, counter: int) -> int:
    """The next instruction after a LOOP."""
    rank = s.rank[r]
    rank.loops[counter] += 1
    if count == 0 or rank.loops[counter] < count:
        return target
    rank.loops[counter] = 0
    return -1


@kernel
def _mark(s: State, r: int, now_ps: int) -> None:
    g = s.g[0]
    record = s.mark[g.marks]
    record.rank = r
    record.at_ps = now_ps
    g.marks += 1
    s.rank[r].marks += 1


@kernel
def _choose_flow(s: State, r: int, first: int, count: int) -> int:
    rank = s.rank[r]
    choice = draw_below(s.par[0].seed, Stream.DESTINATION, r, rank.draws, count)
    rank.draws += 1
    return first + choice


@kernel
def run_rank(s: State, r: int, now_ps: int) -> None:
    """RANK: runs a program until it waits, ends, or has taken its share of steps."""
    rank = s.rank[r]
    base = np.int64(rank.first_flow)
    for _ in range(STEPS_PER_EVENT):
        if rank.done:
            return
        step = s.code[rank.pc]
        op, a, b, c = step.op, step.a, step.b, step.c
        if op == Op.END or (now_ps >= rank.stop_ps and (op == Op.POST or op == Op.POST_RANDOM)):
            rank.done = 1
            return
        if op == Op.WAIT_SENT and not _is_sent(s, base + a):
            s.flow[base + a].sender = r
            return
        if op == Op.WAIT_RECEIVED and not _consume(s, base + a):
            s.flow[base + a].receiver = r
            return
        rank.pc += 1
        if op == Op.POST:
            if not _post(s, base + a, b, now_ps):
                rank.done = 1
        elif op == Op.POST_RANDOM:
            _post(s, base + _choose_flow(s, r, a, c), b, now_ps)
        elif op == Op.COMPUTE:
            _resume_at(s, r, now_ps + a)
            return
        elif op == Op.PACE:
            if not _pace(s, r, a, b, now_ps):
                return
        elif op == Op.LOOP:
            target = _loop(s, r, a, b, c)
            if target >= 0:
                rank.pc = rank.pc0 + target
        elif op == Op.MARK:
            _mark(s, r, now_ps)
    _resume_at(s, r, now_ps)


@kernel
def on_received(s: State, qp: int, now_ps: int) -> None:
    """RECEIVED: a message is in memory; wakes the rank that waits for it."""
    responder = s.responder[qp]
    responder.in_memory += 1
    flow = s.flow[responder.flow]
    if flow.receiver >= 0:
        r = np.int64(flow.receiver)
        flow.receiver = -1
        _resume_at(s, r, now_ps)
