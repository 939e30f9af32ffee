# SPDX-License-Identifier: Apache-2.0
"""Reading the arrays often: what a sample of the time series needs, in one pass.

Rows that a shard does not own are zero in its arrays, so the sums over all shards are those of the fabric.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import NEVER
from fabrictwin.engine.port_vl import pv_of
from fabrictwin.engine.state import State
from fabrictwin.jit import kernel


@kernel
def _paused_ps(s: State, lane: int, now_ps: int) -> int:
    """How long a priority of a port has been paused."""
    paused = s.lane[lane]
    return paused.paused_ps + (now_ps - paused.paused_at_ps if paused.until_ps != 0 else 0)


@kernel
def _paused_since(s: State, lane: int, now_ps: int) -> int:
    """Fabric time since which packets of a priority have waited for the end of a pause, NEVER: none do."""
    paused = s.lane[lane]
    if paused.until_ps == 0 or s.pv[lane].ring_count == 0:
        return np.int64(NEVER)
    return max(paused.paused_at_ps, paused.departed_ps)


@kernel
def add_ports(s: State, now_ps: int, sent: np.ndarray, waiting: np.ndarray, waited_ps: np.ndarray) -> None:
    """Adds a shard's part to three columns of a sample.

    Args:
        s: The shard.
        now_ps: Fabric time reached.
        sent: [ports] bytes sent.
        waiting: [ports] bytes that wait for the output.
        waited_ps: [ports] time that candidates have waited for credits, or that priorities have been paused.
    """
    for p in range(len(sent)):
        if s.port[p].peer < 0:
            continue
        sent[p] += s.port[p].xmit_bytes
        waited_ps[p] += s.port_more[p].xmit_wait_ps
        for vl in range(s.par[0].vls - 1):
            pv = s.pv[pv_of(s, p, vl)]
            waiting[p] += pv.waiting_blocks << pv.block_shift
            if pv.blocked and pv.blocked_at_ps < now_ps:
                waited_ps[p] += now_ps - pv.blocked_at_ps
            if s.par[0].ethernet:
                waited_ps[p] += _paused_ps(s, pv_of(s, p, vl), now_ps)


@kernel
def blocked_since(s: State, now_ps: int) -> int:
    """Since when the longest waiting candidate has had no credits, or a pause; NEVER: none waits."""
    since_ps = np.int64(NEVER)
    for p in range(s.par[0].ports):
        for vl in range(s.par[0].vls - 1):
            pv = s.pv[pv_of(s, p, vl)]
            if pv.blocked and pv.blocked_at_ps < now_ps:
                since_ps = min(since_ps, pv.blocked_at_ps)
            if s.par[0].ethernet:
                since_ps = min(since_ps, _paused_since(s, pv_of(s, p, vl), now_ps))
    return since_ps


@kernel
def add_flows(s: State, delivered: np.ndarray) -> None:
    """Adds a shard's part of the payload delivered to [flows]."""
    for flow in range(len(delivered)):
        record = s.flow[flow]
        for i in range(record.qps):
            delivered[flow] += s.responder[record.first_qp + i].bytes
