# SPDX-License-Identifier: Apache-2.0
"""TIMELY in plain Python, written from the paper (algorithm 1 of Mittal et al., SIGCOMM 2015).

Of the model it takes what the paper leaves open: the bounds of a decrease, when a row of gradients ends, and
in which units everything is rounded down (ps, bit/s, 2**-16).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor


def _in_units(value: Fraction) -> Fraction:
    return Fraction(floor(value * 2**16), 2**16)


@dataclass
class TimelyOracle:
    """The rate of one sender.

    Attributes:
        rate: Bit/s; the line rate at first.
        line: Line rate.
        ewma: Weight of a new difference of round-trip times.
        beta: Factor of a decrease.
        t_low: Threshold, in ps.
        t_high: Threshold, in ps.
        min_rtt: Unit of the gradient, in ps.
        delta: Additive increase.
        hai_threshold: Gradients in a row after which increases are faster.
        hai_factor: How much faster.
        min_decrease: Smallest factor of a decrease.
        min_rate: Lowest rate.
    """

    rate: int
    line: int
    ewma: Fraction
    beta: Fraction
    t_low: int
    t_high: int
    min_rtt: int
    delta: int
    hai_threshold: int
    hai_factor: int
    min_decrease: Fraction
    min_rate: int
    rtts: list[int] = field(default_factory=list)
    difference: int = 0
    row: int = 0

    def hear(self, rtt: int) -> int:
        """The rate after a round-trip time."""
        if self.rtts:
            change = rtt - self.rtts[-1]
            self.difference = floor((1 - self.ewma) * self.difference + self.ewma * change)
        self.rtts.append(rtt)
        least = max(floor(self.min_decrease * self.rate), self.min_rate)
        self.rate = min(self.line, max(self._wanted(rtt), least))
        return self.rate

    def _wanted(self, rtt: int) -> int:
        gradient = _in_units(Fraction(self.difference, self.min_rtt))
        is_between = self.t_low <= rtt <= self.t_high
        self.row = self.row + 1 if is_between and gradient <= 0 else 0
        if rtt < self.t_low:
            return self.rate + self.delta
        if rtt > self.t_high:
            return self._cut(self.beta * _in_units(1 - Fraction(self.t_high, rtt)))
        if gradient <= 0:
            return self.rate + (self.hai_factor if self.row >= self.hai_threshold else 1) * self.delta
        return self._cut(self.beta * gradient)

    def _cut(self, part: Fraction) -> int:
        return self.rate - floor(self.rate * min(Fraction(1), _in_units(part)))
