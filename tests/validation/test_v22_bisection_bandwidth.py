# SPDX-License-Identifier: Apache-2.0
"""V22: effective bisection bandwidth of static destination routing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabrictwin.subnet.hops import UP
from fabrictwin.subnet.routes import Routes
from unit.subnet.fabrics import k_ary_tree, routed, two_level_tree
from validation.traffic_patterns import effective_bisection_bandwidth

TOLERANCE = 0.01
"""As the row says; the samples are so many that the standard error of the mean is a third of it at most."""

D_MOD_K = {
    "N=64": (lambda: two_level_tree(8, 8, 8), 0.742, 300),
    "N=256": (lambda: two_level_tree(16, 16, 16), 0.690, 100),
    "N=648": (lambda: two_level_tree(36, 18, 18), 0.664, 50),
    "N=1024": (lambda: two_level_tree(32, 32, 32), 0.663, 40),
    "N=2048": (lambda: two_level_tree(64, 32, 32), 0.649, 30),
    "k=8": (lambda: k_ary_tree(8), 0.590, 150),
    "k=16": (lambda: k_ary_tree(16), 0.532, 30),
    "k=24": (lambda: k_ary_tree(24), 0.511, 12),
    "k=36": (lambda: k_ary_tree(36), 0.499, 6),
}

RANDOM_TABLES = {
    "N=64": (lambda: two_level_tree(8, 8, 8), 0.587, 0.601, 100),
    "N=256": (lambda: two_level_tree(16, 16, 16), 0.53, 0.54, 40),
    "N=648": (lambda: two_level_tree(36, 18, 18), 0.510, 0.518, 20),
    "k=8": (lambda: k_ary_tree(8), 0.456, 0.456, 60),
    "k=16": (lambda: k_ary_tree(16), 0.405, 0.405, 12),
}


def _with_random_ports_upwards(routes: Routes, seed: int) -> Routes:
    """The same paths, but each entry that goes up takes a port upwards at random."""
    assert routes.hops is not None
    assert routes.directions is not None
    channels, targets = routes.graph.channels, routes.lids.targets
    at = np.repeat(np.arange(routes.graph.switch_count), np.diff(targets.first))
    generator = np.random.default_rng(seed)
    lft = routes.lft.copy()
    for switch in range(len(lft)):
        own = slice(channels.first[switch], channels.first[switch + 1])
        ports = channels.port[own][routes.directions.up[own] != 0]
        going_up = routes.hops.kind[at, switch] == UP
        lft[switch, targets.lid[going_up]] = generator.choice(ports, going_up.sum()) if len(ports) else 0
    return replace(routes, lft=lft)


@pytest.mark.parametrize("tree", D_MOD_K)
def test_v22_d_mod_k_gives_the_published_share(tree: str) -> None:
    """Setup: random bisections, pairs both ways, bandwidth 1 / (most flows on a link of the path).

    Expected: the row's value for d-mod-k on two-level trees of N hosts and on k-ary trees, ± 0.01.
    """
    build, expected, samples = D_MOD_K[tree]
    mean, error = effective_bisection_bandwidth(routed(build(), "ftree"), samples, seed=1)
    assert error <= TOLERANCE / 3
    assert mean == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("tree", RANDOM_TABLES)
def test_v22_random_tables_give_the_lower_published_share(tree: str) -> None:
    """The same with random ports upwards; the row's range is over draws of the tables, so four are drawn."""
    build, least, most, samples = RANDOM_TABLES[tree]
    routes = routed(build(), "ftree")
    means = [
        effective_bisection_bandwidth(_with_random_ports_upwards(routes, seed), samples, seed)[0]
        for seed in range(4)
    ]
    assert least - TOLERANCE <= float(np.mean(means)) <= most + TOLERANCE
