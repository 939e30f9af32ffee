# SPDX-License-Identifier: Apache-2.0
"""All shortest paths: against networkx, and against what is known of trees and rings."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from fabrictwin.model.fabric import Fabric
from fabrictwin.subnet.balance import measure_balance
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.graph import NO_PORT
from fabrictwin.subnet.next_hops import NO_GROUP, single_next_hops
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.ecmp import route_ecmp
from unit.subnet.fabrics import (
    generated,
    k_ary_tree,
    random_fabric,
    request_for,
    routed,
    switch_links,
    two_level_tree,
    wired,
)
from unit.subnet.walks import switch_graph


def _ports(routes: Routes, switch: int, lid: int) -> tuple[int, ...]:
    assert routes.next_hops is not None
    return routes.next_hops.groups[int(routes.next_hops.group[switch, lid])]


def _expected_ports(fabric: Fabric, routes: Routes, switch: int, end: int) -> tuple[int, ...]:
    """Ports of a switch whose far end is nearer to the switch of an HCA port; or the HCA's own."""
    graph = routes.graph
    target = int(graph.end_switch[end])
    if target == switch:
        return (int(graph.end_port[end]),)
    distances = nx.single_source_shortest_path_length(switch_graph(fabric), int(graph.switch_node[target]))
    node = int(graph.switch_node[switch])
    return tuple(
        sorted(
            near.port
            for link in switch_links(fabric)
            for near, far in ((link.a, link.b), (link.b, link.a))
            if near.node == node and distances[far.node] + 1 == distances[node]
        )
    )


@pytest.mark.parametrize("seed", range(30))
def test_next_hops_are_all_outputs_on_shortest_paths(seed: int) -> None:
    fabric = random_fabric(seed)
    routes = routed(fabric, "ecmp")
    for end, lid in enumerate(routes.lids.end_lid.tolist()):
        for switch in range(routes.graph.switch_count):
            assert _ports(routes, switch, lid) == _expected_ports(fabric, routes, switch, end)


@pytest.mark.parametrize("seed", range(10))
def test_tables_have_the_first_port_of_each_group(seed: int) -> None:
    routes = routed(random_fabric(seed), "ecmp")
    for switch, lid in np.ndindex(routes.lft.shape):
        ports = _ports(routes, switch, lid)
        is_own = lid == int(routes.lids.switch_lid[switch])
        assert routes.lft[switch, lid] == (0 if is_own else ports[0] if ports else NO_PORT)


def test_leaf_goes_up_by_every_spine_and_spine_down_by_every_cable() -> None:
    routes = routed(two_level_tree(leaves=2, hosts_per_leaf=2, spines=2, links_per_spine=2), "ecmp")
    assert routes.next_hops is not None
    to_h2 = int(routes.lids.end_lid[2])
    assert [_ports(routes, switch, to_h2) for switch in range(4)] == [(3, 4, 5, 6), (1,), (3, 4), (3, 4)]
    assert routes.next_hops.groups[NO_GROUP] == ()
    assert len(set(routes.next_hops.groups)) == len(routes.next_hops.groups)


def test_tree_of_1024_hosts_needs_few_groups() -> None:
    routes = routed(k_ary_tree(16), "ecmp")
    assert routes.next_hops is not None
    # Single ports, the upper half of a switch, a leaf's hosts and the parallel ways between cores and pods.
    assert len(routes.next_hops.groups) < 3 * 16


def test_output_that_is_down_leaves_the_group() -> None:
    fabric = two_level_tree(leaves=2, hosts_per_leaf=2, spines=3)
    request = request_for(fabric)
    (cut,) = (link for link in switch_links(fabric) if "leaf0/4" in map(fabric.port_name, (link.a, link.b)))
    damaged = request.graph.with_down(links=[cut])
    routes = route_ecmp(RoutingRequest(damaged, request.lids))
    to_h2, to_h0 = (int(routes.lids.end_lid[end]) for end in (2, 0))
    assert _ports(routes, 0, to_h2) == (3, 5)
    # The other leaf does not go by the spine that has lost its cable to leaf 0.
    assert _ports(routes, 1, to_h0) == (3, 5)


def test_what_cannot_be_reached_is_discarded() -> None:
    routes = routed(wired([1, 1, 1], [(0, 1)]), "ecmp")
    assert _ports(routes, 0, int(routes.lids.end_lid[2])) == ()
    assert routes.lft[0, routes.lids.end_lid[2]] == NO_PORT


def test_single_next_hops_are_those_of_the_tables() -> None:
    lft = np.array([[0, 1, 254, NO_PORT]], np.uint8)
    hops = single_next_hops(lft)
    assert [hops.groups[number] for number in hops.group[0].tolist()] == [(), (1,), (254,), ()]


@pytest.mark.parametrize("seed", range(20))
def test_shares_of_paths_are_those_of_a_fair_split(seed: int) -> None:
    fabric = random_fabric(seed, switches=8)
    routes = routed(fabric, "ecmp")
    graph = routes.graph
    expected = np.zeros(len(graph.channels.port))
    for source, target in np.ndindex(len(graph.end_node), len(graph.end_node)):
        flow = {int(graph.end_switch[source]): 1.0}
        while flow:
            following: dict[int, float] = {}
            for switch, part in flow.items():
                if switch == graph.end_switch[target]:
                    continue
                ports = _ports(routes, switch, int(routes.lids.end_lid[target]))
                for port in ports:
                    channel = int(graph.channel_at[switch, port])
                    expected[channel] += part / len(ports)
                    peer = int(graph.channels.peer[channel])
                    following[peer] = following.get(peer, 0.0) + part / len(ports)
            flow = following
    assert measure_balance(routes).paths == pytest.approx(expected)


def test_tree_shares_its_paths_evenly() -> None:
    balance = measure_balance(routed(k_ary_tree(4), "ecmp"))
    # A leaf's 2 hosts send to 14 others over 2 cables, a pod's 4 hosts to 12 others over 4 cables.
    assert sorted(set(balance.paths.tolist())) == pytest.approx([4 * 12 / 4, 2 * 14 / 2])


def _dependency_graph(routes: Routes) -> nx.DiGraph:
    """The channels of all shortest paths between HCAs, path by path."""
    graph, found = routes.graph, nx.DiGraph()
    served = np.flatnonzero(graph.served)
    for end, lid in enumerate(routes.lids.end_lid.tolist()):
        target = int(graph.end_switch[end])
        ways = [
            (int(source), -1) for source in served if int(source) != target
        ]  # (switch, channel that led there)
        while ways:
            switch, before = ways.pop()
            if switch == target:
                continue
            for port in _ports(routes, switch, lid):
                channel = int(graph.channel_at[switch, port])
                if before >= 0:
                    found.add_edge(before, channel)
                ways.append((int(graph.channels.peer[channel]), channel))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_dependencies_are_those_of_all_paths(seed: int) -> None:
    routes = routed(random_fabric(seed, switches=7), "ecmp")
    graph = _dependency_graph(routes)
    loops = check_credit_loops(routes)
    assert loops.dependencies == graph.number_of_edges()
    assert loops.found == (not nx.is_directed_acyclic_graph(graph))
    names = {routes.graph.channel_name(channel): channel for channel in graph}
    circle = [names[text.removesuffix(" vl0")] for text in loops.cycle]
    assert all(graph.has_edge(a, b) for a, b in zip(circle, circle[1:] + circle[:1], strict=True))


def test_ring_of_five_has_a_circle_and_a_tree_has_none() -> None:
    ring = generated("ring", switches=5, hosts_per_switch=1)
    loops = check_credit_loops(routed(ring, "ecmp"), sl2vl=[3] * 16)
    assert len(loops.cycle) == 5
    assert all(name.endswith(" vl3") for name in loops.cycle)
    assert not check_credit_loops(routed(k_ary_tree(4), "ecmp")).found


def test_circle_that_only_other_choices_close_is_found() -> None:
    # A ring of four: between opposite switches both ways are shortest. The first ports alone close no circle.
    ring = generated("ring", switches=4, hosts_per_switch=1)
    routes = routed(ring, "ecmp")
    assert check_credit_loops(routes).found
    first_only = Routes("explicit", routes.request, routes.lft, False)
    assert check_credit_loops(first_only).dependencies < check_credit_loops(routes).dependencies
