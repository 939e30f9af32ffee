# SPDX-License-Identifier: Apache-2.0
"""Reads the form of ``-p`` (``--ports``): a row per port, with its neighbour if it has one.

The rows of an HCA carry its port GUIDs and not its node GUID, so HCAs are put together here: ports belong to
one if their descriptions agree and their GUIDs count up with their numbers. The first port's GUID stands for
the node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.ibnetdiscover.lines import not_understood
from fabrictwin.model.ibnetdiscover.survey import Claim, End, FoundNode, Survey, parse_rate

ROW = re.compile(
    r"(SW|CA|RT) +(\d{1,9}) +(\d{1,9}) 0x([0-9a-fA-F]{16}) (\d{1,2}x|\?\?) *(\w+|\?\?\?)"
    r"(?: - (SW|CA|RT) +\d{1,9} +(\d{1,9}) 0x([0-9a-fA-F]{16}) \( '(.*)' - '(.*)' \)| +'(.*)')"
)


class _Row(NamedTuple):
    kind: str
    lid: int
    port: int
    guid: int
    rate_bps: int | None
    peer_kind: str
    peer: End
    description: str
    line: int

    @property
    def end(self) -> End:
        return (self.guid, self.port)


def read_ports_form(lines: Iterable[tuple[int, str]], survey: Survey) -> None:
    """Reads every row.

    Args:
        lines: (line number, line), without noise.
        survey: Takes nodes, claims, LIDs, warnings and problems.
    """
    rows: dict[End, _Row] = {}
    for number, line in lines:
        row = _read_row(line, number)
        if row is None:
            survey.complain(not_understood(line), number)
        elif row.kind == "RT":
            survey.warn(f"router {row.description!r} is left out: routers are not simulated", number)
        elif row.kind == "SW" and row.port == 0:
            survey.add_lid(row.guid, row.lid)
        elif row.end in rows:
            first = rows[row.end].line
            survey.complain(
                f"port {row.port} of {row.guid:#018x} is used twice: line {first} has it already", number
            )
        else:
            survey.check_ports(len(rows), number)
            rows[row.end] = row
    owners = {**_add_switches(rows.values(), survey), **_add_hcas(rows.values(), survey)}
    for row in rows.values():
        _add_claim(row, owners, survey)


def _read_row(line: str, number: int) -> _Row | None:
    match = ROW.fullmatch(line)
    if match is None:
        return None
    kind, lid, port, guid, width, speed, peer_kind, peer_port, peer_guid, own, _, alone = match.groups()
    peer = (int(peer_guid, 16), int(peer_port)) if peer_kind else (0, 0)
    rate_bps = parse_rate(width, speed)
    description = (alone if own is None else own).strip()
    return _Row(
        kind, int(lid), int(port), int(guid, 16), rate_bps, peer_kind or "", peer, description, number
    )


def _add_switches(rows: Iterable[_Row], survey: Survey) -> dict[int, int]:
    """Adds every switch; gives its GUID by itself, as its rows carry it."""
    found: dict[int, FoundNode] = {}
    for row in rows:
        if row.kind == "SW":
            node = found.get(row.guid)
            if node is None:
                node = FoundNode(NodeKind.SWITCH, row.guid, 0, row.description, row.line)
                found[row.guid] = node
            node.ports = max(node.ports, row.port)
            survey.add_lid(row.guid, row.lid)
    for node in found.values():
        survey.add_node(node)
    return {guid: guid for guid in found}


def _add_hcas(rows: Iterable[_Row], survey: Survey) -> dict[int, int]:
    """Adds every HCA; gives its node GUID by port GUID."""
    groups: dict[tuple[int, str], list[_Row]] = {}
    for row in rows:
        if row.kind == "CA":
            groups.setdefault((row.guid - row.port, row.description), []).append(row)
            survey.add_lid(row.guid, row.lid)
    owners: dict[int, int] = {}
    for (_, description), ports in groups.items():
        first = min(ports, key=lambda row: row.port)
        node = FoundNode(NodeKind.HCA, first.guid, max(row.port for row in ports), description, first.line)
        node.port_guids = {row.port: row.guid for row in ports}
        survey.add_node(node)
        owners |= {row.guid: node.guid for row in ports}
    return owners


def _add_claim(row: _Row, owners: dict[int, int], survey: Survey) -> None:
    if not row.peer_kind:
        if row.kind == "CA":
            survey.warn(f"port {row.port} of HCA {row.description!r} has no neighbour", row.line)
    elif row.peer_kind == "RT":
        survey.warn("the cable to a router is left out", row.line)
    elif row.peer[1] == 0:
        survey.warn("a cable to a switch's management port 0 is left out", row.line)
    else:
        # A neighbour without rows keeps the GUID that is written here; pairing the cables will miss it.
        peer = (owners.get(row.peer[0], row.peer[0]), row.peer[1])
        survey.add_claim((owners[row.guid], row.port), Claim(peer, row.rate_bps, row.line))
