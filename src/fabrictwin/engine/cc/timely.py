# SPDX-License-Identifier: Apache-2.0
"""TIMELY: the rate of a queue pair by the gradient of its round-trip time.

**Models**: docs/models/rocev2.md section 9 (Mittal et al., SIGCOMM 2015, algorithm 1). **Not**: bursts of 16
to 64 KB at line rate: packets are paced one by one.
**State**: ``DELAY``, ``RATE``. **Events**: none.
**Behaviour**: factors in units of 2**-16, products rounded down.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.pools import give_cell, take_cell
from fabrictwin.engine.state import State
from fabrictwin.jit import seldom_kernel

ONE_Q16 = 1 << 16
_PSN_MASK = (1 << 30) - 1
NONE = -1


@seldom_kernel
def _forget(s: State, qp: int) -> None:
    """Drops the first of the packets that are timed."""
    delay = s.delay[qp]
    cell = np.int64(delay.head)
    delay.head = s.cell[cell].next
    if delay.head < 0:
        delay.tail = NONE
    give_cell(s, cell)


@seldom_kernel
def note_departure(s: State, qp: int, psn: int, asks: bool, end_ps: int) -> None:
    """A data packet leaves; its acknowledgement is timed if it asks for one and nothing is sent again."""
    delay = s.delay[qp]
    if psn < s.requester[qp].high_psn:
        while delay.head >= 0:
            _forget(s, qp)
        return
    if not asks:
        return
    cell = take_cell(s, end_ps, psn & _PSN_MASK)
    if delay.tail < 0:
        delay.head = cell
    else:
        s.cell[delay.tail].next = cell
    delay.tail = cell


@seldom_kernel
def on_completion(s: State, qp: int, psn: int, now_ps: int) -> None:
    """An acknowledgement of all up to a PSN: a round-trip time if that packet is timed."""
    delay = s.delay[qp]
    sent_ps = np.int64(NONE)
    while delay.head >= 0:
        cell = s.cell[delay.head]
        behind = (psn - cell.value) & _PSN_MASK
        if behind > _PSN_MASK // 2:
            break
        sent_ps = cell.time_ps + 0 if behind == 0 else np.int64(NONE)
        _forget(s, qp)
    if sent_ps >= 0:
        update_rate(s, qp, now_ps - sent_ps)


@seldom_kernel
def update_rate(s: State, qp: int, rtt_ps: int) -> None:
    """Algorithm 1 of the paper, for one round-trip time."""
    rule = s.delay_rule[0]
    delay = s.delay[qp]
    rate = s.rate[qp]
    if delay.before_ps > 0:
        change_ps = rtt_ps - delay.before_ps
        old_ps = (ONE_Q16 - rule.ewma_q16) * delay.change_ps
        delay.change_ps = (old_ps + rule.ewma_q16 * change_ps) >> 16
    delay.before_ps = rtt_ps
    gradient_q16 = (delay.change_ps << 16) // rule.min_rtt_ps
    least_bps = max(rule.min_rate_bps, rate.rate_bps * rule.min_decrease_q16 >> 16)
    if rtt_ps < rule.t_low_ps:
        delay.falls = 0
        rate.rate_bps += rule.delta_bps
    elif rtt_ps > rule.t_high_ps:
        delay.falls = 0
        above_q16 = ((rtt_ps - rule.t_high_ps) << 16) // rtt_ps
        rate.rate_bps -= rate.rate_bps * (rule.beta_q16 * above_q16 >> 16) >> 16
    elif gradient_q16 <= 0:
        delay.falls += 1
        steps = rule.hai_factor if delay.falls >= rule.hai_threshold else 1
        rate.rate_bps += steps * rule.delta_bps
    else:
        delay.falls = 0
        cut_q16 = min(np.int64(ONE_Q16), rule.beta_q16 * gradient_q16 >> 16)
        rate.rate_bps -= rate.rate_bps * cut_q16 >> 16
    rate.rate_bps = min(max(rate.rate_bps, least_bps), rate.line_bps)
    rate.limited = 1 if rate.rate_bps < rate.line_bps else 0
