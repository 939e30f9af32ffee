# SPDX-License-Identifier: Apache-2.0
"""Selective repeat without PFC is no worse than go-back-N with it, where pauses spread.

Setup: a three-level fat tree of 16 hosts at 400 Gb/s, a random permutation beside an incast of eight, 1 ms,
DCQCN: lossless with go-back-N, and lossy with selective repeat.
Expected: the permutation gets more without PFC (IRN: 6 to 83 % better, sign and range of published results).
Tolerance: the range; workloads differ.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce
from validation.setups import rates_bps

IRN = {"loss_recovery": "selective_repeat", "window_packets": 40, "ack_timeout": "320us"}
"""A bandwidth-delay product, and the longer of IRN's two timeouts."""


def victims_bps(lossless: bool) -> float:
    """Mean goodput of the permutation."""
    scenario = build_roce(
        {"generator": "fat_tree", "levels": 3, "k": 4},
        [
            {
                "kind": "permutation",
                "name": "victim",
                "pattern": "shift",
                "shift": 4,
                "message": "64KiB",
                "count": "forever",
                "sl": 3,
            },
            {
                "kind": "incast",
                "name": "incast",
                "senders": [f"h{i}" for i in range(4, 12)],
                "receiver": "h0",
                "message": "256KiB",
                "count": "forever",
                "sl": 3,
            },
        ],
        switch={"shared_buffer": "2MB", "alpha": "1/8"},
        hca={} if lossless else IRN,
        qos={"lossless_priorities": [3] if lossless else []},
        duration="1ms",
    )
    rates = rates_bps(open_simulation(scenario), 200 * PS_PER_US, 1000 * PS_PER_US)
    return float(np.mean([rate for name, rate in rates.items() if name.startswith("victim")]))


def test_flows_beside_an_incast_get_more_without_pauses(measured: Note) -> None:
    better = victims_bps(lossless=False) / victims_bps(lossless=True) - 1
    measured("permutation beside an incast", "6 to 83 % better", f"{100 * better:.0f} % better")
    assert 0.06 <= better <= 0.83
