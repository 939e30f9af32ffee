# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Fabric, Link
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.hops import DOWN, count_hops, undirected
from fabrictwin.subnet.reachability import check_reachability
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.routes import Routes, changed_blocks
from fabrictwin.subnet.trees import path_trees
from unit.subnet.fabrics import (
    COMPUTING_ENGINES,
    k_ary_tree,
    random_fabric,
    real_fabric,
    routed,
    switch_links,
    two_level_tree,
    wired,
)


def _unreachable(routes: Routes) -> int:
    """Pairs of live HCA ports that fail although cables connect them."""
    trees = path_trees(routes)
    graph = routes.graph
    apart = sum(int(graph.served[graph.pieces != graph.pieces[at]].sum()) for at in trees.at)
    return check_reachability(routes, trees).unreachable - apart


def _some(fabric: Fabric, seed: int, count: int) -> list[Link]:
    links = switch_links(fabric)
    return random.Random(seed).sample(links, min(count, len(links)))


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_random_faults_leave_nobody_unreachable_and_no_loop_where_none_is_promised(engine: str) -> None:
    for seed in range(40):
        fabric = random_fabric(seed)
        plan = routed(fabric, engine, data_vls=15)
        for count in (1, 2, 4):
            routes = reroute(plan, _some(fabric, seed, count))
            assert _unreachable(routes) == 0, (seed, count)
            if routes.deadlock_free:
                assert not check_credit_loops(routes).found, (seed, count)


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
@pytest.mark.parametrize("count", [1, 3, 10])
def test_tree_with_lost_cables_is_routed_around_on_shortest_paths(engine: str, count: int) -> None:
    fabric = k_ary_tree(6)
    plan = routed(fabric, engine)
    for seed in range(10):
        routes = reroute(plan, _some(fabric, seed, count))
        graph = routes.graph
        trees = path_trees(routes)
        reached = check_reachability(routes, trees)
        left = count_hops(graph.channels, undirected(graph.channels)).left
        leaves = graph.served > 0
        expected = np.bincount(
            left[np.ix_(leaves, leaves)].ravel() + 1,
            weights=(graph.served[leaves][:, None] * (graph.served[leaves][None, :])).ravel(),
        )
        expected[1] -= len(graph.end_node)
        assert reached.unreachable == 0
        if count <= 3 or engine in ("min_hop", "dfsssp"):
            assert reached.hops.tolist() == expected.tolist()
        assert not (routes.deadlock_free and check_credit_loops(routes, trees).found)


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_lost_cable_moves_only_what_used_it_or_became_longer(engine: str) -> None:
    fabric = k_ary_tree(6)
    plan = routed(fabric, engine)
    lost = switch_links(fabric)[7]
    routes = reroute(plan, [lost])
    graph = plan.graph
    dead = set(np.flatnonzero(routes.graph.channels.alive == 0).tolist())
    assert routes.hops is not None
    for switch, lid in np.argwhere(plan.lft != routes.lft):
        path = list(plan.channels_of(int(switch), int(lid)))
        assert dead & set(path), (graph.switch_name(int(switch)), int(lid))


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_result_does_not_depend_on_the_order_of_the_faults(engine: str) -> None:
    fabric = k_ary_tree(4)
    plan = routed(fabric, engine)
    first, second = _some(fabric, 3, 2)
    both = reroute(plan, [first, second])
    assert (both.lft == reroute(plan, [second, first]).lft).all()
    assert (both.lft != reroute(plan, [first]).lft).any()


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_nothing_down_brings_the_plan_back(engine: str) -> None:
    plan = routed(k_ary_tree(4), engine)
    again = reroute(plan)
    assert (again.lft == plan.lft).all()
    assert changed_blocks(plan.lft, again.lft) == []


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_dead_spine_is_avoided(engine: str) -> None:
    fabric = two_level_tree(4, 3, 3)
    plan = routed(fabric, engine)
    spine = fabric.index_of["spine1"]
    routes = reroute(plan, nodes=[spine])
    assert check_reachability(routes).unreachable == 0
    assert not np.isin(routes.lft[:4, 1:13], [5]).any()
    assert (routes.lft[:4, routes.lids.switch_lid[5]] == 255).all()


def test_dead_leaf_takes_its_hosts_with_it() -> None:
    fabric = two_level_tree(4, 3, 3)
    routes = reroute(routed(fabric, "ftree"), nodes=[fabric.index_of["leaf2"]])
    reached = check_reachability(routes)
    assert reached.pairs == 9 * 8
    assert reached.unreachable == 0


def test_dead_host_cable_changes_one_block() -> None:
    fabric = two_level_tree(4, 3, 3)
    plan = routed(fabric, "min_hop")
    routes = reroute(
        plan,
        [link for link in fabric.links if fabric.nodes[link.b.node].name == "leaf1"][:1] or [fabric.links[0]],
    )
    blocks = changed_blocks(plan.lft, routes.lft)
    assert len(blocks) == 1


def test_ftree_keeps_its_directions_through_a_lost_cable() -> None:
    fabric = k_ary_tree(8)
    plan = routed(fabric, "ftree")
    routes = reroute(plan, _some(fabric, 1, 3))
    assert routes.engine == "ftree"
    assert routes.directions is plan.directions
    # More than nine entries in ten stay: the tree is not routed anew.
    assert np.mean(plan.lft != routes.lft) < 0.02


def test_tree_whose_roots_no_longer_connect_it_is_routed_again() -> None:
    # Leaf 0 keeps spine 3 only, leaf 2 keeps spine 4 only: they meet through leaf 1, going down and up again.
    fabric = wired([2, 2, 2, 0, 0], [(leaf, spine) for leaf in range(3) for spine in (3, 4)])
    plan = routed(fabric, "up_down")
    cables = {(link.a.node, link.b.node): link for link in switch_links(fabric)}
    routes = reroute(plan, [cables[0, 4], cables[2, 3]])
    assert check_reachability(routes).unreachable == 0
    assert not check_credit_loops(routes).found
    assert routes.directions is not plan.directions
    assert routes.hops is not None
    assert (routes.hops.kind <= DOWN + 1).all()


def test_dfsssp_without_enough_lanes_after_a_fault_goes_on_with_up_down() -> None:
    # A line of switches needs one lane; closed to a ring by the spare cable it would need two.
    cables = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 2), (2, 4), (4, 0)]
    fabric = wired([2] * 6, cables)
    plan = next(routed(fabric, "dfsssp", data_vls=vls) for vls in range(1, 9) if _fits(fabric, vls))
    engines = {reroute(plan, [link]).engine for link in switch_links(fabric)}
    assert engines <= {"dfsssp", "up_down"}
    for link in switch_links(fabric):
        routes = reroute(plan, [link])
        assert not check_credit_loops(routes).found
        assert check_reachability(routes).unreachable == 0


def _fits(fabric: Fabric, vls: int) -> bool:
    try:
        routed(fabric, "dfsssp", data_vls=vls)
    except InputError:
        return False
    return True


def test_explicit_tables_stay_as_they_are() -> None:
    fabric = wired([1, 1], [(0, 1), (0, 1)])
    plan = routed(fabric, "explicit", tables={"sw0": {"h0": 1, "h1": 2}, "sw1": {"h0": 2, "h1": 1}})
    routes = reroute(plan, switch_links(fabric)[:1])
    assert (routes.lft == plan.lft).all()
    assert check_reachability(routes).unreachable == 2


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_real_cluster_survives_any_lost_cable(shared_data: Path, engine: str) -> None:
    fabric = real_fabric(shared_data, "loginoff_topo.ibnetdiscover")
    plan = routed(fabric, engine)
    for link in switch_links(fabric)[::4]:
        routes = reroute(plan, [link])
        assert check_reachability(routes).unreachable == 0
        assert not (routes.deadlock_free and check_credit_loops(routes).found)


def test_changed_blocks_are_those_that_differ_in_order() -> None:
    old = np.zeros((3, 192), np.uint8)
    new = old.copy()
    new[2, 64] = new[0, 191] = new[0, 1] = 9
    assert changed_blocks(old, new) == [(0, 0), (0, 2), (2, 1)]
    assert all(a < b for a, b in pairwise(changed_blocks(old, new)))


def test_tables_of_different_subnets_are_refused() -> None:
    with pytest.raises(InputError, match="different subnets"):
        changed_blocks(np.zeros((2, 64), np.uint8), np.zeros((2, 128), np.uint8))
