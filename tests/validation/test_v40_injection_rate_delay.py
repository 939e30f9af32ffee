# SPDX-License-Identifier: Apache-2.0
"""A congestion control table entry (shift s, multiplier m) makes a flow's rate C / (1 + m / 2^s).

Setup: h0 - switch - h1 at 400 Gb/s, no congestion; ccti_min = ccti_limit = i holds the CCTI at the entry.
Expected: the share of the wire above, e.g. 25 % for (0, 3) and 14.8 % for (3, 46). With control by SL two
flows of a port have one CCTI, and each is delayed by its own packets.
Tolerance: 0.5 % of the rate, for the packet at each end of a window of 1 ms.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.setups import build, line, open_simulation, rates_bps, wire_bytes

LINK_BPS = 400e9


@pytest.mark.parametrize(("shift", "multiplier"), [(0, 0), (0, 3), (1, 1), (2, 7), (3, 46), (3, 16383)])
def test_rate_is_what_the_entry_leaves(shift: int, multiplier: int, measured: Note) -> None:
    index = 5
    table = [{"shift": 0, "multiplier": 0}] * index + [{"shift": shift, "multiplier": multiplier}]
    scenario = build(
        line(1),
        [{"kind": "stream", "name": "s", "src": "h0", "dst": "h1", "message": "1MiB", "count": "forever"}],
        congestion_control={"algorithm": "ib_cca", "ccti_min": index, "ccti_limit": index, "cct": table},
        duration="1s",
    )
    window_ps = 2 * PS_PER_MS if multiplier < 100 else 200 * PS_PER_MS
    rate_bps = rates_bps(open_simulation(scenario), 100 * PS_PER_US, 100 * PS_PER_US + window_ps)["s"]
    share = rate_bps * wire_bytes(4096) / 4096 / LINK_BPS
    expected = 1 / (1 + multiplier / 2**shift)
    measured(f"entry ({shift}, {multiplier})", f"{expected:.3%} of C ± 0.5%", f"{share:.3%}")
    assert share == pytest.approx(expected, rel=0.005)
