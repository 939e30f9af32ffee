# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.model.fabric import Fabric, PortRef
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.ranks import rank_from_roots
from unit.subnet.fabrics import generated, k_ary_tree, switch_links, two_level_tree, wired

TIERS = {"core": 0, "spine": 1, "leaf": 2}


def _ranks(fabric: Fabric) -> dict[str, int]:
    graph = build_graph(fabric)
    return {graph.switch_name(s): int(rank) for s, rank in enumerate(rank_from_roots(graph))}


def _tier(name: str) -> int:
    return TIERS[name.rstrip("0123456789")]


@pytest.mark.parametrize("k", [4, 6, 8])
def test_k_ary_tree_is_ranked_by_its_tiers(k: int) -> None:
    assert all(rank == _tier(name) for name, rank in _ranks(k_ary_tree(k)).items())


@pytest.mark.parametrize("leaves", [2, 3, 9])
def test_two_level_tree_has_its_spines_on_top(leaves: int) -> None:
    ranks = _ranks(two_level_tree(leaves, 2, 3))
    assert all(rank == _tier(name) - 1 for name, rank in ranks.items())


def test_core_that_lost_a_pod_stays_on_top() -> None:
    fabric = k_ary_tree(4)
    broken = next(
        link for link in switch_links(fabric) if "core0" in (_name(fabric, link.a), _name(fabric, link.b))
    )
    assert _ranks(fabric.without({broken}))["core0"] == 0


def test_aggregation_switch_that_lost_its_cores_stays_above_the_leaves() -> None:
    fabric = k_ary_tree(4)
    lost = {
        link
        for link in switch_links(fabric)
        if {"spine0"} < {_name(fabric, link.a), _name(fabric, link.b)}
        and "core" in _name(fabric, link.a) + _name(fabric, link.b)
    }
    assert len(lost) == 2
    assert _ranks(fabric.without(lost))["spine0"] == 1


def test_hosts_on_spines_leave_the_spines_on_top() -> None:
    fabric = wired([4, 4, 4, 1, 1], [(leaf, spine) for leaf in range(3) for spine in (3, 4)])
    assert list(_ranks(fabric).values()) == [1, 1, 1, 0, 0]


def test_given_roots_are_used() -> None:
    graph = build_graph(generated("ring", switches=6, hosts_per_switch=1))
    assert rank_from_roots(graph, [2]).tolist() == [2, 1, 0, 1, 2, 3]


def test_fabric_without_hosts_is_ranked_all_the_same() -> None:
    rank = rank_from_roots(build_graph(wired([0] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)])))
    assert rank.tolist() == [1, 0, 0, 0, 1]


def _name(fabric: Fabric, end: PortRef) -> str:
    return fabric.nodes[end.node].name
