# SPDX-License-Identifier: Apache-2.0
"""ECMP reaches about 60 % of a large fabric, choosing a path for every packet more than 93 %.

Setup: 16 leaves of 16 hosts and 16 spines at 400 Gb/s, a random permutation of all 256 hosts, one queue pair
each, packet by packet, lossless, no congestion control; adapters that take packets out of order and repeat
selectively. The last 150 of 250 us are measured.
Expected: mean goodput over that of a link: 0.50 to 0.62 with ECMP (Microsoft SIGCOMM 2016 and others: 60 %),
at least 0.93 with per-packet spraying.
Tolerance: the bounds. Max-min fair rates on the same paths are V25; PFC, which stops flows that share an
input with one that is stuck, takes more.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, wire_bytes
from validation.setups import rates_bps

GOODPUT_BPS = 400e9 * 4096 / wire_bytes(4096)


def mean_share(spraying: bool) -> float:
    scenario = build_roce(
        {"generator": "fat_tree", "levels": 2, "leaves": 16, "hosts_per_leaf": 16, "spines": 16},
        [{"kind": "permutation", "pattern": "random", "message": "256KiB", "count": "forever"}],
        hca={"loss_recovery": "selective_repeat", "reorder_packets": 1024},
        routing={"engine": "ecmp", "spraying": spraying},
        duration="250us",
    )
    rates = rates_bps(open_simulation(scenario), 100 * PS_PER_US, 250 * PS_PER_US)
    return float(np.mean(list(rates.values()))) / GOODPUT_BPS


@pytest.mark.parametrize(("spraying", "least", "most"), [(False, 0.50, 0.62), (True, 0.93, 1.0)])
def test_share_of_the_links(spraying: bool, least: float, most: float, measured: Note) -> None:
    share = mean_share(spraying)
    measured("spraying" if spraying else "ECMP", f"{least} to {most}", f"{share:.3f}")
    assert least <= share <= most
