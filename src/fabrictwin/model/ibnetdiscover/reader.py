# SPDX-License-Identifier: Apache-2.0
"""Reads a fabric from the output of ``ibnetdiscover``, in its plain form or the one of ``-p``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import NodeKind, PortRef
from fabrictwin.model.ibnetdiscover.cables import Cable, pair_claims
from fabrictwin.model.ibnetdiscover.lines import lines_of, not_understood
from fabrictwin.model.ibnetdiscover.names import name_nodes
from fabrictwin.model.ibnetdiscover.plain_form import HEADER, read_plain_form
from fabrictwin.model.ibnetdiscover.ports_form import ROW, read_ports_form
from fabrictwin.model.ibnetdiscover.result import ImportedLink, ImportedNode, ImportResult
from fabrictwin.model.ibnetdiscover.survey import FoundNode, Survey
from fabrictwin.model.input_file import read_bytes

MAX_BYTES = 16 << 20
"""A cluster of 11,664 HCAs in a tree of three levels fills 7 to 14 MiB, by the length of its descriptions."""

# For ports whose GUID neither the file tells nor the HCA's other ports suggest: locally administered.
_LOCAL_PORT_GUID = 0x0200_0003_0000_0000


def read_file(path: Path) -> str:
    """The text of a file.

    Args:
        path: The file.

    Raises:
        InputError: It cannot be read, is larger than ``MAX_BYTES``, or is binary.
    """
    content = read_bytes(path, largest_bytes=MAX_BYTES)
    if b"\0" in content:
        raise InputError.of("is binary; expected the output of ibnetdiscover", file=str(path))
    # Node descriptions are bytes that people type; what is not UTF-8 must not stop an import.
    return content.decode("utf-8", errors="replace")


def parse(text: str, file: str = "") -> ImportResult:
    """Reads the output of ``ibnetdiscover``.

    Args:
        text: The output, plain (with or without ``-g``, ``-f``, ``-s``) or of ``-p``.
        file: Its name, for messages.

    Returns:
        Nodes, cables, LIDs and warnings.

    Raises:
        InputError: With file and line of everything that cannot be read or contradicts itself.
    """
    survey = Survey(file)
    if len(text) > MAX_BYTES:
        survey.complain(f"the text has {len(text):,} characters; the most is {MAX_BYTES:,}")
        raise InputError(survey.problems)
    lines = lines_of(text, survey)
    first = next(lines, None)
    if first is None:
        survey.complain("no node found: expected the output of ibnetdiscover")
        raise InputError(survey.problems)
    every: Iterator[tuple[int, str]] = chain([first], lines)
    if ROW.match(first[1]):
        read_ports_form(every, survey)
    elif HEADER.match(first[1]):
        read_plain_form(every, survey)
    else:
        survey.complain(not_understood(first[1]), first[0])
    # What cannot be read leaves neighbours without a description: more messages would only repeat it.
    cables = [] if survey.problems else pair_claims(survey)
    if survey.problems:
        raise InputError(survey.problems)
    return _assemble(survey, cables)


def _assemble(survey: Survey, cables: list[Cable]) -> ImportResult:
    cabled = {end[0] for cable in cables for end in (cable.a, cable.b)}
    for node in survey.nodes.values():
        if node.guid not in cabled:
            shown = node.description or hex(node.guid)
            survey.warn(f"{node.kind} {shown!r} is left out: it has no cable that is up", node.line)
    found = [node for node in survey.nodes.values() if node.guid in cabled]
    numbers = {node.guid: index for index, node in enumerate(found)}
    port_guids = _complete_port_guids(found)
    nodes = [
        ImportedNode(name, node.kind, node.guid, node.ports, node.description, port_guids[index], node.line)
        for index, (node, name) in enumerate(zip(found, name_nodes(found), strict=True))
    ]
    links = []
    for cable in cables:
        a, b = sorted(PortRef(numbers[guid], port) for guid, port in (cable.a, cable.b))
        links.append(ImportedLink(a, b, cable.rate_bps, cable.line))
    warnings = sorted(survey.warnings, key=lambda warning: warning.line)
    return ImportResult(survey.file, nodes, links, survey.lids, warnings)


def _complete_port_guids(nodes: list[FoundNode]) -> list[tuple[int, ...]]:
    """Every HCA's port GUIDs by port number; empty for a switch.

    The file tells those of cabled ports only. The others count on from a known one, as vendors assign them,
    unless that GUID is somebody else's.
    """
    taken = {guid for node in nodes for guid in (node.guid, *node.port_guids.values())}
    spare = count(_LOCAL_PORT_GUID + 1)
    complete: list[tuple[int, ...]] = []
    for node in nodes:
        guids: list[int] = []
        known_port, known_guid = min(node.port_guids.items(), default=(0, node.guid))
        for port in range(1, node.ports + 1) if node.kind is NodeKind.HCA else ():
            guid = node.port_guids.get(port)
            if guid is None:
                guid = known_guid - known_port + port
                while guid in taken or guid <= 0:
                    guid = next(spare)
                taken.add(guid)
            guids.append(guid)
        complete.append(tuple(guids))
    return complete
