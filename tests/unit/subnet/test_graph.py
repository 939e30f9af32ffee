# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology
from fabrictwin.subnet.graph import build_graph
from unit.subnet.fabrics import RATE_BPS, k_ary_tree, random_fabric, switch_links, wired


@pytest.mark.parametrize("seed", range(10))
def test_channels_are_both_directions_of_every_switch_cable(seed: int) -> None:
    fabric = random_fabric(seed)
    graph = build_graph(fabric)
    channels = graph.channels
    seen = {
        (
            int(graph.switch_node[channels.source[c]]),
            int(channels.port[c]),
            int(graph.switch_node[channels.peer[c]]),
        )
        for c in range(len(channels.port))
    }
    expected = {
        (end.node, end.port, link.other(end).node)
        for link in switch_links(fabric)
        for end in (link.a, link.b)
    }
    assert seen == expected
    assert (channels.reverse[channels.reverse] == np.arange(len(channels.port))).all()
    assert (channels.source[channels.reverse] == channels.peer).all()


def test_channels_of_a_switch_stand_together_by_port() -> None:
    graph = build_graph(random_fabric(3))
    for switch in range(graph.switch_count):
        own = slice(graph.channels.first[switch], graph.channels.first[switch + 1])
        assert (graph.channels.source[own] == switch).all()
        assert (np.diff(graph.channels.port[own].astype(int)) > 0).all()


def test_hca_with_two_cabled_ports_is_two_endpoints() -> None:
    nodes = (
        Node("sw0", NodeKind.SWITCH, 1, 8, "native_ib"),
        Node("h0", NodeKind.HCA, 2, 3, "native_hca", port_guids=(3, 4, 5)),
    )
    links = (
        Link(PortRef(0, 1), PortRef(1, 1), RATE_BPS, 1),
        Link(PortRef(0, 5), PortRef(1, 3), RATE_BPS, 1),
    )
    graph = build_graph(Fabric(Technology.INFINIBAND, nodes, links))
    assert graph.end_hca_port.tolist() == [1, 3]
    assert graph.end_port.tolist() == [1, 5]
    assert graph.end_of == {PortRef(1, 1): 0, PortRef(1, 3): 1}
    assert graph.end_name(1) == "h0/3"


def test_loop_back_cable_is_no_channel() -> None:
    nodes = (Node("sw0", NodeKind.SWITCH, 1, 8, "native_ib"),)
    links = (Link(PortRef(0, 1), PortRef(0, 2), RATE_BPS, 1),)
    assert len(build_graph(Fabric(Technology.INFINIBAND, nodes, links)).channels.port) == 0


def test_link_down_kills_both_directions_and_nothing_else() -> None:
    fabric = k_ary_tree(4)
    link = switch_links(fabric)[5]
    graph = build_graph(fabric).with_down([link])
    dead = {graph.channel_name(c) for c in np.flatnonzero(graph.channels.alive == 0)}
    assert dead == {fabric.port_name(link.a), fabric.port_name(link.b)}
    assert graph.end_alive.all()


def test_node_down_kills_its_channels_and_endpoints() -> None:
    fabric = wired([2, 1, 1], [(0, 1), (1, 2), (0, 2)])
    graph = build_graph(fabric).with_down(nodes=[0])
    assert [graph.channel_name(c) for c in np.flatnonzero(graph.channels.alive)] == ["sw1/3", "sw2/2"]
    assert [graph.end_name(e) for e in np.flatnonzero(graph.end_alive)] == ["h2/1", "h3/1"]
    assert graph.served.tolist() == [0, 1, 1]


def test_down_is_counted_from_everything_up() -> None:
    fabric = k_ary_tree(4)
    first, second = switch_links(fabric)[:2]
    graph = build_graph(fabric)
    assert (
        graph.with_down([first]).with_down([second]).channels.alive
        == graph.with_down([second]).channels.alive
    ).all()


def test_pieces_follow_live_cables() -> None:
    fabric = wired([1, 1, 1, 1], [(0, 1), (2, 3), (1, 2)])
    graph = build_graph(fabric)
    assert graph.pieces.tolist() == [0, 0, 0, 0]
    assert graph.with_down([switch_links(fabric)[2]]).pieces.tolist() == [0, 0, 2, 2]
