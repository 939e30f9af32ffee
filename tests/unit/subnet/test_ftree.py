# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.errors import InputError
from fabrictwin.subnet.fat_tree import read_fat_tree
from fabrictwin.subnet.routing.updown import find_directions
from unit.subnet.fabrics import k_ary_tree, request_for, routed, switch_links, two_level_tree


def test_leaf_sends_index_i_to_spine_i_mod_k() -> None:
    fabric = two_level_tree(4, 3, 3)
    routes = routed(fabric, "ftree")
    leaf0 = routes.graph.switch_of[fabric.index_of["leaf0"]]
    lids = [routes.lids.end_lid[end] for end in range(3, 12)]
    assert routes.lft[leaf0, lids].tolist() == [4, 5, 6] * 3


def test_aggregation_switch_sends_by_the_second_digit() -> None:
    fabric = k_ary_tree(4)
    routes = routed(fabric, "ftree")
    # In pod 0, spine0 gets the even indices of other pods: 4, 6, 8 … and deals them to its two cores in turn.
    spine = routes.graph.switch_of[fabric.index_of["spine0"]]
    lids = [routes.lids.end_lid[end] for end in range(4, 16, 2)]
    ports = routes.lft[spine, lids].tolist()
    assert ports == [ports[0], ports[1]] * 3
    assert ports[0] != ports[1]


def test_parallel_cables_are_used_alike_up_and_down() -> None:
    fabric = two_level_tree(3, 4, 2, links_per_spine=2)
    routes = routed(fabric, "ftree")
    graph = routes.graph
    for end in range(len(graph.end_node)):
        lid = int(routes.lids.end_lid[end])
        home = int(graph.end_switch[end])
        down = {
            int(graph.channels.reverse[list(routes.channels_of(leaf, lid))[-1]])
            for leaf in range(3)
            if leaf != home
        }
        assert len(down) == 1


def test_leaf_without_one_cable_keeps_d_mod_k_for_the_others() -> None:
    fabric = two_level_tree(6, 4, 4)
    lost = next(link for link in switch_links(fabric) if fabric.nodes[link.a.node].name == "leaf1")
    whole, damaged = routed(fabric, "ftree"), routed(fabric.without({lost}), "ftree")
    differs = (whole.lft != damaged.lft)[:, whole.lids.end_lid]
    spine = int(whole.lft[whole.graph.switch_of[lost.a.node], whole.lids.end_lid[8]])
    assert spine == lost.a.port
    # Only what went by that cable moves: every fourth destination at leaf1, and one HCA of leaf1 elsewhere.
    leaf1 = whole.graph.switch_of[lost.a.node]
    assert np.flatnonzero(differs[leaf1]).tolist() == [0, 8, 12, 16, 20]
    others = np.delete(differs, [leaf1, whole.graph.switch_of[lost.b.node]], axis=0)
    assert np.flatnonzero(others.any(axis=0)).tolist() == [4]


def test_lmc_is_refused() -> None:
    with pytest.raises(InputError, match="needs LMC 0, got 1"):
        routed(k_ary_tree(4), "ftree", lmc=1)


def test_tree_of_a_k_ary_fabric_has_its_levels_and_radixes() -> None:
    request = request_for(k_ary_tree(6))
    tree = read_fat_tree(request.graph, find_directions(request.graph).tree, request.lids.targets)
    names = [request.graph.switch_name(s).rstrip("0123456789") for s in range(request.graph.switch_count)]
    assert [int(level) for level in tree.level] == [
        {"core": 0, "spine": 1, "leaf": 2}[name] for name in names
    ]
    assert [int(radix) for radix in tree.radix] == [
        {"core": 0, "spine": 3, "leaf": 3}[name] for name in names
    ]
    assert (tree.slot >= 0).all()
    ends = request.lids.targets.end
    assert tree.place[ends >= 0].tolist() == ends[ends >= 0].tolist()
