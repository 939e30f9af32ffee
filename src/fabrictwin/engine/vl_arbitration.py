# SPDX-License-Identifier: Apache-2.0
"""VL arbitration: two tables of (VL, weight), weighted round robin within each, a limit for the high one.

**Models**: IBTA 7.6.9 as docs/models/infiniband.md section 5 words it; a packet may overdraw the remaining
weight once.
**State**: ``PORT_MORE.high_at``, ``high_left``, ``low_at``, ``low_left`` (64-byte units), ``limit_left``
(bytes).
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V13).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.state import State
from fabrictwin.jit import kernel, seldom_kernel

UNLIMITED = 255
LIMIT_UNIT_BYTES = 4096
WEIGHT_UNIT_BYTES = 64


@kernel
def _turn_high(s: State, p: int, eligible: int) -> int:
    """VL that the high table grants, or -1 after one full turn plus one."""
    port = s.port_more[p]
    entries = s.par[0].high_entries
    for _ in range(entries + 1 if entries > 0 else 0):
        vl = np.int64(s.high[port.high_at].vl)
        if (eligible >> vl) & 1 and port.high_left > 0:
            return vl
        port.high_at = (port.high_at + 1) % entries
        port.high_left = s.high[port.high_at].weight
    return np.int64(-1)


@kernel
def _turn_low(s: State, p: int, eligible: int) -> int:
    """VL that the low table grants, or -1 after one full turn plus one."""
    port = s.port_more[p]
    entries = s.par[0].low_entries
    for _ in range(entries + 1 if entries > 0 else 0):
        vl = np.int64(s.low[port.low_at].vl)
        if (eligible >> vl) & 1 and port.low_left > 0:
            return vl
        port.low_at = (port.low_at + 1) % entries
        port.low_left = s.low[port.low_at].weight
    return np.int64(-1)


@kernel
def choose_vl(s: State, p: int, eligible: int) -> tuple[int, bool]:
    """(VL whose candidate goes next, whether the high table chose it) from a bit set that is not empty.

    VL -1: no table names any of them.
    """
    port = s.port_more[p]
    limit = s.par[0].high_limit
    within = limit == UNLIMITED or port.limit_left > 0 or (limit == 0 and port.limit_left == 0)
    if within:
        vl = _turn_high(s, p, eligible)
        if vl >= 0:
            return vl, True
    vl = _turn_low(s, p, eligible)
    if vl >= 0 or within:
        return vl, False
    return _turn_high(s, p, eligible), True


@seldom_kernel
def charge_vl(s: State, p: int, high: bool, wire: int) -> None:
    """Takes a packet's bytes off the table that chose it."""
    port = s.port_more[p]
    limit = s.par[0].high_limit
    units = (wire + WEIGHT_UNIT_BYTES - 1) // WEIGHT_UNIT_BYTES
    if high:
        port.high_left -= units
        if port.high_left <= 0:
            port.high_at = (port.high_at + 1) % s.par[0].high_entries
            port.high_left = s.high[port.high_at].weight
        port.limit_left = -1 if limit == 0 else port.limit_left - wire
    else:
        port.low_left -= units
        if port.low_left <= 0:
            port.low_at = (port.low_at + 1) % s.par[0].low_entries
            port.low_left = s.low[port.low_at].weight
        port.limit_left = limit * LIMIT_UNIT_BYTES
