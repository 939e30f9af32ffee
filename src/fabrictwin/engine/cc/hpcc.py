# SPDX-License-Identifier: Apache-2.0
"""HPCC: the window of a queue pair by the telemetry of the busiest link on its path.

**Models**: docs/models/rocev2.md section 10 (Li et al., SIGCOMM 2019, algorithm 1). **Not**: a stack of
records of every hop: each switch works out the use of its link and a packet carries the largest, as in PINT
(Ben Basat et al., SIGCOMM 2020).
**State**: ``USE`` (switch), ``PACKET.blocks``, ``WINDOW``, ``RATE``. **Events**: none.
**Behaviour**: use in units of 2**-16 in a switch, 2**-8 on a packet.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import PacketKind
from fabrictwin.engine.state import State
from fabrictwin.jit import seldom_kernel

_BITS_PS = 8 * 10**12
_LARGEST_Q8 = (1 << 15) - 1


@seldom_kernel
def note_use(s: State, p: int, packet_index: int, waiting_bytes: int, now_ps: int) -> None:
    """A packet leaves a switch's output, behind which bytes wait: works out the use of the link, and adds
    it to what the packet tells."""
    packet = s.packet[packet_index]
    use = s.use[p]
    base_ps = s.window_rule[0].base_rtt_ps
    product_bytes = max(np.int64(1), base_ps * 1000 // s.port[p].fs_per_byte)
    gap_ps = min(now_ps - use.at_ps, base_ps)
    use.at_ps = now_ps
    queued_q16 = (waiting_bytes << 16) // product_bytes
    kept = use.use_q16 * (base_ps - gap_ps) + queued_q16 * gap_ps
    use.use_q16 = kept // base_ps + (np.int64(packet.wire) << 16) // product_bytes
    if packet.kind == PacketKind.DATA:
        use_q8 = min((use.use_q16 + 128) >> 8, np.int64(_LARGEST_Q8))
        packet.blocks = max(np.int64(packet.blocks), use_q8)


@seldom_kernel
def on_telemetry(s: State, qp: int, psn: int, use_q8: int) -> None:
    """An acknowledgement tells the use of the busiest link: a new window, and the rate that goes with it."""
    rule = s.window_rule[0]
    window = s.window[qp]
    rate = s.rate[qp]
    is_new = psn >= window.update_psn
    more_bytes = window.most_bytes * (65536 - rule.eta_q16) // (rule.flows << 16)
    if (use_q8 << 8) >= rule.eta_q16 or window.stage >= rule.max_stage:
        size_bytes = (
            window.reference_bytes * rule.eta_q16 // (max(np.int64(use_q8), np.int64(1)) << 8) + more_bytes
        )
        if is_new:
            window.stage = 0
    else:
        size_bytes = window.reference_bytes + more_bytes
        if is_new:
            window.stage += 1
    least_bytes = max(np.int64(1), rule.min_rate_bps * rule.base_rtt_ps // _BITS_PS)
    size_bytes = min(max(size_bytes, least_bytes), window.most_bytes)
    if is_new:
        window.reference_bytes = size_bytes
        window.update_psn = s.requester[qp].next_psn
    rate.rate_bps = min(rate.line_bps, size_bytes * _BITS_PS // rule.base_rtt_ps)
    rate.limited = 1 if size_bytes < window.most_bytes else 0
    wire = s.par[0].mtu + s.par[0].data_overhead
    packets = max(np.int64(1), (size_bytes + wire - 1) // wire)
    s.requester[qp].window = min(packets, np.int64(window.most_packets))
