# SPDX-License-Identifier: Apache-2.0
"""Equal flows into one port share it equally.

Setup: N hosts of one switch send to one host without end at 400 Gb/s. The switch takes turns among its
inputs, which is the ideal that congestion control aims at here; credits hold the senders back.
Expected: each flow gets C / N of the wire, Jain's index is 1.
Tolerance: 3 %, as given; turns make it exact but for the packet at each end of the window.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import build, jain, open_simulation, rates_bps, star, wire_bytes

LINK_BPS = 400e9


@pytest.mark.parametrize("senders", [2, 4, 8, 15, 63])
@pytest.mark.parametrize("qps", [1, 3])
def test_every_flow_gets_an_equal_share(senders: int, qps: int, measured: Note) -> None:
    incast = {"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}
    simulation = open_simulation(build(star(senders + 1), [incast | {"qps": qps}], duration="1s"))
    rates = rates_bps(simulation, 100 * PS_PER_US, 1100 * PS_PER_US)
    shares = np.array(list(rates.values())) * wire_bytes(4096) / 4096 / LINK_BPS * senders
    measured(
        f"N = {senders}, queue pairs of each: {qps}",
        "1.000 of C/N ± 3%, Jain 1.0000",
        f"{shares.min():.3f} to {shares.max():.3f} of C/N, Jain {jain(shares):.4f}",
    )
    assert len(shares) == senders
    assert shares == pytest.approx(np.ones(senders), rel=0.03)
    assert jain(shares) == pytest.approx(1, abs=0.001)
