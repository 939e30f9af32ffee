# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabrictwin.subnet.graph import NO_PORT
from fabrictwin.subnet.reachability import EXAMPLES, Failure, check_reachability
from fabrictwin.subnet.routes import Routes
from unit.subnet.fabrics import generated, k_ary_tree, random_fabric, routed, switch_links, wired
from unit.subnet.real_tables import real_routes
from unit.subnet.walks import all_walks


def _spoil(routes: Routes, seed: int) -> Routes:
    """Tables with a few entries drawn at random."""
    rng = np.random.default_rng(seed)
    lft = routes.lft.copy()
    for _ in range(12):
        lft[rng.integers(len(lft)), rng.integers(1, routes.lids.top + 1)] = rng.integers(0, 12)
    return replace(routes, lft=lft)


@pytest.mark.parametrize("seed", range(25))
def test_counts_equal_those_of_paths_followed_one_by_one(seed: int) -> None:
    fabric = random_fabric(seed, switches=6)
    routes = _spoil(routed(fabric, "min_hop"), seed)
    walks = list(all_walks(routes, fabric))
    reached = check_reachability(routes)
    assert reached.pairs == len(walks)
    assert reached.unreachable == sum(not arrives for *_, arrives in walks)
    hops = Counter(len(taken) for _, _, taken, arrives in walks if arrives)
    assert {n: pairs for n, pairs in enumerate(reached.hops.tolist()) if pairs} == dict(hops)


def test_missing_entry_is_a_pair_without_a_route() -> None:
    routes = routed(wired([1, 1], [(0, 1)]), "min_hop")
    routes.lft[1, routes.lids.end_lid[0]] = NO_PORT
    reached = check_reachability(routes)
    assert reached.unreachable == 1
    assert [(p.source, p.destination, p.lid, p.failure) for p in reached.examples] == [
        ("h1/1", "h0/1", 1, Failure.DROP)
    ]


def test_entries_that_point_at_each_other_are_a_forwarding_loop() -> None:
    ring = generated("ring", switches=3, hosts_per_switch=1)
    routes = routed(ring, "min_hop")
    routes.lft[:2, routes.lids.end_lid[2]] = 2, 3
    reached = check_reachability(routes)
    assert reached.unreachable == 2
    assert {pair.failure for pair in reached.examples} == {Failure.LOOP}


def test_entry_that_leads_to_the_wrong_host_does_not_arrive() -> None:
    routes = routed(wired([2], []), "min_hop")
    routes.lft[0, routes.lids.end_lid[1]] = 1
    assert check_reachability(routes).unreachable == 1


def test_route_over_a_dead_cable_does_not_arrive() -> None:
    fabric = wired([1, 1], [(0, 1)])
    routes = routed(fabric, "min_hop")
    graph = routes.graph.with_down(switch_links(fabric))
    assert check_reachability(replace(routes, request=replace(routes.request, graph=graph))).unreachable == 2


def test_examples_are_bounded_and_all_failures_counted() -> None:
    routes = routed(k_ary_tree(4), "min_hop")
    routes.lft[:] = NO_PORT
    reached = check_reachability(routes)
    assert reached.unreachable == 16 * 15
    assert len(reached.examples) == EXAMPLES


def test_every_lid_of_a_port_counts_as_a_destination() -> None:
    reached = check_reachability(routed(wired([2, 2], [(0, 1)]), "min_hop", lmc=3))
    assert reached.pairs == 4 * 3 * 8


def test_real_tables_reach_everybody(shared_data: Path) -> None:
    routes = real_routes(shared_data)
    reached = check_reachability(routes)
    assert reached.pairs == len(routes.graph.end_node) * (len(routes.graph.end_node) - 1)
    assert reached.unreachable == 0
    assert reached.switch_unreachable == 0
    assert set(np.flatnonzero(reached.hops).tolist()) == {1, 3}
