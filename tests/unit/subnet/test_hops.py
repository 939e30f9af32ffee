# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from fabrictwin.subnet.graph import SubnetGraph, build_graph
from fabrictwin.subnet.hops import (
    DETOUR,
    DOWN,
    FAR,
    UNREACHABLE,
    UP,
    Directions,
    count_hops,
    directed,
    undirected,
)
from unit.subnet.fabrics import random_fabric, switch_links, wired
from unit.subnet.walks import switch_graph


@pytest.mark.parametrize("seed", range(30))
def test_hops_without_directions_are_breadth_first_distances(seed: int) -> None:
    fabric = random_fabric(seed)
    graph = build_graph(fabric)
    left = count_hops(graph.channels, undirected(graph.channels)).left
    distances = dict(nx.all_pairs_shortest_path_length(switch_graph(fabric)))
    for at, destination in enumerate(fabric.switches):
        for here, switch in enumerate(fabric.switches):
            assert left[at, here] == distances[destination][switch]


def _best_legal(graph: SubnetGraph, directions: Directions, at: int) -> dict[int, int]:
    """Distances to a switch over downward channels alone, by states (switch, phase)."""
    states = nx.DiGraph()
    channels = graph.channels
    for channel in range(len(channels.port)):
        source, peer = int(channels.source[channel]), int(channels.peer[channel])
        if directions.up[channel]:
            states.add_edge((source, "up"), (peer, "up"))
        else:
            states.add_edge((source, "down"), (peer, "down"))
            states.add_edge((source, "up"), (peer, "down"))
    lengths = nx.single_target_shortest_path_length(states, (at, "down"))
    return {switch: hops for (switch, phase), hops in dict(lengths).items() if phase == "down"}


@pytest.mark.parametrize("seed", range(30))
def test_down_hops_are_the_shortest_downward_paths(seed: int) -> None:
    graph = build_graph(random_fabric(seed))
    rank = np.random.default_rng(seed).integers(0, 4, graph.switch_count).astype(np.int32)
    directions = directed(graph.channels, rank)
    hops = count_hops(graph.channels, directions)
    for at in range(graph.switch_count):
        expected = _best_legal(graph, directions, at)
        expected[at] = 0
        found = {switch: int(hops.left[at, switch]) for switch in np.flatnonzero(hops.kind[at] == DOWN)}
        assert found == expected


@pytest.mark.parametrize("seed", range(30))
def test_up_hops_are_one_more_than_those_of_the_best_switch_above(seed: int) -> None:
    graph = build_graph(random_fabric(seed))
    directions = directed(graph.channels, np.zeros(graph.switch_count, np.int32))
    hops = count_hops(graph.channels, directions)
    channels = graph.channels
    for at, switch in np.argwhere(hops.kind == UP):
        above = [
            int(hops.left[at, channels.peer[c]])
            for c in range(channels.first[switch], channels.first[switch + 1])
            if directions.up[c] and hops.kind[at, channels.peer[c]] <= UP
        ]
        assert hops.left[at, switch] == min(above) + 1


def test_spines_reach_each_other_by_a_detour_only() -> None:
    graph = build_graph(wired([1, 1, 0, 0], [(0, 2), (0, 3), (1, 2), (1, 3)]))
    hops = count_hops(graph.channels, directed(graph.channels, np.array([1, 1, 0, 0], np.int32)))
    assert hops.kind[2, 3] == DETOUR
    assert hops.left[2, 3] == 2
    assert hops.kind[0, 1] == UP
    assert hops.kind[0, 2] == DOWN


def test_switch_in_another_piece_is_unreachable() -> None:
    fabric = wired([1, 1], [(0, 1)])
    graph = build_graph(fabric).with_down(switch_links(fabric))
    hops = count_hops(graph.channels, undirected(graph.channels))
    assert hops.kind[0, 1] == UNREACHABLE
    assert hops.left[0, 1] == FAR


@pytest.mark.parametrize("seed", range(10))
def test_ups_are_acyclic_whatever_the_ranks(seed: int) -> None:
    graph = build_graph(random_fabric(seed))
    rank = np.random.default_rng(seed).integers(0, 3, graph.switch_count).astype(np.int32)
    directions = directed(graph.channels, rank)
    ups = nx.DiGraph()
    for c in np.flatnonzero(directions.up):
        ups.add_edge(int(graph.channels.source[c]), int(graph.channels.peer[c]))
    assert nx.is_directed_acyclic_graph(ups)
    assert (directions.up + directions.up[graph.channels.reverse] == 1).all()
