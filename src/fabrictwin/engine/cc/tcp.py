# SPDX-License-Identifier: Apache-2.0
"""TCP: the window of a connection, by what is lost.

**Models**: docs/models/rocev2.md section 11 (RFC 5681: slow start, congestion avoidance, halving, timeouts).
**Not**: delayed acknowledgements, estimated timeouts, a congestion window of bytes.
**State**: ``TCP``, ``REQUESTER.window``. **Events**: none.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import PacketKind
from fabrictwin.engine.state import State
from fabrictwin.jit import seldom_kernel

INITIAL_WINDOW = 10
"""Packets (RFC 6928)."""
LEAST_THRESHOLD_Q8 = 2 << 8
LARGEST_WINDOW_Q8 = 1 << 28


@seldom_kernel
def on_tcp_response(s: State, packet_index: int) -> None:
    """An acknowledgement, or news of a gap, has come; the transport has not looked at it yet."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    if packet.kind == PacketKind.ACK:
        _grow(s, qp, packet.psn + 1 - s.requester[qp].una_psn)
    elif packet.kind == PacketKind.NAK and packet.psn >= s.tcp[qp].recover_psn:
        _halve(s, qp)
        s.tcp[qp].window_q8 = s.tcp[qp].threshold_q8
        s.tcp[qp].recover_psn = s.requester[qp].next_psn
    _set_window(s, qp)


@seldom_kernel
def on_tcp_timeout(s: State, qp: int, now_ps: int) -> None:
    """The acknowledgement timer comes: if it is due, the window is one packet again. TCP never gives up."""
    requester = s.requester[qp]
    if requester.deadline_ps > now_ps:
        return
    _halve(s, qp)
    s.tcp[qp].window_q8 = 1 << 8
    s.tcp[qp].recover_psn = requester.high_psn
    requester.retries_left = s.hca[s.port[requester.port].node].retry_count
    _set_window(s, qp)


@seldom_kernel
def _grow(s: State, qp: int, packets: int) -> None:
    tcp = s.tcp[qp]
    if packets <= 0:
        return
    if tcp.window_q8 < tcp.threshold_q8:
        tcp.window_q8 += packets << 8
    else:
        tcp.window_q8 += (packets << 16) // tcp.window_q8
    tcp.window_q8 = min(tcp.window_q8, np.int64(LARGEST_WINDOW_Q8))


@seldom_kernel
def _halve(s: State, qp: int) -> None:
    tcp = s.tcp[qp]
    tcp.threshold_q8 = max(tcp.window_q8 // 2, np.int64(LEAST_THRESHOLD_Q8))


@seldom_kernel
def _set_window(s: State, qp: int) -> None:
    s.requester[qp].window = max(np.int64(1), s.tcp[qp].window_q8 >> 8)
