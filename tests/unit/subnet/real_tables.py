# SPDX-License-Identifier: Apache-2.0
"""The forwarding tables that were really installed in a cluster, from the output of ``ibroute``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fabrictwin.model.fabric import Fabric, NodeKind, PortRef
from fabrictwin.subnet.graph import NO_PORT, build_graph
from fabrictwin.subnet.lids import assign_lids
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from unit.subnet.fabrics import real_fabric

_SWITCH = re.compile(r"Unicast lids .* of switch Lid \d+ guid 0x([0-9a-f]+)")
_ENTRY = re.compile(r"0x([0-9a-f]{4}) (\d{3}) : \(.*portguid 0x([0-9a-f]+):")


def port_by_guid(fabric: Fabric) -> dict[int, PortRef]:
    """Switches (port 0) and HCA ports by GUID."""
    ports: dict[int, PortRef] = {}
    for index, node in enumerate(fabric.nodes):
        if node.kind is NodeKind.SWITCH:
            ports[node.guid] = PortRef(index, 0)
        else:
            ports |= {node.port_guid(port): PortRef(index, port) for port in range(1, node.ports + 1)}
    return ports


def real_routes(shared_data: Path) -> Routes:
    """The Avakas cluster with its own LIDs and tables."""
    fabric = real_fabric(shared_data, "hwloc_avakas.ibnetdiscover-ps.txt")
    ports = port_by_guid(fabric)
    given: dict[PortRef, int] = {}
    entries: list[tuple[int, int, int]] = []
    switch = -1
    for file in sorted((shared_data / "ibnet" / "avakas_ibroute").glob("ibroute-*.txt")):
        for line in file.read_text().splitlines():
            if header := _SWITCH.match(line):
                switch = fabric.switches.index(ports[int(header[1], 16)].node)
            elif entry := _ENTRY.match(line):
                lid = int(entry[1], 16)
                entries.append((switch, lid, int(entry[2])))
                if (port := ports.get(int(entry[3], 16))) is not None:
                    given[port] = lid
    graph = build_graph(fabric)
    lids = assign_lids(graph, given=given)
    lft = np.full((graph.switch_count, lids.width), NO_PORT, np.uint8)
    rows, columns, values = zip(*entries, strict=True)
    lft[list(rows), list(columns)] = values
    return Routes("opensm", RoutingRequest(graph, lids), lft, False)
