# SPDX-License-Identifier: Apache-2.0
"""DCQCN in plain Python, written from the paper (Zhu et al., SIGCOMM 2015) with timers that tick.

Of the model it takes the vendor's additions: a bound of one cut, a shortest time between cuts, a target that
stays where no raise came since, and when a sender is at line rate again.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.dcqcn import Dcqcn

PS_PER_S = 10**12


@dataclass
class ReactionPoint:
    """The rate of a sender, in bit/s, by what it sends and hears.

    Attributes:
        rules: Parameters.
        line: Line rate.
    """

    rules: Dcqcn
    line: float

    def __post_init__(self) -> None:
        self.rate = self.target = self.line
        self.alpha = self.rules.initial_alpha_q30 / 2**30
        self.is_limited = False
        self.cut_ps: int | None = None
        self.alpha_tick_ps = self.rate_tick_ps = 0
        self.bytes_left = 0
        self.timer_raises = self.byte_raises = 0

    def hear_cnp(self, now_ps: int) -> None:
        """A CNP has come."""
        self._tick(now_ps)
        if self.cut_ps is not None and now_ps - self.cut_ps < self.rules.rate_reduce_interval_ps:
            return
        raises = self.timer_raises + self.byte_raises
        if raises > 0 or not self.is_limited or self.rules.clamp_target:
            self.target = self.rate
        factor = max(1 - self.alpha / 2, self.rules.min_decrease_q16 / 2**16)
        self.rate = max(self.rate * factor, self.rules.min_rate_bps)
        gain = self.rules.g_q30 / 2**30
        self.alpha = (1 - gain) * self.alpha + gain
        self.cut_ps = now_ps
        self.alpha_tick_ps = now_ps + self.rules.alpha_timer_ps
        self.rate_tick_ps = now_ps + self.rules.rate_timer_ps
        self.bytes_left = self.rules.byte_counter_bytes
        self.timer_raises = self.byte_raises = 0
        self.is_limited = True

    def send(self, wire_bytes: int, now_ps: int) -> float:
        """A packet starts; the time until the next one may."""
        self._tick(now_ps)
        if self.is_limited and self.rules.byte_counter_bytes:
            self.bytes_left -= wire_bytes
            while self.bytes_left <= 0 and self.is_limited:
                self.bytes_left += self.rules.byte_counter_bytes
                self.byte_raises += 1
                self._raise()
        return wire_bytes * 8 * PS_PER_S / self.rate

    def _tick(self, now_ps: int) -> None:
        """All ticks of both timers up to a time, one after the other."""
        if self.cut_ps is None:
            return
        while self.alpha_tick_ps <= now_ps:
            self.alpha *= 1 - self.rules.g_q30 / 2**30
            self.alpha_tick_ps += self.rules.alpha_timer_ps
        while self.is_limited and self.rate_tick_ps <= now_ps:
            self.timer_raises += 1
            self._raise()
            self.rate_tick_ps += self.rules.rate_timer_ps

    def _raise(self) -> None:
        most, least = sorted((self.timer_raises, self.byte_raises))[::-1]
        if least > self.rules.threshold:
            self.target += (least - self.rules.threshold) * self.rules.rate_hai_bps
        elif most >= self.rules.threshold:
            self.target += self.rules.rate_ai_bps
        self.target = min(self.target, self.line)
        self.rate = (self.rate + self.target) / 2
        if self.target == self.line and self.line - self.rate < self.rules.rate_ai_bps:
            self.rate, self.is_limited = self.line, False


@dataclass
class NotificationPoint:
    """When a receiver of marked packets sends CNPs.

    Attributes:
        interval_ps: At least so long between two.
    """

    interval_ps: int
    last_ps: int | None = None

    def hear_mark(self, now_ps: int) -> bool:
        """A marked packet has come; whether a CNP goes back."""
        if self.last_ps is not None and now_ps - self.last_ps < self.interval_ps:
            return False
        self.last_ps = now_ps
        return True
