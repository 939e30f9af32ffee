# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.sweep import sweep
from unit.subnet.fabrics import k_ary_tree, random_fabric, switch_links, wired


def test_nodes_are_found_breadth_first_by_port() -> None:
    fabric = wired([2, 1, 1], [(0, 1), (0, 2), (1, 2)])
    found = sweep(build_graph(fabric), fabric.index_of["h0"])
    assert [fabric.nodes[n].name for n in found.nodes] == ["h0", "sw0", "h1", "sw1", "sw2", "h2", "h3"]
    assert found.switches.tolist() == [0, 1, 2]


def test_sweep_from_a_switch_starts_there() -> None:
    fabric = wired([1, 1], [(0, 1)])
    found = sweep(build_graph(fabric), fabric.index_of["sw1"])
    assert [fabric.nodes[n].name for n in found.nodes] == ["sw1", "h1", "sw0", "h0"]


def test_mads_are_counted_as_a_heavy_sweep_sends_them() -> None:
    fabric = k_ary_tree(4)
    found = sweep(build_graph(fabric), fabric.hcas[0])
    ports = sum(fabric.nodes[s].ports for s in fabric.switches)
    assert found.node_infos == 36
    assert found.switch_infos == 20
    assert found.port_infos == ports + 20 + 16
    assert found.mads == 36 + 20 + ports + 36


@pytest.mark.parametrize("seed", range(20))
def test_connected_fabric_is_found_whole(seed: int) -> None:
    fabric = random_fabric(seed)
    found = sweep(build_graph(fabric), fabric.hcas[0])
    assert sorted(found.nodes.tolist()) == list(range(len(fabric.nodes)))


def test_what_is_cut_off_is_not_found() -> None:
    fabric = wired([1, 1, 1], [(0, 1), (1, 2)])
    graph = build_graph(fabric).with_down(switch_links(fabric)[1:])
    found = sweep(graph, fabric.index_of["h0"])
    assert [fabric.nodes[n].name for n in found.nodes] == ["h0", "sw0", "sw1", "h1"]


def test_sm_without_a_cable_finds_itself() -> None:
    fabric = wired([1, 1], [(0, 1)])
    graph = build_graph(fabric).with_down([fabric.links[0]])
    assert sweep(graph, fabric.index_of["h0"]).nodes.tolist() == [fabric.index_of["h0"]]
