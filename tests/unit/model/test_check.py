# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from fabrictwin.errors import Problem
from fabrictwin.model.check import Place, Places, check_fabric
from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology

RATE_BPS = 100_000_000_000


def _hca(name: str, guid: int, ports: int = 1) -> Node:
    port_guids = tuple(range(guid + 1, guid + 1 + ports))
    return Node(name, NodeKind.HCA, guid, ports, "connectx7", port_guids=port_guids)


def _switch(name: str, guid: int) -> Node:
    return Node(name, NodeKind.SWITCH, guid, 4, "quantum2")


def _link(a: tuple[int, int], b: tuple[int, int]) -> Link:
    return Link(PortRef(*a), PortRef(*b), RATE_BPS, 1_000)


NODES = (_hca("h0", 0x100), _hca("h1", 0x200), _switch("sw0", 0x300))
LINKS = (_link((0, 1), (2, 1)), _link((1, 1), (2, 2)))


def _messages(nodes: tuple[Node, ...] = NODES, links: tuple[Link, ...] = LINKS) -> list[str]:
    return [problem.message for problem in check_fabric(Fabric(Technology.INFINIBAND, nodes, links))]


def test_check_fabric_sound_has_no_problem() -> None:
    assert _messages() == []


def test_check_fabric_two_pieces_names_one_node_of_each() -> None:
    nodes = (*NODES, _switch("sw1", 0x400))
    links = (LINKS[0], _link((1, 1), (3, 1)))
    assert _messages(nodes, links) == [
        "the fabric is in 2 pieces that no link joins: one of 2 nodes with h0, one of 2 nodes with h1; "
        "every node must reach every other"
    ]


def test_check_fabric_switches_that_meet_only_at_an_hca_are_two_pieces() -> None:
    nodes = (_hca("h0", 0x100, ports=2), _switch("sw0", 0x300), _switch("sw1", 0x400))
    (message,) = _messages(nodes, (_link((0, 1), (1, 1)), _link((0, 2), (2, 1))))
    assert "in 2 pieces" in message


def test_check_fabric_switch_without_link_is_a_piece() -> None:
    (message,) = _messages((*NODES, _switch("sw1", 0x400)))
    assert "one of 1 node with sw1" in message


def test_check_fabric_many_pieces_are_not_all_listed() -> None:
    (message,) = _messages((*NODES, *(_switch(f"sw{index}", 0x400 + index) for index in range(1, 100))))
    assert "in 100 pieces" in message
    assert len(message) < 300


def test_check_fabric_hcas_back_to_back_are_one_piece() -> None:
    assert _messages(NODES[:2], (_link((0, 1), (1, 1)),)) == []


def test_check_fabric_duplicate_node_guid_names_both() -> None:
    nodes = (NODES[0], NODES[1], replace(NODES[2], guid=0x100))
    assert _messages(nodes) == ["duplicate GUID 0x0000000000000100: h0 and sw0 both have it"]


def test_check_fabric_duplicate_port_guid_names_both() -> None:
    nodes = (NODES[0], replace(NODES[1], port_guids=(0x101,)), NODES[2])
    assert _messages(nodes) == ["duplicate GUID 0x0000000000000101: h0 and h1 both have it"]


def test_check_fabric_two_ports_of_one_hca_with_the_same_guid_is_a_problem() -> None:
    nodes = (replace(_hca("h0", 0x100, ports=2), port_guids=(0x101, 0x101)), *NODES[1:])
    assert _messages(nodes) == ["two ports of h0 have the same GUID"]


def test_check_fabric_port_guid_equal_to_its_own_node_guid_is_sound() -> None:
    assert _messages((replace(NODES[0], port_guids=(0x100,)), *NODES[1:])) == []


@pytest.mark.parametrize("guid", [0, 1 << 64, -1])
def test_check_fabric_guid_out_of_range_is_a_problem(guid: int) -> None:
    (message,) = _messages((*NODES[:2], replace(NODES[2], guid=guid)))
    assert message.startswith("GUID of sw0 must be from 1 to 2^64 - 1")


def test_check_fabric_duplicate_name_is_a_problem() -> None:
    assert _messages((NODES[0], replace(NODES[1], name="h0"), NODES[2])) == ["two nodes are named 'h0'"]


@pytest.mark.parametrize("name", ["", "a b", "h0/1", "h0\n", "ä"])
def test_check_fabric_name_of_other_characters_is_a_problem(name: str) -> None:
    (message,) = _messages((replace(NODES[0], name=name), *NODES[1:]))
    assert "must consist of letters, digits" in message


def test_check_fabric_name_too_long_is_a_problem() -> None:
    (message,) = _messages((replace(NODES[0], name="h" * 129), *NODES[1:]))
    assert "has 129 characters; the most is 128" in message


def test_check_fabric_port_used_twice_names_the_first_link() -> None:
    links = (LINKS[0], _link((1, 1), (2, 1)))
    assert _messages(links=links) == ["port sw0/1 is used twice: link h0/1 - sw0/1 has it already"]


def test_check_fabric_self_link_is_a_problem() -> None:
    links = (*LINKS, _link((2, 3), (2, 4)))
    assert _messages(links=links) == ["link sw0/3 - sw0/4 joins a node to itself"]


def test_check_fabric_port_linked_to_itself_is_one_problem() -> None:
    links = (*LINKS, _link((2, 3), (2, 3)))
    assert _messages(links=links) == ["link sw0/3 - sw0/3 joins a node to itself"]


@pytest.mark.parametrize("rate_bps", [0, -1])
def test_check_fabric_rate_not_above_zero_is_a_problem(rate_bps: int) -> None:
    links = (replace(LINKS[0], rate_bps=rate_bps), LINKS[1])
    assert _messages(links=links) == [f"link h0/1 - sw0/1 has a rate of {rate_bps} bit/s; it must be above 0"]


def test_check_fabric_negative_length_is_a_problem() -> None:
    assert _messages(links=(replace(LINKS[0], length_mm=-1), LINKS[1])) == [
        "link h0/1 - sw0/1 has a length of -1 mm"
    ]


@pytest.mark.parametrize("port", [0, 5])
def test_check_fabric_port_out_of_range_names_the_ports(port: int) -> None:
    links = (LINKS[0], _link((1, 1), (2, port)))
    assert _messages(links=links) == [f"sw0/{port}: sw0 has no port {port}; its ports are 1 to 4"]


def test_check_fabric_hca_without_link_is_one_problem() -> None:
    assert _messages(links=LINKS[:1]) == ["HCA h1 has no link"]


def test_check_fabric_without_hca_is_a_problem() -> None:
    assert _messages(NODES[2:], ()) == ["the fabric has no HCA: nothing can send or receive"]


def test_check_fabric_places_tell_where_each_part_stands() -> None:
    places = Places(
        whole=Place(file="f.yaml", field="topology"),
        nodes=[Place(file="f.yaml", line=index + 10) for index in range(3)],
        links=[Place(field="links[0]"), Place(field="links[4]")],
    )
    nodes = (NODES[0], replace(NODES[1], name="h0"), NODES[2], _switch("sw1", 0x400))
    fabric = Fabric(Technology.INFINIBAND, nodes, (LINKS[0], replace(LINKS[1], rate_bps=0)))
    named, slow, split = check_fabric(fabric, places)
    assert named == Problem("two nodes are named 'h0'", "f.yaml", 11)
    assert slow.field == "links[4]"
    assert (split.file, split.field) == ("f.yaml", "topology")
