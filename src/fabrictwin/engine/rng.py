# SPDX-License-Identifier: Apache-2.0
"""Counter-based random numbers: a hash of (seed, stream, counter), so that no draw depends on the order of
the run.

The mixer is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), applied twice.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from fabrictwin.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

_LN2_2_24 = 11_629_080
"""ln 2 in units of 2**-24."""


class Stream(IntEnum):
    """Purposes that draw; the stream is ``purpose << 40 | index``."""

    PACKET_ERROR = 1
    """index: port; counter: packets sent before, times 8, plus the link-level try."""
    FCP_ERROR = 2
    """index: port; counter: FCPs sent by it, this one included."""
    FEC_JITTER = 3
    """index: port; counter: packets sent before."""
    ARBITER = 4
    """index: port * VLs + VL; counter: packets that have left this VL before."""
    DESTINATION = 5
    """index: rank; counter: draws of this rank."""
    ARRIVAL = 6
    """index: rank; counter: draws of this rank."""
    ECN = 7
    """index: port; counter: packets sent before."""
    ENTROPY = 8
    """index: queue pair; counter: 0 of its data, 1 of its responses."""
    PATH = 9
    """index: seed of the switch; counter: destination, entropy and what else spreads."""


@kernel
def _mix(x: np.uint64) -> np.uint64:
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@kernel
def draw(seed: int, purpose: int, index: int, counter: int) -> np.uint64:
    """64 random bits."""
    stream = (np.uint64(purpose) << np.uint64(40)) ^ np.uint64(index)
    x = _mix(np.uint64(seed) + _GOLDEN * (stream + np.uint64(1)))
    return _mix(x + _GOLDEN * (np.uint64(counter) + np.uint64(1)))


@kernel
def draw_below(seed: int, purpose: int, index: int, counter: int, bound: int) -> int:
    """A uniform integer in [0, bound), bound < 2**31 (bias below 2**-32)."""
    high = draw(seed, purpose, index, counter) >> np.uint64(32)
    return np.int64((high * np.uint64(bound)) >> np.uint64(32))


@kernel
def draw_exponential(seed: int, purpose: int, index: int, counter: int, mean: int) -> int:
    """An exponential variate with an integer mean, in integer arithmetic only.

    -ln(u) = ln 2 * -log2(u); log2 by repeated squaring of a 32-bit mantissa, so that every machine agrees.
    """
    u = (draw(seed, purpose, index, counter) >> np.uint64(12)) | np.uint64(1)
    exponent = 52
    while u < np.uint64(1) << np.uint64(51):
        u <<= np.uint64(1)
        exponent += 1
    mantissa = u >> np.uint64(20)
    fraction = np.int64(0)
    for _ in range(24):
        mantissa = (mantissa * mantissa) >> np.uint64(31)
        fraction <<= 1
        if mantissa >= np.uint64(1) << np.uint64(32):
            fraction |= 1
            mantissa >>= np.uint64(1)
    minus_log2 = ((np.int64(exponent) - 51) << 24) - fraction
    nats = minus_log2 * _LN2_2_24 >> 24
    return (nats * (mean >> 10) >> 14) + (nats * (mean & 1023) >> 24)
