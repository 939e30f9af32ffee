# SPDX-License-Identifier: Apache-2.0
"""What a fabric is: nodes, ports and links. Static, immutable, and ignorant of packets and of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

MM_PER_M = 1_000
PROPAGATION_PS_PER_MM = 5
"""5 ns/m in fibre and copper alike (models.md section 4)."""


class Technology(StrEnum):
    """The link layer of a fabric."""

    INFINIBAND = "infiniband"
    ROCE = "roce"

    @property
    def label(self) -> str:
        """How people spell it."""
        return {"infiniband": "InfiniBand", "roce": "RoCE"}[self.value]


class NodeKind(StrEnum):
    """What a node is."""

    SWITCH = "switch"
    HCA = "hca"


@dataclass(frozen=True, slots=True)
class Node:
    """A switch or an HCA.

    Attributes:
        name: Unique name, matches ``[A-Za-z0-9_.-]+``.
        kind: Switch or HCA.
        guid: Node GUID, unique in the fabric.
        ports: Number of external ports; they are numbered from 1.
        model: Row of the hardware table of its kind.
        description: The node description that a subnet manager would read.
        port_guids: Port GUIDs of an HCA, by port number from 1 on; empty for a switch, whose ports share the
            node GUID.
    """

    name: str
    kind: NodeKind
    guid: int
    ports: int
    model: str
    description: str = ""
    port_guids: tuple[int, ...] = ()

    def port_guid(self, port: int) -> int:
        """GUID of a port; a switch's ports all carry the node GUID."""
        return self.port_guids[port - 1] if self.port_guids else self.guid


@dataclass(frozen=True, slots=True, order=True)
class PortRef:
    """One end of a link: the index of a node in ``Fabric.nodes`` and a port number from 1."""

    node: int
    port: int


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two ports.

    Attributes:
        a: The end with the smaller (node, port).
        b: The other end.
        rate_bps: Effective data rate of each direction, in bit/s (line code and FEC already subtracted).
        length_mm: Cable length in millimetres.
    """

    a: PortRef
    b: PortRef
    rate_bps: int
    length_mm: int

    @property
    def propagation_ps(self) -> int:
        """One-way propagation delay in picoseconds."""
        return self.length_mm * PROPAGATION_PS_PER_MM

    def other(self, end: PortRef) -> PortRef:
        """The end that is not ``end``."""
        return self.b if end == self.a else self.a


@dataclass(frozen=True)
class Fabric:
    """Nodes and the links between them.

    A valid fabric has unique names and GUIDs, each port in at most one link, no link from a node to itself
    and every rate above zero; :func:`fabrictwin.model.check.check_fabric` says what is wrong with one that
    has not.

    Attributes:
        technology: InfiniBand or RoCE.
        nodes: Every node; a node's index here is its number everywhere else.
        links: Every cable.
    """

    technology: Technology
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Node index by name."""
        return {node.name: index for index, node in enumerate(self.nodes)}

    @cached_property
    def link_at(self) -> dict[PortRef, Link]:
        """The link on each cabled port."""
        table: dict[PortRef, Link] = {}
        for link in self.links:
            table[link.a] = link
            table[link.b] = link
        return table

    def port_name(self, end: PortRef) -> str:
        """``node/port``."""
        return f"{self.nodes[end.node].name}/{end.port}"

    def of_kind(self, kind: NodeKind) -> Iterator[tuple[int, Node]]:
        """(index, node) of every node of a kind, in index order."""
        return ((index, node) for index, node in enumerate(self.nodes) if node.kind is kind)

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """Indices of the switches."""
        return tuple(index for index, _ in self.of_kind(NodeKind.SWITCH))

    @cached_property
    def hcas(self) -> tuple[int, ...]:
        """Indices of the HCAs."""
        return tuple(index for index, _ in self.of_kind(NodeKind.HCA))

    def without(
        self, links: frozenset[Link] | set[Link], nodes: frozenset[int] | set[int] = frozenset()
    ) -> Fabric:
        """The same nodes (and indices) without some links, and without every link of some nodes.

        Args:
            links: Cables that are down.
            nodes: Indices of nodes that are down; they stay in ``nodes``, without any link.

        Returns:
            A new fabric.
        """
        kept = tuple(
            link
            for link in self.links
            if link not in links and link.a.node not in nodes and link.b.node not in nodes
        )
        return Fabric(self.technology, self.nodes, kept)
