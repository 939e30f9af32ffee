# SPDX-License-Identifier: Apache-2.0
"""``explicit``: the tables that the user wrote, entry by entry.

What is missing stays missing: a destination without an entry is unreachable from that switch, the HCAs on the
switch itself included, and is reported as such. Nothing is guessed, because experiments need tables that are
wrong.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.errors import InputError, Problem, nearest
from fabrictwin.subnet.graph import NO_PORT, SubnetGraph
from fabrictwin.subnet.lids import Lids
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes


def route_explicit(request: RoutingRequest) -> Routes:
    """Takes tables ``{switch: {destination: port}}``.

    A destination is the name of a switch, of an HCA (all of its cabled ports) or of an HCA port (``h0/2``).

    Raises:
        InputError: There are no tables, a switch or destination does not exist, or a port is not one of the
            switch or is not cabled.
    """
    if not request.tables:
        raise InputError.of(
            "engine 'explicit' needs 'tables', e.g. {sw0: {h0: 1, h1: 2}}", field="routing.tables"
        )
    graph, lids = request.graph, request.lids
    names = _destination_lids(lids)
    switches = {graph.switch_name(number): number for number in range(graph.switch_count)}
    lft = np.full((graph.switch_count, lids.width), NO_PORT, np.uint8)
    lft[np.arange(graph.switch_count), lids.switch_lid] = 0
    problems = []
    for switch_name, table in request.tables.items():
        field = f"routing.tables.{switch_name}"
        if switch_name not in switches:
            problems.append(Problem(f"no such switch{nearest(switch_name, switches)}", field=field))
            continue
        switch = switches[switch_name]
        cabled = _cabled_ports(graph, switch)
        for destination, port in table.items():
            place = f"{field}.{destination}"
            if destination not in names:
                problems.append(Problem(f"no such destination{nearest(destination, names)}", field=place))
            elif port not in cabled:
                problems.append(Problem(_wrong_port(switch_name, port, cabled), field=place))
            else:
                lft[switch, names[destination]] = port
    if problems:
        raise InputError(problems)
    return Routes("explicit", request, lft, False)


def _wrong_port(switch: str, port: int, cabled: list[int]) -> str:
    return f"expected a cabled port of {switch} ({', '.join(map(str, cabled)) or 'it has none'}), got {port}"


def _cabled_ports(graph: SubnetGraph, switch: int) -> list[int]:
    channels = graph.channels
    to_switches = channels.port[channels.first[switch] : channels.first[switch + 1]]
    to_hcas = graph.end_port[graph.end_switch == switch]
    return sorted(np.concatenate([to_switches, to_hcas]).tolist())


def _destination_lids(lids: Lids) -> dict[str, list[int]]:
    """All LIDs behind every name that a table may use."""
    graph = lids.graph
    names = {graph.switch_name(number): [int(lid)] for number, lid in enumerate(lids.switch_lid)}
    for end, base in enumerate(lids.end_lid.tolist()):
        own = list(range(base, base + (1 << lids.lmc)))
        names[graph.end_name(end)] = own
        names.setdefault(graph.fabric.nodes[int(graph.end_node[end])].name, []).extend(own)
    return names
