# SPDX-License-Identifier: Apache-2.0
"""Puts a generated fabric together: names, GUIDs, models and cables, in the order in which they are added."""

from __future__ import annotations

from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef
from fabrictwin.model.topology.equipment import Equipment, LinkDefaults

# The second-lowest bit of an EUI-64's first byte marks it as locally administered: no vendor's GUID has it.
_LOCAL_SWITCH_GUID = 0x0200_0001_0000_0000
_LOCAL_HCA_GUID = 0x0200_0002_0000_0000
# One byte of every HCA's GUID range is the port number.
_GUIDS_PER_HCA = 256


class FabricBuilder:
    """Collects nodes and cables; node numbers are given out from 0 in the order of the calls."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._nodes: list[Node] = []
        self._links: list[Link] = []
        self._switches = 0
        self._hcas = 0

    def add_switch(self, name: str, ports: int, guid: int | None = None) -> int:
        """Adds a switch.

        Args:
            name: Its name, which is its description too.
            ports: Its number of ports.
            guid: Its GUID; None for one of our own.

        Returns:
            Its node number.
        """
        self._switches += 1
        own = _LOCAL_SWITCH_GUID + self._switches if guid is None else guid
        self._nodes.append(Node(name, NodeKind.SWITCH, own, ports, self._equipment.switch.name, name))
        return len(self._nodes) - 1

    def add_hca(self, name: str, ports: int = 1, guid: int | None = None) -> int:
        """Adds an HCA; its port GUIDs follow its node GUID.

        Args:
            name: Its name, which is its description too.
            ports: Its number of ports.
            guid: Its GUID; None for one of our own.

        Returns:
            Its node number.
        """
        self._hcas += 1
        own = _LOCAL_HCA_GUID + self._hcas * _GUIDS_PER_HCA if guid is None else guid
        port_guids = tuple(range(own + 1, own + 1 + ports))
        self._nodes.append(
            Node(name, NodeKind.HCA, own, ports, self._equipment.hca.name, name, port_guids=port_guids)
        )
        return len(self._nodes) - 1

    def connect(self, a: tuple[int, int], b: tuple[int, int], link: LinkDefaults | None = None) -> None:
        """Puts a cable between two (node number, port number).

        Args:
            a: One end.
            b: The other end.
            link: Rate and length where they are not the equipment's.
        """
        cable = link or self._equipment.link
        lower, upper = (a, b) if a <= b else (b, a)
        self._links.append(Link(PortRef(*lower), PortRef(*upper), cable.rate_bps, cable.length_mm))

    def build(self) -> Fabric:
        """The fabric of everything added."""
        return Fabric(self._equipment.technology, tuple(self._nodes), tuple(self._links))
