# SPDX-License-Identifier: Apache-2.0
"""Names and options of the routing engines, as a scenario writes them; the engines are in ``subnet``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Fabric, NodeKind, PortRef
from fabrictwin.model.lookup import find_hca_port, find_node
from fabrictwin.model.quantities import Spec, read_endpoint
from fabrictwin.model.section import Section

DEFAULT_ENGINE = "min_hop"
"""OpenSM's default."""

ROUTING_OPTIONS: dict[str, tuple[str, ...]] = {
    "min_hop": ("lmc",),
    "up_down": ("lmc", "roots"),
    "ftree": ("roots",),
    "dfsssp": ("lmc",),
    "explicit": ("lmc", "tables"),
}
"""Options of each engine; ``ftree`` takes no LMC, as OpenSM's does not."""

_ROCE_ENGINES = ("ecmp",)


class RoutingKeys(Spec):
    """Keys of ``routing``; which of them an engine takes is in ``ROUTING_OPTIONS``."""

    engine: Annotated[str, Field(description="routing engine")] = DEFAULT_ENGINE
    lmc: Annotated[int, Field(ge=0, le=7, description="2^lmc LIDs for each HCA port")] = 0
    roots: Annotated[
        list[str], Field(default=[], description="names of the switches at the top; default: found")
    ]
    tables: Annotated[
        dict[str, dict[str, int]],
        Field(
            default={},
            description="for `explicit`: `{sw0: {h0: 1, h1: 2}}`, output port of a switch by destination",
        ),
    ]


@dataclass(frozen=True)
class RoutingSpec:
    """How the subnet is routed.

    Attributes:
        engine: Name of the routing engine.
        lmc: 2**lmc LIDs for each HCA port.
        roots: Switches at the top of the tree, by node index; empty: the engine finds them.
        tables: For ``explicit``: output port by name of the switch and of the destination, which is a switch,
            an HCA (all its ports) or one of its ports (``h0/2``). A pair that is not there is dropped.
    """

    engine: str = DEFAULT_ENGINE
    lmc: int = 0
    roots: tuple[int, ...] = ()
    tables: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def read_routing(section: Section) -> RoutingKeys | None:
    """The keys of ``routing``; problems are noted in the section."""
    keys = section.read(RoutingKeys, {} if section.value is None else ...)
    if keys is None:
        return None
    if keys.engine not in ROUTING_OPTIONS:
        section.refuse(_unknown_engine(keys.engine), "engine")
        return None
    options = ROUTING_OPTIONS[keys.engine]
    for option in sorted(keys.model_fields_set - {"engine", *options}):
        section.refuse(f"engine {keys.engine!r} takes {', '.join(options)}; not {option!r}", option)
    if keys.engine == "explicit" and "tables" not in keys.model_fields_set:
        section.refuse("engine 'explicit' needs 'tables', e.g. {sw0: {h0: 1, h1: 2}}")
    return keys


def _unknown_engine(engine: str) -> str:
    if engine in _ROCE_ENGINES:
        return (
            f"{engine!r} belongs to technology 'roce'; on InfiniBand use one of {', '.join(ROUTING_OPTIONS)}"
        )
    return f"unknown routing engine {engine!r}{nearest(engine, ROUTING_OPTIONS)}"


def compile_routing(keys: RoutingKeys, section: Section, fabric: Fabric) -> RoutingSpec:
    """The routing of a fabric; names and ports that lead nowhere are noted in the section."""
    roots = _find_roots(keys.roots, section, fabric)
    for name, table in keys.tables.items():
        place = section.at("tables", name)
        switch = find_node(fabric, place, name, kind=NodeKind.SWITCH)
        if switch is not None:
            _check_table(table, place, fabric, switch)
        if section.is_full:
            break
    return RoutingSpec(keys.engine, keys.lmc, roots, keys.tables)


def _find_roots(names: Sequence[str], section: Section, fabric: Fabric) -> tuple[int, ...]:
    roots: dict[int, None] = {}
    for index, name in enumerate(names):
        root = find_node(fabric, section, name, "roots", index, kind=NodeKind.SWITCH)
        if root in roots:
            section.refuse(f"{name!r} stands there twice", "roots", index)
        elif root is not None:
            roots[root] = None
    return tuple(roots)


def _check_table(table: Mapping[str, int], section: Section, fabric: Fabric, switch: int) -> None:
    node = fabric.nodes[switch]
    for text, port in table.items():
        if section.is_full:
            break
        _check_destination(text, section.at(text), fabric)
        if not 1 <= port <= node.ports:
            section.refuse(
                f"a route to nowhere: {node.name} has the ports 1 to {node.ports}, got {port}", text
            )
        elif PortRef(switch, port) not in fabric.link_at:
            section.refuse(f"a route to nowhere: no cable at {node.name}/{port}", text)


def _check_destination(text: str, section: Section, fabric: Fabric) -> None:
    try:
        end = read_endpoint(text)
    except ValueError as error:
        section.refuse(str(error))
        return
    node = find_node(fabric, section, end.node)
    if node is not None and end.port is not None:
        find_hca_port(fabric, section, end)
