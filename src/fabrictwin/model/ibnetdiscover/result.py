# SPDX-License-Identifier: Apache-2.0
"""A fabric as it was read from a file: real names, GUIDs, LIDs and speeds, but no hardware models yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.check import Place, Places, check_fabric
from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef
from fabrictwin.model.topology.equipment import Equipment


@dataclass(frozen=True, slots=True)
class ImportedNode:
    """A node of the file.

    Attributes:
        name: Unique name, made from the description.
        kind: Switch or HCA.
        guid: Node GUID.
        ports: Number of ports.
        description: Node description, as the file has it.
        port_guids: Of an HCA, by port number from 1 on; empty for a switch.
        line: Where it stands.
    """

    name: str
    kind: NodeKind
    guid: int
    ports: int
    description: str
    port_guids: tuple[int, ...]
    line: int


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """A cable of the file.

    Attributes:
        a: The end with the smaller (node, port); a node's number is its index in ``ImportResult.nodes``.
        b: The other end.
        rate_bps: Effective rate of each direction.
        line: Where it stands.
    """

    a: PortRef
    b: PortRef
    rate_bps: int
    line: int


@dataclass(frozen=True)
class ImportResult:
    """What a file holds.

    Attributes:
        file: Name of the file, for messages.
        nodes: Every node that has a cable.
        links: Every cable that is up.
        lids: The LIDs that were assigned, by port GUID (a switch: its node GUID).
        warnings: What was odd, and how it was taken.
    """

    file: str
    nodes: Sequence[ImportedNode]
    links: Sequence[ImportedLink]
    lids: Mapping[int, int]
    warnings: Sequence[Problem]

    def count(self, kind: NodeKind) -> int:
        """Number of nodes of a kind."""
        return sum(node.kind is kind for node in self.nodes)

    def fabric(self, equipment: Equipment) -> Fabric:
        """The fabric, with hardware models and a cable length, which the file does not tell.

        Args:
            equipment: Models of every switch and HCA, and the length of every cable; rates are the file's.

        Raises:
            InputError: The fabric is not usable, for instance in two pieces; with file and line.
        """
        nodes = tuple(
            Node(
                node.name,
                node.kind,
                node.guid,
                node.ports,
                (equipment.switch if node.kind is NodeKind.SWITCH else equipment.hca).name,
                node.description,
                node.port_guids,
            )
            for node in self.nodes
        )
        length_mm = equipment.link.length_mm
        links = tuple(Link(link.a, link.b, link.rate_bps, length_mm) for link in self.links)
        fabric = Fabric(equipment.technology, nodes, links)
        places = Places(
            whole=Place(self.file),
            nodes=[Place(self.file, node.line) for node in self.nodes],
            links=[Place(self.file, link.line) for link in self.links],
        )
        problems = check_fabric(fabric, places)
        if problems:
            raise InputError(problems)
        return fabric
