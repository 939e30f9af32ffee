# SPDX-License-Identifier: Apache-2.0
"""Names and options of the routing engines, as a scenario writes them; the engines are in ``subnet``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Fabric, NodeKind, PortRef, Technology
from fabrictwin.model.lookup import find_hca_port, find_node
from fabrictwin.model.quantities import Spec, TimePs, read_endpoint
from fabrictwin.model.section import Section
from fabrictwin.units import PS_PER_MS, PS_PER_US

DEFAULT_ENGINE = "min_hop"
"""OpenSM's default."""
DEFAULT_BFD_INTERVAL_PS, DEFAULT_BFD_MULTIPLIER = 300 * PS_PER_MS, 3
"""BFD as FRR sets it up (M); the rule is that of RFC 5880 section 6.8.4."""
DEFAULT_BGP_UPDATE_PS = 10 * PS_PER_MS
"""An update worked out and programmed by a switch (M); RFC 7938 leaves no other timer where the advertisement
interval is 0, as it is in data centres."""

ROUTING_OPTIONS: dict[str, tuple[str, ...]] = {
    "min_hop": ("lmc",),
    "up_down": ("lmc", "roots"),
    "ftree": ("roots",),
    "dfsssp": ("lmc",),
    "ecmp": ("equal_seeds", "spraying", "flowlet", "bfd_interval", "bfd_multiplier", "bgp_update"),
    "explicit": ("lmc", "tables"),
}
"""Options of each engine; ``ftree`` takes no LMC, as OpenSM's does not, and nothing does on RoCE."""

ROCE_ENGINES = ("ecmp", "explicit")
TECHNOLOGY_ENGINES: dict[Technology, tuple[str, ...]] = {
    Technology.INFINIBAND: tuple(name for name in ROUTING_OPTIONS if name != "ecmp"),
    Technology.ROCE: ROCE_ENGINES,
}
"""Names of the engines, the default one first."""


class RoutingKeys(Spec):
    """Keys of ``routing``; which of them an engine takes is in ``ROUTING_OPTIONS``."""

    engine: Annotated[str | None, Field(description="routing engine; default: `min_hop`, on RoCE `ecmp`")] = (
        None
    )
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
    equal_seeds: Annotated[
        bool, Field(description="every switch hashes alike, so that tiers polarise; else each has its seed")
    ] = False
    spraying: Annotated[bool, Field(description="every packet takes an output of its own")] = False
    flowlet: Annotated[
        TimePs | None,
        Field(gt=0, description="a flow may change its output after so long a pause; default: it never does"),
    ] = None
    bfd_interval: Annotated[TimePs, Field(ge=PS_PER_US, description="between two BFD packets of a cable")] = (
        DEFAULT_BFD_INTERVAL_PS
    )
    bfd_multiplier: Annotated[
        int, Field(ge=1, le=255, description="so many missing BFD packets take a cable for down")
    ] = DEFAULT_BFD_MULTIPLIER
    bgp_update: Annotated[
        TimePs, Field(description="a switch hears of a route, works it out, programs it and passes it on")
    ] = DEFAULT_BGP_UPDATE_PS


@dataclass(frozen=True)
class RoutingSpec:
    """How the subnet is routed.

    Attributes:
        engine: Name of the routing engine.
        lmc: 2**lmc LIDs for each HCA port.
        roots: Switches at the top of the tree, by node index; empty: the engine finds them.
        tables: For ``explicit``: output port by name of the switch and of the destination, which is a switch,
            an HCA (all its ports) or one of its ports (``h0/2``). A pair that is not there is dropped.
        equal_seeds: For ``ecmp``: every switch hashes with the same seed.
        spraying: Every packet draws its output.
        flowlet_ps: A flow draws anew after a pause of this length; 0: never.
        bfd_interval_ps: For ``ecmp``: between two BFD packets of a cable.
        bfd_multiplier: So many missing BFD packets take a cable for down.
        bgp_update_ps: From switch to switch, until a changed route is in use.
    """

    engine: str = DEFAULT_ENGINE
    lmc: int = 0
    roots: tuple[int, ...] = ()
    tables: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    equal_seeds: bool = False
    spraying: bool = False
    flowlet_ps: int = 0
    bfd_interval_ps: int = DEFAULT_BFD_INTERVAL_PS
    bfd_multiplier: int = DEFAULT_BFD_MULTIPLIER
    bgp_update_ps: int = DEFAULT_BGP_UPDATE_PS

    @property
    def detection_ps(self) -> int:
        """From a cable's failure until the routing protocol at its ends knows of it."""
        return self.bfd_interval_ps * self.bfd_multiplier


def read_routing(section: Section, technology: Technology) -> RoutingKeys | None:
    """The keys of ``routing``, with the engine filled in; problems are noted in the section."""
    keys = section.read(RoutingKeys, {} if section.value is None else ...)
    if keys is None:
        return None
    engine = keys.engine or TECHNOLOGY_ENGINES[technology][0]
    problem = engine_problem(engine, technology)
    if problem:
        section.refuse(problem, "engine")
        return None
    options = [name for name in ROUTING_OPTIONS[engine] if name != "lmc" or technology is not Technology.ROCE]
    for option in sorted(keys.model_fields_set - {"engine", *options}):
        section.refuse(f"engine {engine!r} takes {', '.join(options)}; not {option!r}", option)
    if engine == "explicit" and "tables" not in keys.model_fields_set:
        section.refuse("engine 'explicit' needs 'tables', e.g. {sw0: {h0: 1, h1: 2}}")
    if keys.spraying and keys.flowlet is not None:
        section.refuse("give either 'spraying' or 'flowlet'", "flowlet")
    return keys.model_copy(update={"engine": engine})


def engine_problem(engine: str, technology: Technology) -> str:
    """What is wrong with the name of an engine; empty if nothing is."""
    names = TECHNOLOGY_ENGINES[technology]
    if engine in names:
        return ""
    other = next((other for other, theirs in TECHNOLOGY_ENGINES.items() if engine in theirs), None)
    if other is not None:
        return (
            f"{engine!r} belongs to technology {other.value!r}; on {technology.label} use one of "
            f"{', '.join(names)}"
        )
    return f"unknown routing engine {engine!r}{nearest(engine, names)}"


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
    return RoutingSpec(
        engine=keys.engine or DEFAULT_ENGINE,
        lmc=keys.lmc,
        roots=roots,
        tables=keys.tables,
        equal_seeds=keys.equal_seeds,
        spraying=keys.spraying,
        flowlet_ps=keys.flowlet or 0,
        bfd_interval_ps=keys.bfd_interval,
        bfd_multiplier=keys.bfd_multiplier,
        bgp_update_ps=keys.bgp_update,
    )


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
