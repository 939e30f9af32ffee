# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a fabric, each fault with its own message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabrictwin.errors import Problem
from fabrictwin.model.fabric import Fabric, NodeKind, PortRef

NODE_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")
MAX_NODE_NAME = 128
MAX_GUID = (1 << 64) - 1

_PIECES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the user's input; every part may be unknown."""

    file: str = ""
    line: int = 0
    field: str = ""

    def problem(self, message: str) -> Problem:
        """A problem at this place."""
        return Problem(message, self.file, self.line, self.field)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the parts of a fabric stand in the user's input.

    Attributes:
        whole: The topology as such.
        nodes: Each node, by its index; empty where the nodes were not written one by one.
        links: Each link, by its index; likewise.
    """

    whole: Place = field(default_factory=Place)
    nodes: Sequence[Place] = ()
    links: Sequence[Place] = ()

    def node(self, index: int) -> Place:
        """The place of a node."""
        return self.nodes[index] if self.nodes else self.whole

    def link(self, index: int) -> Place:
        """The place of a link."""
        return self.links[index] if self.links else self.whole


def check_fabric(fabric: Fabric, places: Places | None = None) -> list[Problem]:
    """Everything that makes a fabric unusable.

    Args:
        fabric: The fabric.
        places: Where its parts stand in the user's input, for the messages.

    Returns:
        One problem per fault, nodes before links before the whole; empty for a sound fabric.
    """
    where = places or Places()
    return [*check_parts(fabric, where), *check_whole(fabric, where)]


def check_parts(fabric: Fabric, places: Places) -> list[Problem]:
    """The faults of single nodes and links."""
    return [
        *_check_names(fabric, places),
        *_check_guids(fabric, places),
        *_check_links(fabric, places),
    ]


def check_whole(fabric: Fabric, places: Places) -> list[Problem]:
    """The faults that only the whole fabric shows: what is not cabled, and what cannot be reached."""
    return [*_check_hcas(fabric, places), *_check_pieces(fabric, places)]


def name_problem(name: str) -> str:
    """What is wrong with a node name; empty if nothing is."""
    if not NODE_NAME.match(name):
        return f"node name {name!r} must consist of letters, digits, '_', '.' and '-'"
    if len(name) > MAX_NODE_NAME:
        return f"node name {name[:16]!r}… has {len(name)} characters; the most is {MAX_NODE_NAME}"
    return ""


def _check_names(fabric: Fabric, places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, node in enumerate(fabric.nodes):
        problem = name_problem(node.name)
        if problem:
            yield places.node(index).problem(problem)
        if node.name in seen:
            yield places.node(index).problem(f"two nodes are named {node.name!r}")
        seen.add(node.name)


def _check_guids(fabric: Fabric, places: Places) -> Iterator[Problem]:
    owners: dict[int, int] = {}
    for index, node in enumerate(fabric.nodes):
        if len(set(node.port_guids)) < len(node.port_guids):
            yield places.node(index).problem(f"two ports of {node.name} have the same GUID")
        for guid in sorted({node.guid, *node.port_guids}):
            if not 0 < guid <= MAX_GUID:
                yield places.node(index).problem(
                    f"GUID of {node.name} must be from 1 to 2^64 - 1, got {guid:#x}"
                )
            elif guid in owners:
                other = fabric.nodes[owners[guid]].name
                yield places.node(index).problem(
                    f"duplicate GUID {guid:#018x}: {other} and {node.name} both have it"
                )
            else:
                owners[guid] = index


def _check_links(fabric: Fabric, places: Places) -> Iterator[Problem]:
    used: dict[PortRef, int] = {}
    for index, link in enumerate(fabric.links):
        place = places.link(index)
        if link.rate_bps <= 0:
            yield place.problem(
                f"link {_ends(fabric, index)} has a rate of {link.rate_bps} bit/s; it must be above 0"
            )
        if link.length_mm < 0:
            yield place.problem(f"link {_ends(fabric, index)} has a length of {link.length_mm} mm")
        if link.a.node == link.b.node:
            yield place.problem(f"link {_ends(fabric, index)} joins a node to itself")
        for end in (link.a, link.b):
            node = fabric.nodes[end.node]
            if not 1 <= end.port <= node.ports:
                ports = "its only port is 1" if node.ports == 1 else f"its ports are 1 to {node.ports}"
                yield place.problem(f"{fabric.port_name(end)}: {node.name} has no port {end.port}; {ports}")
            elif end in used and used[end] != index:
                taken = _ends(fabric, used[end])
                yield place.problem(
                    f"port {fabric.port_name(end)} is used twice: link {taken} has it already"
                )
            used.setdefault(end, index)


def _check_hcas(fabric: Fabric, places: Places) -> Iterator[Problem]:
    if not fabric.hcas:
        yield places.whole.problem("the fabric has no HCA: nothing can send or receive")
    linked = _linked_nodes(fabric)
    for index in fabric.hcas:
        if index not in linked:
            yield places.node(index).problem(f"HCA {fabric.nodes[index].name} has no link")


def _check_pieces(fabric: Fabric, places: Places) -> Iterator[Problem]:
    pieces = _pieces(fabric)
    if len(pieces) < 2:
        return
    shown = ", ".join(
        f"one of {count} node{'s' if count > 1 else ''} with {fabric.nodes[first].name}"
        for first, count in pieces[:_PIECES_SHOWN]
    )
    more = ", …" if len(pieces) > _PIECES_SHOWN else ""
    yield places.whole.problem(
        f"the fabric is in {len(pieces)} pieces that no link joins: {shown}{more}; "
        "every node must reach every other"
    )


def _ends(fabric: Fabric, index: int) -> str:
    link = fabric.links[index]
    return f"{fabric.port_name(link.a)} - {fabric.port_name(link.b)}"


def _linked_nodes(fabric: Fabric) -> set[int]:
    return {end.node for link in fabric.links for end in (link.a, link.b)}


def _pieces(fabric: Fabric) -> list[tuple[int, int]]:
    """(first node, number of nodes) of every connected piece, in order of the first node.

    An HCA forwards nothing: its ports are separate, so two switches that meet only at an HCA are two pieces.
    An HCA without any link is left out; it has its own message.
    """
    # A switch is the vertex (node, 0), a port of an HCA the vertex (node, port).
    parents: dict[tuple[int, int], tuple[int, int]] = {(index, 0): (index, 0) for index in fabric.switches}

    def vertex(end: PortRef) -> tuple[int, int]:
        is_switch = fabric.nodes[end.node].kind is NodeKind.SWITCH
        return (end.node, 0 if is_switch else end.port)

    def root(of: tuple[int, int]) -> tuple[int, int]:
        parents.setdefault(of, of)
        while parents[of] != of:
            parents[of] = parents[parents[of]]
            of = parents[of]
        return of

    for link in fabric.links:
        low, high = sorted((root(vertex(link.a)), root(vertex(link.b))))
        parents[high] = low
    members: dict[tuple[int, int], set[int]] = {}
    for one in parents:
        members.setdefault(root(one), set()).add(one[0])
    return sorted((min(nodes), len(nodes)) for nodes in members.values())
