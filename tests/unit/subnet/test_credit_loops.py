# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fabrictwin.model.fabric import Fabric
from fabrictwin.subnet.credit_loops import check_credit_loops
from unit.subnet.fabrics import generated, k_ary_tree, random_fabric, routed, wired
from unit.subnet.walks import dependency_graph

LAYERED = (10, 22, 36)
"""Random fabrics that need more than one virtual lane."""


def clockwise_tables(fabric: Fabric) -> dict[str, dict[str, int]]:
    """Tables of a ring of switches with one host each that only ever go to the next switch (port 2)."""
    switches = len(fabric.switches)
    return {
        f"sw{switch}": {f"h{host}": 1 if host == switch else 2 for host in range(switches)}
        for switch in range(switches)
    }


@pytest.mark.parametrize("switches", [3, 4, 6])
def test_clockwise_ring_has_a_loop_through_all_its_switches(switches: int) -> None:
    ring = generated("ring", switches=switches, hosts_per_switch=1)
    loops = check_credit_loops(routed(ring, "explicit", tables=clockwise_tables(ring)))
    assert loops.cycle == tuple(f"sw{i}/2 vl0" for i in range(switches))


def test_clockwise_ring_with_one_hop_traffic_only_has_none() -> None:
    ring = generated("ring", switches=4, hosts_per_switch=1)
    tables = {f"sw{i}": {f"h{i}": 1, f"h{(i + 1) % 4}": 2} for i in range(4)}
    assert not check_credit_loops(routed(ring, "explicit", tables=tables)).found


def test_ring_routed_up_down_has_none() -> None:
    ring = generated("ring", switches=6, hosts_per_switch=2)
    assert check_credit_loops(routed(ring, "min_hop")).found
    assert not check_credit_loops(routed(ring, "up_down")).found


def test_ring_routed_dfsssp_needs_two_vls_and_has_none() -> None:
    routes = routed(generated("ring", switches=6, hosts_per_switch=2), "dfsssp")
    loops = check_credit_loops(routes)
    assert routes.vls == 2
    assert loops.vls == (0, 1)
    assert not loops.found


def test_sl2vl_that_folds_the_layers_brings_the_loop_back() -> None:
    routes = routed(generated("ring", switches=6, hosts_per_switch=2), "dfsssp")
    assert check_credit_loops(routes, sl2vl=[0] * 16).found
    assert not check_credit_loops(routes, sl2vl=[2, 1, *[0] * 14]).found
    assert not check_credit_loops(routes, sl2vl=[0, 15, *[0] * 14]).found


def test_tree_has_dependencies_but_no_loop() -> None:
    loops = check_credit_loops(routed(k_ary_tree(4), "min_hop"))
    assert loops.dependencies > 0
    assert not loops.found


def test_fabric_of_one_switch_has_none() -> None:
    loops = check_credit_loops(routed(wired([3], []), "min_hop"))
    assert not loops.found
    assert loops.dependencies == 0


@pytest.mark.parametrize("seed", range(40))
def test_verdict_and_dependencies_equal_those_of_paths_followed_one_by_one(seed: int) -> None:
    fabric = random_fabric(seed, switches=8)
    routes = routed(fabric, "min_hop")
    expected = dependency_graph(routes, fabric, 0)
    loops = check_credit_loops(routes)
    assert loops.dependencies == expected.number_of_edges()
    assert loops.found == (not nx.is_directed_acyclic_graph(expected))
    ports = [name.removesuffix(" vl0") for name in loops.cycle]
    edges = {(fabric.port_name(a), fabric.port_name(b)) for a, b in expected.edges}
    assert all(pair in edges for pair in zip(ports, ports[1:] + ports[:1], strict=True))


@pytest.mark.parametrize("seed", LAYERED)
def test_each_layer_of_dfsssp_is_acyclic_when_paths_are_followed_one_by_one(seed: int) -> None:
    fabric = random_fabric(seed, switches=14)
    routes = routed(fabric, "dfsssp")
    for sl in range(routes.vls):
        assert nx.is_directed_acyclic_graph(dependency_graph(routes, fabric, sl))


def test_two_and_more_layers_are_met_among_the_random_fabrics() -> None:
    assert max(routed(random_fabric(seed, switches=14), "dfsssp").vls for seed in LAYERED) >= 2


def test_real_tables_of_a_tree_have_no_loop(shared_data: Path) -> None:
    from unit.subnet.real_tables import real_routes

    loops = check_credit_loops(real_routes(shared_data))
    assert loops.dependencies > 0
    assert not loops.found
    assert np.all(np.array(loops.vls) == 0)
