# SPDX-License-Identifier: Apache-2.0
"""DCQCN: the rate of a queue pair (reaction point), and CNPs (notification point).

**Models**: docs/models/rocev2.md section 7 (Zhu et al., SIGCOMM 2015). **Not**: NIC-wide limits on CNPs.
**State**: ``RATE``. **Events**: none; timers are worked out when a queue pair sends or hears, which is exact
because nothing looks at the rate in between.
**Behaviour**: alpha, g in units of 2**-30; rates in bit/s.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, kernel, seldom_kernel

ONE_Q30 = 1 << 30


@kernel
def decay(alpha_q30: int, g_q30: int, periods: int) -> int:
    """Alpha after so many periods without a CNP: times (1 - g) for each, by repeated squaring."""
    factor = ONE_Q30 - g_q30
    while periods > 0 and alpha_q30 > 0:
        if periods & 1:
            alpha_q30 = alpha_q30 * factor >> 30
        factor = factor * factor >> 30
        periods >>= 1
    return alpha_q30


@seldom_kernel
def _raise(s: State, qp: int) -> None:
    """One raise of the rate: fast recovery, additive or hyper increase."""
    rule = s.rate_rule[0]
    rate = s.rate[qp]
    most, least = max(rate.timer_stage, rate.byte_stage), min(rate.timer_stage, rate.byte_stage)
    if most >= rule.threshold:
        if least > rule.threshold:
            rate.target_bps += (least - rule.threshold) * rule.rate_hai_bps
        else:
            rate.target_bps += rule.rate_ai_bps
    rate.target_bps = min(rate.target_bps, rate.line_bps)
    rate.rate_bps = (rate.rate_bps + rate.target_bps) // 2
    if rate.line_bps - rate.rate_bps < rule.rate_ai_bps and rate.target_bps == rate.line_bps:
        rate.rate_bps = rate.line_bps
        rate.limited = 0


@seldom_kernel
def _run_timers(s: State, qp: int, now_ps: int) -> None:
    """Works out every raise of the rate timer up to a time."""
    rule = s.rate_rule[0]
    rate = s.rate[qp]
    while rate.limited and rate.raise_at_ps <= now_ps:
        rate.raise_at_ps += rule.rate_timer_ps
        rate.timer_stage += 1
        _raise(s, qp)


@seldom_kernel
def _count_bytes(s: State, qp: int, wire: int) -> None:
    rate = s.rate[qp]
    if s.rate_rule[0].byte_counter == 0:
        return
    rate.bytes_left -= wire
    while rate.limited and rate.bytes_left <= 0:
        rate.bytes_left += s.rate_rule[0].byte_counter
        rate.byte_stage += 1
        _raise(s, qp)


@seldom_kernel
def advance_rate(s: State, qp: int, wire: int, start_ps: int) -> None:
    """A packet of a limited queue pair starts: the raises up to then, and those of its bytes."""
    _run_timers(s, qp, start_ps)
    _count_bytes(s, qp, wire)


@seldom_kernel
def on_cnp(s: State, qp: int, now_ps: int) -> None:
    """A CNP has come: cuts the rate, and starts timers and counters anew."""
    rule = s.rate_rule[0]
    rate = s.rate[qp]
    rate.cnps += 1
    if rate.limited:
        _run_timers(s, qp, now_ps)
    if rate.cnps > 1:
        periods = (now_ps - rate.alpha_at_ps) // rule.alpha_timer_ps
        rate.alpha_q30 = decay(rate.alpha_q30, rule.g_q30, periods)
        if now_ps - rate.cut_at_ps < rule.rate_reduce_interval_ps:
            rate.alpha_at_ps += periods * rule.alpha_timer_ps
            return
    if rule.clamp_target or rate.timer_stage > 0 or rate.byte_stage > 0 or not rate.limited:
        rate.target_bps = rate.rate_bps
    left = max(ONE_Q30 - rate.alpha_q30 // 2, rule.min_decrease_q16 << 14)
    rate.rate_bps = max(rule.min_rate_bps, (rate.rate_bps >> 10) * left >> 20)
    rate.alpha_q30 = rate.alpha_q30 - (rate.alpha_q30 * rule.g_q30 >> 30) + rule.g_q30
    rate.alpha_q30 = min(rate.alpha_q30, np.int64(ONE_Q30))
    rate.alpha_at_ps = now_ps
    rate.cut_at_ps = now_ps
    rate.raise_at_ps = now_ps + rule.rate_timer_ps
    rate.bytes_left = rule.byte_counter
    rate.timer_stage = 0
    rate.byte_stage = 0
    rate.limited = 1


@inline_kernel
def owes_cnp(s: State, qp: int, now_ps: int) -> bool:
    """Whether a queue pair that has received a marked packet answers with a CNP; if so it is counted."""
    rate = s.rate[qp]
    if rate.cnps_sent > 0 and now_ps - rate.cnp_at_ps < s.rate_rule[0].cnp_interval_ps:
        return False
    rate.cnp_at_ps = now_ps
    rate.cnps_sent += 1
    return True
