# SPDX-License-Identifier: Apache-2.0
"""DCQCN shares a bottleneck fairly and keeps it busy.

Setup: 2, 8 and 15 senders to one receiver at 40 Gb/s through one switch, parameters and ECN of the paper;
40 ms, of which the last 20 are measured.
Expected: Jain's index at least 0.95, utilisation of the receiver's link at least 0.9.
Tolerance: none beside the bounds.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS
from validation.conftest import Note
from validation.ethernet import build_roce, wire_bytes
from validation.setups import jain, rates_bps, star


@pytest.mark.parametrize("senders", [2, 8, 15])
def test_senders_share_the_bottleneck(senders: int, measured: Note) -> None:
    scenario = build_roce(
        star(senders + 1),
        [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
        switch={"ecn": {"profile": "dcqcn_paper"}},
        rate="40Gb/s",
        congestion_control={"algorithm": "dcqcn", "profile": "paper"},
        duration="40ms",
    )
    rates = rates_bps(open_simulation(scenario), 20 * PS_PER_MS, 40 * PS_PER_MS)
    fairness = jain(np.array(list(rates.values())))
    used = sum(rates.values()) / (40e9 * 4096 / wire_bytes(4096))
    measured(f"{senders} senders", "Jain ≥ 0.95, use ≥ 0.90", f"Jain {fairness:.3f}, use {used:.3f}")
    assert fairness >= 0.95
    assert used >= 0.9
