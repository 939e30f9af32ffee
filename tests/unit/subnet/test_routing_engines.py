# SPDX-License-Identifier: Apache-2.0
"""What every engine promises, on trees, on random fabrics and on real clusters."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology
from fabrictwin.model.routing_names import ROUTING_OPTIONS, RoutingSpec
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.ranks import rank_from_roots
from fabrictwin.subnet.reachability import check_reachability
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import ROUTING_ENGINES, route_fabric
from fabrictwin.subnet.trees import path_trees
from unit.subnet.fabrics import (
    COMPUTING_ENGINES,
    DEADLOCK_FREE,
    RATE_BPS,
    REAL_FILES,
    k_ary_tree,
    random_fabric,
    real_fabric,
    routed,
    switch_links,
    two_level_tree,
    wired,
)
from unit.subnet.walks import all_walks, switch_graph

RANDOM_FABRICS = 200


def _judge(routes: Routes) -> tuple[int, int, bool]:
    """(unreachable pairs, unreachable from switches, credit loop)."""
    trees = path_trees(routes)
    reached = check_reachability(routes, trees)
    return reached.unreachable, reached.switch_unreachable, check_credit_loops(routes, trees).found


def test_table_and_scenario_options_name_the_same_engines() -> None:
    assert set(ROUTING_ENGINES) == set(ROUTING_OPTIONS)
    assert all(name == row.name for name, row in ROUTING_ENGINES.items())


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_engine_reaches_everybody_on_random_fabrics_and_keeps_its_promise(engine: str) -> None:
    for seed in range(RANDOM_FABRICS):
        routes = routed(random_fabric(seed), engine, data_vls=15)
        unreachable, from_switches, loop = _judge(routes)
        assert (unreachable, from_switches) == (0, 0), seed
        assert not (loop and routes.deadlock_free), seed


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
@pytest.mark.parametrize("name", REAL_FILES)
def test_engine_routes_a_real_cluster(shared_data: Path, name: str, engine: str) -> None:
    routes = routed(real_fabric(shared_data, name), engine)
    unreachable, from_switches, loop = _judge(routes)
    assert (unreachable, from_switches) == (0, 0)
    assert not (loop and routes.deadlock_free)


@pytest.mark.parametrize("engine", ["min_hop", "dfsssp", "ecmp"])
@pytest.mark.parametrize("seed", range(25))
def test_shortest_path_engines_take_as_many_hops_as_breadth_first(engine: str, seed: int) -> None:
    _assert_shortest(engine, random_fabric(seed))


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
@pytest.mark.parametrize("fabric", [k_ary_tree(4), two_level_tree(4, 3, 2, 2)], ids=["k4", "leaf-spine"])
def test_engine_takes_shortest_paths_on_a_tree(engine: str, fabric: Fabric) -> None:
    _assert_shortest(engine, fabric)


def _assert_shortest(engine: str, fabric: Fabric) -> None:
    distances = dict(nx.all_pairs_shortest_path_length(switch_graph(fabric)))
    for source, destination, taken, arrives in all_walks(routed(fabric, engine), fabric):
        first = fabric.link_at[source].other(source).node
        last = fabric.link_at[destination].other(destination).node
        assert arrives
        assert len(taken) - 1 == distances[first][last]


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_engine_gives_the_same_tables_twice(engine: str) -> None:
    first, second = (routed(random_fabric(11), engine) for _ in range(2))
    assert (first.lft == second.lft).all()


@pytest.mark.parametrize("engine", ["min_hop", "up_down", "dfsssp"])
def test_lids_of_one_port_take_different_spines(engine: str) -> None:
    fabric = two_level_tree(2, 2, 4)
    routes = routed(fabric, engine, lmc=2)
    for destination in (2, 3):
        base = int(routes.lids.end_lid[destination])
        ports = routes.lft[routes.graph.end_switch[0], base : base + 4]
        assert len(set(ports.tolist())) == 4
    assert _judge(routes) == (0, 0, False)


def test_hosts_on_spines_are_reached_without_giving_up_the_spines() -> None:
    fabric = wired([4, 4, 4, 1, 1, 1], [(leaf, spine) for leaf in range(3) for spine in (3, 4, 5)])
    for engine in DEADLOCK_FREE:
        routes = routed(fabric, engine)
        assert _judge(routes) == (0, 0, False)
        used = {int(port) for port in routes.lft[0, routes.lids.end_lid[4:12]]}
        assert len(used) == 3, engine


@pytest.mark.parametrize("engine", DEADLOCK_FREE)
def test_leaves_without_a_common_spine_are_connected(engine: str) -> None:
    # leaf 0 - spine 3 - leaf 1 - spine 4 - leaf 2: from leaf 0 to leaf 2 a path must go down and up.
    fabric = wired([2, 2, 2, 0, 0], [(0, 3), (1, 3), (1, 4), (2, 4)])
    assert _judge(routed(fabric, engine)) == (0, 0, False)


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_pieces_are_routed_each_for_itself(engine: str) -> None:
    fabric = wired([2, 1, 2, 1], [(0, 1), (2, 3)])
    trees = path_trees(routed(fabric, engine))
    reached = check_reachability(routed(fabric, engine), trees)
    assert reached.pairs == 6 * 5
    assert reached.unreachable == 2 * 3 * 3


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_single_switch_and_single_host_are_routed(engine: str) -> None:
    assert _judge(routed(wired([3], []), engine)) == (0, 0, False)
    assert _judge(routed(wired([1], []), engine)) == (0, 0, False)


@pytest.mark.parametrize("root", range(6))
def test_up_down_roots_of_a_scenario_are_the_switches_of_those_names(root: int) -> None:
    scenario = parse_scenario(
        "version: 1\nname: t\nfabric: {topology: {generator: ring, switches: 6, hosts_per_switch: 2}}\n"
        f"routing: {{engine: up_down, roots: [sw{root}]}}"
    )
    graph = build_graph(scenario.fabric)
    roots = [graph.switch_of[node] for node in scenario.routing.roots]
    rank = rank_from_roots(graph, roots)
    ranks = {graph.switch_name(switch): int(rank[switch]) for switch in range(6)}
    assert ranks == {f"sw{other}": min((other - root) % 6, (root - other) % 6) for other in range(6)}
    # Opposite to the root is the lowest point: nobody passes through it.
    lowest = graph.switch_of[scenario.fabric.index_of[f"sw{(root + 3) % 6}"]]
    assert lowest not in _passed(route_fabric(scenario.fabric, scenario.routing), lowest)


def _passed(routes: Routes, but: int) -> set[int]:
    """The switches that some packet from and to any other switch than one passes through or arrives at."""
    others = [switch for switch in range(routes.graph.switch_count) if switch != but]
    return {
        int(routes.graph.channels.peer[channel])
        for source in others
        for destination in others
        for channel in routes.channels_of(source, int(routes.lids.switch_lid[destination]))
    }


def test_unknown_engine_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no such routing engine 'ftre'; did you mean 'ftree'\?"):
        route_fabric(k_ary_tree(4), RoutingSpec("ftre"))


def test_lft_blocks_are_the_tables_in_pieces_of_64() -> None:
    routes = routed(k_ary_tree(8), "ftree")
    blocks = routes.lft_blocks()
    assert blocks.shape == (80, 4, 64)
    assert (blocks.reshape(80, 256) == routes.lft).all()


def test_degraded_tree_is_routed_afresh() -> None:
    fabric = k_ary_tree(8)
    broken = frozenset(switch_links(fabric)[i] for i in (3, 40, 100, 170))
    for engine in COMPUTING_ENGINES:
        routes = routed(fabric.without(broken), engine)
        unreachable, from_switches, loop = _judge(routes)
        assert (unreachable, from_switches) == (0, 0)
        assert not (loop and routes.deadlock_free)
    assert np.count_nonzero(routes.graph.channels.alive) == 2 * (256 - 4)


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_fabrics_without_switches_or_without_hosts_are_routed(engine: str) -> None:
    nodes = tuple(
        Node(f"h{i}", NodeKind.HCA, 10 * i + 1, 1, "native_hca", port_guids=(10 * i + 2,)) for i in range(2)
    )
    back_to_back = Link(PortRef(0, 1), PortRef(1, 1), RATE_BPS, 1)
    assert _judge(routed(Fabric(Technology.INFINIBAND, nodes, (back_to_back,)), engine)) == (0, 0, False)
    assert _judge(routed(wired([0, 0], [(0, 1)]), engine)) == (0, 0, False)
