# SPDX-License-Identifier: Apache-2.0
"""HPCC in plain Python, written from the papers: algorithm 1 of Li et al., SIGCOMM 2019; links as in PINT.

Of the model it takes the bounds of a window, and in which units everything is rounded down (2**-16 in a
switch, bytes at a sender), or to the nearest (2**-8 on a packet).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from fabrictwin.model.hpcc import Hpcc

PS_PER_S = 10**12


def _in_units(value: Fraction) -> Fraction:
    return Fraction(floor(value * 2**16), 2**16)


def product_bytes(rate_bps: int, base_rtt_ps: int) -> int:
    """Bytes that a link carries in the base round-trip time."""
    return rate_bps * base_rtt_ps // (8 * PS_PER_S)


@dataclass
class LinkUse:
    """What a switch knows of one of its links.

    Attributes:
        rate_bps: Its rate.
        base_ps: T.
    """

    rate_bps: int
    base_ps: int
    use: Fraction = Fraction(0)
    before_ps: int = 0

    def leave(self, wire_bytes: int, waiting_bytes: int, now_ps: int) -> Fraction:
        """A packet leaves, behind which bytes wait; what it tells of the link."""
        product = product_bytes(self.rate_bps, self.base_ps)
        gap_ps = min(now_ps - self.before_ps, self.base_ps)
        self.before_ps = now_ps
        queue = _in_units(Fraction(waiting_bytes, product))
        kept = _in_units((self.use * (self.base_ps - gap_ps) + queue * gap_ps) / self.base_ps)
        self.use = kept + _in_units(Fraction(wire_bytes, product))
        return Fraction(floor(self.use * 2**8 + Fraction(1, 2)), 2**8)


@dataclass
class Sender:
    """The window of one sender.

    Attributes:
        rules: Parameters.
        line_bps: Line rate.
    """

    rules: Hpcc
    line_bps: int

    def __post_init__(self) -> None:
        self.most = self.window = self.reference = product_bytes(self.line_bps, self.rules.base_rtt_ps)
        self.stage = 0
        self.update_psn = 0
        self.unacknowledged = 0

    def hear(self, psn: int, use: Fraction, next_psn: int) -> None:
        """An acknowledgement has come, when a PSN is the next to be sent."""
        eta = Fraction(self.rules.eta_q16, 2**16)
        increase = floor(self.most * (1 - eta) / self.rules.flows)
        is_update = psn >= self.update_psn
        if use >= eta or self.stage >= self.rules.max_stage:
            window = floor(self.reference * eta / max(use, Fraction(1, 2**8))) + increase
            stage = 0
        else:
            window = self.reference + increase
            stage = self.stage + 1
        least = max(1, product_bytes(self.rules.min_rate_bps, self.rules.base_rtt_ps))
        self.window = min(max(window, least), self.most)
        if is_update:
            self.stage, self.reference, self.update_psn = stage, self.window, next_psn
        self.unacknowledged = max(self.unacknowledged, psn + 1)

    def may_send(self, psn: int, packet_bytes: int) -> bool:
        """Whether the window has room for a packet; one packet is always under way."""
        return psn - self.unacknowledged < max(1, -(-self.window // packet_bytes))

    @property
    def rate_bps(self) -> int:
        """The rate at which it sends."""
        if self.window == self.most:
            return self.line_bps
        return min(self.line_bps, self.window * 8 * PS_PER_S // self.rules.base_rtt_ps)
