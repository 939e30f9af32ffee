# SPDX-License-Identifier: Apache-2.0
"""InfiniBand link speeds: what a lane of each generation carries once line code and FEC are subtracted.

Signalling rates P, effective rates A, FDR10's ratio computed (C). The twin never subtracts a code twice.
"""

from __future__ import annotations

LINK_WIDTHS = (1, 2, 4, 8, 12)

# Effective bit/s of a lane as (numerator, denominator): 14.0625 Gb/s through 64b/66b is not a whole number.
_LANE_BPS: dict[str, tuple[int, int]] = {
    "SDR": (2_000_000_000, 1),
    "DDR": (4_000_000_000, 1),
    "QDR": (8_000_000_000, 1),
    "FDR10": (10_000_000_000, 1),
    "FDR": (14_062_500_000 * 64, 66),
    "EDR": (25_000_000_000, 1),
    "HDR": (50_000_000_000, 1),
    "NDR": (100_000_000_000, 1),
    "XDR": (200_000_000_000, 1),
}

LINK_SPEEDS = tuple(_LANE_BPS)


def link_rate_bps(speed: str, width: int) -> int:
    """Effective rate of a link, rounded to the nearest bit/s.

    Args:
        speed: One of ``LINK_SPEEDS``.
        width: Lanes, one of ``LINK_WIDTHS``.

    Raises:
        KeyError: ``speed`` is no InfiniBand speed.
    """
    numerator, denominator = _LANE_BPS[speed]
    return (width * numerator + denominator // 2) // denominator
