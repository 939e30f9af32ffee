# SPDX-License-Identifier: Apache-2.0
"""Finds the nodes, ports and cables that a scenario names, and says what is wrong with other names."""

from __future__ import annotations

from collections.abc import Sequence

from fabrictwin.model.fabric import Fabric, Link, NodeKind, PortRef
from fabrictwin.model.quantities import PortText
from fabrictwin.model.section import Section


def find_node(
    fabric: Fabric, section: Section, name: str, *keys: str | int, kind: NodeKind | None = None
) -> int | None:
    """Index of a node by name.

    Args:
        fabric: The fabric.
        section: Where the name stands; problems are noted there.
        name: Node name.
        keys: Where the name stands, below the section.
        kind: It must be one of these; None: any node.

    Returns:
        The index, or None where there was a problem.
    """
    index = fabric.index_of.get(name)
    if index is None:
        valid = [node.name for node in fabric.nodes if kind in (None, node.kind)]
        section.refuse_name(_WORDS[kind], name, valid, *keys)
        return None
    if kind is not None and fabric.nodes[index].kind is not kind:
        section.refuse(f"{name!r} is {_ONE[fabric.nodes[index].kind]}; expected {_ONE[kind]}", *keys)
        return None
    return index


_WORDS = {None: "node", NodeKind.SWITCH: "switch", NodeKind.HCA: "HCA"}
_ONE = {NodeKind.SWITCH: "a switch", NodeKind.HCA: "an HCA"}


def find_hca_port(fabric: Fabric, section: Section, text: PortText, *keys: str | int) -> PortRef | None:
    """The cabled HCA port that ``h0`` or ``h0/2`` names: without a number the first one that is cabled."""
    node = find_node(fabric, section, text.node, *keys, kind=NodeKind.HCA)
    if node is None:
        return None
    if text.port is not None:
        return _cabled_port(fabric, section, node, text, *keys)
    port = first_cabled_port(fabric, node)
    if port is None:
        section.refuse(f"{text.node!r} has no cable", *keys)
    return port


def first_cabled_port(fabric: Fabric, node: int) -> PortRef | None:
    """The cabled port of a node with the lowest number."""
    ports = (PortRef(node, number) for number in range(1, fabric.nodes[node].ports + 1))
    return next((port for port in ports if port in fabric.link_at), None)


def find_port(
    fabric: Fabric, section: Section, text: PortText, *keys: str | int, kind: NodeKind | None = None
) -> PortRef | None:
    """The cabled port that ``leaf0/5`` names, of a node of a kind."""
    node = find_node(fabric, section, text.node, *keys, kind=kind)
    return None if node is None else _cabled_port(fabric, section, node, text, *keys)


def _cabled_port(
    fabric: Fabric, section: Section, node: int, text: PortText, *keys: str | int
) -> PortRef | None:
    ports = fabric.nodes[node].ports
    if text.port is None or text.port > ports:
        section.refuse(f"{text.node!r} has the ports 1 to {ports}, got {str(text)!r}", *keys)
        return None
    port = PortRef(node, text.port)
    if port not in fabric.link_at:
        section.refuse(f"no cable at {str(text)!r}", *keys)
        return None
    return port


def find_cable(fabric: Fabric, section: Section, ends: Sequence[PortText], *keys: str | int) -> Link | None:
    """The cable between two ports, named in either order."""
    ports = [find_port(fabric, section, end, *keys, index) for index, end in enumerate(ends)]
    first, second = ports
    if first is None or second is None:
        return None
    link = fabric.link_at[first]
    if link.other(first) != second:
        section.refuse(
            f"no cable between {fabric.port_name(first)!r} and {fabric.port_name(second)!r}; "
            f"{fabric.port_name(first)} is cabled to {fabric.port_name(link.other(first))}",
            *keys,
        )
        return None
    return link
