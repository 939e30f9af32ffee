# SPDX-License-Identifier: Apache-2.0
"""A topology that the user writes out: every node by name, every cable by its two ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.check import Place, Places, check_parts, check_whole
from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.topology.builder import FabricBuilder
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.explicit_parts import LinkSpec, NodeSpec, parse_link, parse_node
from fabrictwin.model.topology.parameters import RATE_FIELD, TOPOLOGY_FIELD, TopologyParameters
from fabrictwin.model.topology.size import FabricSize


class Explicit(TopologyParameters):
    """Parameters of an explicit topology; :mod:`.explicit_parts` reads the entries.

    Attributes:
        generator: Name of the topology; a scenario leaves it out.
        nodes: By name: ``hca``, ``switch``, ``{switch: 40}`` (its radix) or ``{hca: 2}`` (its ports); the
            last two may add ``guid: "0x…"``.
        links: ``[h0/1, sw0/1]``, with ``{rate: 200Gb/s, length: 30m}`` as a third entry where the defaults do
            not hold.
    """

    generator: Literal["explicit"] = "explicit"
    nodes: dict[str, object] = Field(min_length=1)
    links: list[object]


def size_explicit(parameters: Explicit) -> FabricSize:
    """What will be built, as far as it can be counted without reading the entries."""
    hcas = sum(_looks_like_hca(entry) for entry in parameters.nodes.values())
    return FabricSize(switches=len(parameters.nodes) - hcas, hcas=hcas, links=len(parameters.links), radix=0)


def build_explicit(parameters: Explicit, equipment: Equipment, radix: int) -> Fabric:
    """The fabric.

    Args:
        parameters: What the user wrote.
        equipment: What it is built of.
        radix: Ports of a switch whose entry does not say.

    Raises:
        InputError: With every problem of every node and link.
    """
    problems: list[Problem] = []
    nodes = {name: parse_node(name, entry, equipment, problems) for name, entry in parameters.nodes.items()}
    links = [
        (index, parse_link(entry, f"{TOPOLOGY_FIELD}.links[{index}]", nodes, problems))
        for index, entry in enumerate(parameters.links)
    ]
    read = {index: link for index, link in links if link is not None}
    problems += _check_rates(nodes, read, equipment)
    fabric = _assemble(nodes, read, equipment, radix)
    places = Places(
        whole=Place(field=TOPOLOGY_FIELD),
        nodes=[Place(field=f"{TOPOLOGY_FIELD}.nodes.{name}") for name in nodes],
        links=[Place(field=f"{TOPOLOGY_FIELD}.links[{index}]") for index in read],
    )
    problems += check_parts(fabric, places)
    # Without a link that could not be read, an HCA would look uncabled and the fabric split.
    if len(read) == len(links):
        problems += check_whole(fabric, places)
    if problems:
        raise InputError(problems)
    return fabric


def _check_rates(
    nodes: Mapping[str, NodeSpec], links: Mapping[int, LinkSpec], equipment: Equipment
) -> list[Problem]:
    """Rates that the ports at the ends cannot do; that of the many cables which do not say is shown once."""
    problems: dict[str, Problem] = {}
    for index, link in links.items():
        field = RATE_FIELD if link.rate_bps is None else f"{TOPOLOGY_FIELD}.links[{index}]"
        kinds = (nodes[name].kind for name, _ in (link.a, link.b))
        message = equipment.rate_problem(link.cable(equipment.link).rate_bps, *kinds)
        if message:
            problems.setdefault(field, Problem(message, field=field))
    return list(problems.values())


def _looks_like_hca(entry: object) -> bool:
    return entry == "hca" or (isinstance(entry, Mapping) and "hca" in entry)


def _assemble(
    nodes: Mapping[str, NodeSpec], links: Mapping[int, LinkSpec], equipment: Equipment, radix: int
) -> Fabric:
    highest = dict.fromkeys(nodes, 1)
    for link in links.values():
        for name, port in (link.a, link.b):
            highest[name] = max(highest[name], port)
    builder = FabricBuilder(equipment)
    numbers: dict[str, int] = {}
    for name, node in nodes.items():
        if node.kind is NodeKind.HCA:
            numbers[name] = builder.add_hca(name, node.ports or 1, node.guid)
        else:
            unsaid = highest[name] if equipment.switch.any_radix else radix
            numbers[name] = builder.add_switch(name, node.ports or unsaid, node.guid)
    for link in links.values():
        (a_name, a_port), (b_name, b_port) = link.a, link.b
        builder.connect((numbers[a_name], a_port), (numbers[b_name], b_port), link.cable(equipment.link))
    return builder.build()
