# SPDX-License-Identifier: Apache-2.0
"""What has been read of a file so far: nodes, what each port says of its neighbour, and what was odd."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.hardware.hardware_model import MAX_PORTS as MAX_NODE_PORTS
from fabrictwin.model.hardware.link_speed import LINK_SPEEDS, LINK_WIDTHS, link_rate_bps

MAX_PROBLEMS = 20
MAX_WARNINGS = 10_000
MAX_NODES = 32_768
MAX_PORTS = 100_000
"""Ports that have a line, which take up to 10 µs each: a hostile file has to be refused within a second. A
cluster of 11,664 HCAs in a tree of three levels has 13,284 nodes and 69,984 cabled ports."""

End = tuple[int, int]
"""A node's GUID and a port number."""


@dataclass(slots=True)
class FoundNode:
    """A node of the file.

    Attributes:
        kind: Switch or HCA.
        guid: Node GUID.
        ports: Number of ports.
        description: Node description.
        line: Where it stands.
        port_guids: Those that the file tells, by port number; a switch has none of its own.
    """

    kind: NodeKind
    guid: int
    ports: int
    description: str
    line: int
    port_guids: dict[int, int] = field(default_factory=dict)


class Claim(NamedTuple):
    """What a port says of its neighbour.

    Attributes:
        peer: The neighbour.
        rate_bps: Effective rate; None where the tool did not know it.
        line: Where it stands.
    """

    peer: End
    rate_bps: int | None
    line: int


class Survey:
    """Collects what is read of one file.

    Attributes:
        file: Name of the file, for messages.
        nodes: Nodes by GUID, in file order.
        claims: What each cabled port says, in file order.
        lids: LIDs by port GUID (a switch: its node GUID).
        warnings: What was odd, and how it was taken.
        problems: What makes the file unusable.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.nodes: dict[int, FoundNode] = {}
        self.claims: dict[End, Claim] = {}
        self.lids: dict[int, int] = {}
        self.warnings: list[Problem] = []
        self.problems: list[Problem] = []

    def warn(self, message: str, line: int = 0) -> None:
        """Takes note of something odd; the first ``MAX_WARNINGS`` are kept."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(Problem(message, self.file, line))

    def complain(self, message: str, line: int = 0) -> None:
        """Takes note of something wrong; gives up after ``MAX_PROBLEMS``.

        Raises:
            InputError: Too much is wrong with the file to read on.
        """
        self.problems.append(Problem(message, self.file, line))
        if len(self.problems) >= MAX_PROBLEMS:
            raise InputError(self.problems)

    def add_node(self, node: FoundNode) -> bool:
        """Adds a node; False, and a problem, if its GUID is another's already."""
        known = self.nodes.get(node.guid)
        if known is not None:
            self.complain(f"duplicate GUID {node.guid:#018x}: line {known.line} has it already", node.line)
            return False
        if not 1 <= node.ports <= MAX_NODE_PORTS:
            self.complain(f"a node has 1 to {MAX_NODE_PORTS} ports, got {node.ports}", node.line)
        if len(self.nodes) >= MAX_NODES:
            self.complain(f"more than {MAX_NODES:,} nodes", node.line)
            raise InputError(self.problems)
        self.nodes[node.guid] = node
        return True

    def add_claim(self, end: End, claim: Claim) -> None:
        """Adds what a port says of its neighbour."""
        known = self.claims.get(end)
        if known is not None:
            port = f"port {end[1]} of {end[0]:#018x}"
            self.complain(f"{port} is used twice: line {known.line} has it already", claim.line)
            return
        self.check_ports(len(self.claims), claim.line)
        self.claims[end] = claim

    def check_ports(self, known: int, line: int) -> None:
        """Refuses one more port than there may be.

        Raises:
            InputError: So many are known already.
        """
        if known >= MAX_PORTS:
            self.complain(f"more than {MAX_PORTS:,} ports", line)
            raise InputError(self.problems)

    def add_lid(self, port_guid: int, lid: int) -> None:
        """Adds the LID of a port; 0 means that it had none."""
        if lid:
            self.lids[port_guid] = lid


@lru_cache(maxsize=256)
def parse_rate(width: str, speed: str) -> int | None:
    """Effective rate of ``4x`` and ``HDR``; None for what the tool did not know (``??``, ``???``)."""
    lanes = int(width[:-1]) if width[:-1].isdecimal() else 0
    if lanes not in LINK_WIDTHS or speed not in LINK_SPEEDS:
        return None
    return link_rate_bps(speed, lanes)
