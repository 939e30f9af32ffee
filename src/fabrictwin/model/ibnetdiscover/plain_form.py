# SPDX-License-Identifier: Apache-2.0
"""Reads the plain form: a block per node, beginning with its header line, then a line per cabled port."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.ibnetdiscover.lines import not_understood
from fabrictwin.model.ibnetdiscover.survey import Claim, FoundNode, Survey, parse_rate

HEADER = re.compile(r'(Switch|Ca|Hca|Rt)\s+(\d{1,9})\s+"([SHR])-([0-9a-fA-F]{16})"(.*)')
_HEADER_TAIL = re.compile(r'\s*#\s*"(.*)"(?: \w+ port 0 lid (\d{1,9}) lmc (\d{1,9}).*)?')
_PORT = re.compile(
    r"\[(\d{1,9})\](?:\[ext [^\]]*\])?\s*(?:\(([0-9a-fA-F]{1,16})\))?\s*"
    r'"([SHR])-([0-9a-fA-F]{16})"\[(\d{1,9})\](?:\[ext [^\]]*\])?\s*(?:\(([0-9a-fA-F]{1,16})\))?\s*'
    r"#\s*(.*)"
)
_OWN_LID = re.compile(r"lid (\d{1,9}) lmc \d{1,9} ")
# After the neighbour's description: its LID, then width and speed, then with `-f` their codes.
_LINK = re.compile(r"\s*lid \d{1,9} (\d{1,2}x|\?\?)(\w+|\?\?\?)(?: |\Z)")

_PREFIXES = {"Switch": "S", "Ca": "H", "Hca": "H", "Rt": "R"}


def read_plain_form(lines: Iterable[tuple[int, str]], survey: Survey) -> None:
    """Reads every block.

    Args:
        lines: (line number, line), without noise.
        survey: Takes nodes, claims, LIDs, warnings and problems.
    """
    node: FoundNode | None = None
    in_block = False
    for number, line in lines:
        header = HEADER.fullmatch(line)
        if header:
            node, in_block = _read_header(header, number, survey), True
            continue
        port = _PORT.fullmatch(line)
        if port is None or not in_block:
            survey.complain(not_understood(line), number)
        elif node is not None:
            _read_port(port, node, number, survey)


def _read_header(match: re.Match[str], number: int, survey: Survey) -> FoundNode | None:
    """The node of a header line; None if the port lines below it are to be skipped, as a router's are."""
    word, ports, prefix, guid, tail = match.groups()
    rest = _HEADER_TAIL.fullmatch(tail)
    if rest is None or _PREFIXES[word] != prefix:
        survey.complain(not_understood(match[0]), number)
        return None
    description, lid = rest[1], rest[2]
    if word == "Rt":
        survey.warn(f"router {description!r} is left out: routers are not simulated", number)
        return None
    kind = NodeKind.SWITCH if word == "Switch" else NodeKind.HCA
    node = FoundNode(kind, int(guid, 16), int(ports), description.strip(), number)
    if not survey.add_node(node):
        return None
    if kind is NodeKind.SWITCH and lid:
        survey.add_lid(node.guid, int(lid))
    return node


def _read_port(match: re.Match[str], node: FoundNode, number: int, survey: Survey) -> None:
    port, own_guid, peer_prefix, peer_guid, peer_port, _, comment = match.groups()
    end, peer = (node.guid, int(port)), (int(peer_guid, 16), int(peer_port))
    head, _, tail = comment.rpartition('"')
    link = _LINK.match(tail)
    if link is None:
        survey.complain(not_understood(match[0]), number)
        return
    if node.kind is NodeKind.HCA and own_guid:
        node.port_guids[end[1]] = int(own_guid, 16)
        lid = _OWN_LID.match(head)
        if lid:
            survey.add_lid(int(own_guid, 16), int(lid[1]))
    if peer_prefix == "R":
        survey.warn("the cable to a router is left out", number)
    elif end[1] == 0 or peer[1] == 0:
        survey.warn("a cable to a switch's management port 0 is left out", number)
    elif end[1] > node.ports:
        survey.complain(f"the node has ports 1 to {node.ports}, not {end[1]}", number)
    else:
        survey.add_claim(end, Claim(peer, parse_rate(link[1], link[2]), number))
