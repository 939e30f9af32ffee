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
def add_ports(s: State, now_ps: int, sent: np.ndarray, waiting: np.ndarray, waited_ps: np.ndarray) -> None:
    """Adds a shard's part to three columns of a sample.

    Args:
        s: The shard.
        now_ps: Fabric time reached.
        sent: [ports] bytes sent.
        waiting: [ports] bytes that wait for the output.
        waited_ps: [ports] time that candidates have waited for credits.
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


@kernel
def blocked_since(s: State, now_ps: int) -> int:
    """Fabric time since which the longest waiting candidate waits for credits, NEVER if none does."""
    since_ps = np.int64(NEVER)
    for p in range(s.par[0].ports):
        for vl in range(s.par[0].vls - 1):
            pv = s.pv[pv_of(s, p, vl)]
            if pv.blocked and pv.blocked_at_ps < now_ps:
                since_ps = min(since_ps, pv.blocked_at_ps)
    return since_ps


@kernel
def add_flows(s: State, delivered: np.ndarray) -> None:
    """Adds a shard's part of the payload delivered to [flows]."""
    for flow in range(len(delivered)):
        record = s.flow[flow]
        for i in range(record.qps):
            delivered[flow] += s.responder[record.first_qp + i].bytes
