# SPDX-License-Identifier: Apache-2.0
"""V20: d-mod-k carries every shift permutation of a fat tree without contention."""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.model.fabric import Fabric
from unit.subnet.fabrics import k_ary_tree, routed, two_level_tree
from validation.traffic_patterns import Pattern

TREES = {
    "8x8x8": lambda: two_level_tree(8, 8, 8),
    "16x16x16": lambda: two_level_tree(16, 16, 16),
    "36x18x18": lambda: two_level_tree(36, 18, 18),
    "8x8x4-two-cables": lambda: two_level_tree(8, 8, 4, links_per_spine=2),
    "k4": lambda: k_ary_tree(4),
    "k8": lambda: k_ary_tree(8),
    "k12": lambda: k_ary_tree(12),
}


def _worst_shift(fabric: Fabric, engine: str) -> int:
    pattern = Pattern(routed(fabric, engine))
    hosts = np.arange(pattern.endpoints)
    return max(
        int(pattern.most_on_path(hosts, (hosts + shift) % pattern.endpoints).max())
        for shift in range(1, pattern.endpoints)
    )


@pytest.mark.parametrize("tree", TREES)
def test_v20_every_shift_permutation_loads_every_link_with_one_flow_at_most(tree: str) -> None:
    """Setup: ``ftree`` on (leaves, hosts a leaf, spines) trees and k-ary trees, ranks in topology order.

    Expected: the most flows on any link is 1 for all shifts 1…N-1. Tolerance: none, it is a law of d-mod-k.
    """
    assert _worst_shift(TREES[tree](), "ftree") == 1


def test_v20_routing_without_the_law_does_not_pass() -> None:
    """The same measurement on ``min_hop``, which only balances, finds contention: it can tell the two
    apart."""
    assert _worst_shift(two_level_tree(8, 8, 8), "min_hop") > 1


@pytest.mark.parametrize(("hosts_per_leaf", "spines"), [(8, 4), (12, 4)])
def test_v20_oversubscribed_leaves_share_their_uplinks_evenly(hosts_per_leaf: int, spines: int) -> None:
    """Setup: more hosts than uplinks a leaf. Expected: hosts / uplinks flows a link at most (exact)."""
    assert _worst_shift(two_level_tree(8, hosts_per_leaf, spines), "ftree") == hosts_per_leaf // spines
