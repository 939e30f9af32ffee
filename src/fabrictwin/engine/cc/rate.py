# SPDX-License-Identifier: Apache-2.0
"""The rate of a queue pair on RoCE, whichever algorithm sets it, and what each algorithm is told.

**Models**: docs/models/rocev2.md sections 7 and 9 to 11.
**State**: ``RATE.rate_bps``, ``RATE.limited``; the algorithms' own rows.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cc.dcqcn import advance_rate
from fabrictwin.engine.cc.hpcc import on_telemetry
from fabrictwin.engine.cc.tcp import on_tcp_response
from fabrictwin.engine.cc.timely import note_departure, on_completion
from fabrictwin.engine.codes import PacketKind, QpState, RateControl
from fabrictwin.engine.state import State
from fabrictwin.engine.transport import can_send, leave_ring
from fabrictwin.jit import inline_kernel, seldom_kernel

_BITS_PS = 8 * 10**12


@inline_kernel
def sending_time(s: State, qp: int, wire: int, start_ps: int) -> int:
    """Picoseconds that a packet takes at the rate of its queue pair; 0: at line rate."""
    if not s.rate[qp].limited:
        return np.int64(0)
    return _limited_time(s, qp, wire, start_ps)


@seldom_kernel
def _limited_time(s: State, qp: int, wire: int, start_ps: int) -> int:
    if s.par[0].rate_control == RateControl.DCQCN:
        advance_rate(s, qp, wire, start_ps)
    rate = s.rate[qp]
    return wire * _BITS_PS // rate.rate_bps if rate.limited else np.int64(0)


@inline_kernel
def on_departure(s: State, qp: int, psn: int, asks: bool, end_ps: int) -> None:
    """A data packet leaves the adapter; its last byte does so at a time."""
    if s.par[0].rate_control == RateControl.TIMELY and not s.requester[qp].tcp:
        note_departure(s, qp, psn, asks, end_ps)


@inline_kernel
def on_acknowledgement(s: State, packet_index: int, now_ps: int) -> None:
    """A response has come, before the transport looks at it."""
    if s.par[0].closed_loop:
        _tell(s, packet_index, now_ps)


@seldom_kernel
def _tell(s: State, packet_index: int, now_ps: int) -> None:
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    if s.requester[qp].tcp:
        on_tcp_response(s, packet_index)
    elif packet.kind != PacketKind.ACK:
        return
    elif s.par[0].rate_control == RateControl.TIMELY:
        on_completion(s, qp, packet.psn, now_ps)
    elif s.par[0].rate_control == RateControl.HPCC:
        on_telemetry(s, qp, packet.psn, np.int64(packet.blocks))


@seldom_kernel
def keep_to_window(s: State, qp: int, now_ps: int) -> None:
    """A sender whose window has shrunk below what is under way waits."""
    if s.requester[qp].state == QpState.READY and not can_send(s, qp):
        leave_ring(s, qp, now_ps)
