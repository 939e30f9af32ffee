# SPDX-License-Identifier: Apache-2.0
"""Packets get the effective bisection bandwidth that the routes leave them.

Setup: 2-level trees of 64 hosts (8 leaves, 8 spines) and 256 hosts (16, 16), routed d-mod-k; the hosts are
split at random into two halves, paired across, and each pair sends both ways without end at 400 Gb/s,
credits on, no congestion control.
Expected: the mean share of a link's rate is that of 1 / (most flows on a link of the path): 0.742 with 64
hosts, 0.690 with 256. The same bisections are judged by both.
Tolerance: -10 % to +2 % of that law on the same bisections: packets that wait for a busy link block others
behind them, and flows that are held up elsewhere leave a share to others. +-3 % between the few bisections
here and the mean over many (their standard error is 1 %).
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.routing import route_fabric
from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import build, open_simulation, rates_bps, wire_bytes
from validation.traffic_patterns import Pattern

LINK_BPS = 400e9


def bisection(side: int, seed: int) -> tuple[Scenario, np.ndarray, np.ndarray]:
    """(scenario, sources, destinations) of a random bisection; so many leaves, hosts on each, and spines."""
    one, other = np.split(np.random.default_rng(seed).permutation(side * side), 2)
    sources, destinations = np.concatenate([one, other]), np.concatenate([other, one])
    pairs = zip(sources.tolist(), destinations.tolist(), strict=True)
    endless = {"kind": "stream", "message": "4MiB", "count": "forever"}
    scenario = build(
        {"generator": "fat_tree", "levels": 2, "leaves": side, "hosts_per_leaf": side, "spines": side},
        [endless | {"src": f"h{source}", "dst": f"h{destination}"} for source, destination in pairs],
        routing={"engine": "ftree"},
        duration="1s",
    )
    return scenario, sources, destinations


@pytest.mark.parametrize(
    ("side", "law", "bisections"),
    [(8, 0.742, 10), pytest.param(16, 0.690, 10, marks=pytest.mark.slow)],
)
def test_packets_get_the_share_that_routes_leave(
    side: int, law: float, bisections: int, measured: Note
) -> None:
    by_flows, by_packets = [], []
    for seed in range(bisections):
        scenario, sources, destinations = bisection(side, seed)
        routes = route_fabric(scenario.fabric, scenario.routing, scenario.data_vls)
        by_flows.append((1 / Pattern(routes).most_on_path(sources, destinations)).mean())
        rates = rates_bps(open_simulation(scenario), 100 * PS_PER_US, 500 * PS_PER_US)
        by_packets.append(np.mean(list(rates.values())) * wire_bytes(4096) / 4096 / LINK_BPS)
    share, expected = float(np.mean(by_packets)), float(np.mean(by_flows))
    measured(
        f"{side * side} hosts, {bisections} bisections, packets",
        f"{expected:.3f} -10% +2% (many: {law})",
        f"{share:.3f}",
    )
    assert expected == pytest.approx(law, rel=0.03)
    assert 0.90 * expected <= share <= 1.02 * expected
