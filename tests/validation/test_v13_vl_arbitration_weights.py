# SPDX-License-Identifier: Apache-2.0
"""Saturated VLs share a link by their weights, which count 64 bytes and are overdrawn by at most one packet.

Setup: a switch's port to h0; one host for each VL sends without end, the low-priority table holds the
weights.
Expected: 64:192 gives 25 : 75 % with packets up to 4096 bytes (4 KiB and 12 KiB). 1:20:40:80 gives 0.7 :
14.2 : 28.4 : 56.7 % with packets of one unit only, since a weight smaller than a packet still sends one:
with packets of 4122 bytes (65 units) it is 1 : 1 : 1 : 2 packets. 64:192 with those overdraws to 1 : 3
packets, which is 25 : 75 % again.
Tolerance: 1 percentage point, as given; what is measured is exact but for the turn at each end of the
window.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import build, open_simulation, rates_bps, star


def shares_percent(weights: list[int], payload: int) -> list[float]:
    """Share of each VL of what is delivered to h0, in a window of 200 us."""
    vls = range(len(weights))
    scenario = build(
        star(1 + len(weights)),
        [
            {
                "kind": "stream",
                "name": f"vl{vl}",
                "src": f"h{vl + 1}",
                "dst": "h0",
                "message": f"{payload}B",
                "count": "forever",
                "sl": vl,
            }
            for vl in vls
        ],
        qos={"data_vls": len(weights), "vlarb_low": [[vl, weights[vl]] for vl in vls]},
        duration="1s",
    )
    rates = rates_bps(open_simulation(scenario), 20 * PS_PER_US, 220 * PS_PER_US)
    return [100 * rates[f"vl{vl}"] / sum(rates.values()) for vl in vls]


@pytest.mark.parametrize(
    ("weights", "payload", "expected"),
    [
        ([64, 192], 4096, [25, 75]),
        ([64, 192], 2020, [25, 75]),
        ([64, 192], 36, [25, 75]),
        ([1, 20, 40, 80], 36, [0.7, 14.2, 28.4, 56.7]),
        ([1, 20, 40, 80], 4096, [20, 20, 20, 40]),
    ],
)
def test_shares_follow_the_weights(
    weights: list[int], payload: int, expected: list[float], measured: Note
) -> None:
    shares = shares_percent(weights, payload)
    measured(
        f"weights {':'.join(map(str, weights))}, payload {payload} B",
        f"{' : '.join(map(str, expected))} % ± 1",
        f"{' : '.join(f'{share:.1f}' for share in shares)} %",
    )
    assert shares == pytest.approx(expected, abs=1)
