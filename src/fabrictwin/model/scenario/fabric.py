# SPDX-License-Identifier: Apache-2.0
"""The key ``fabric`` of a scenario: hardware, cables and the topology they make."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fabric import Fabric, Technology
from fabrictwin.model.hardware import AnySwitchModel, HcaModel
from fabrictwin.model.ibnetdiscover import parse, read_file
from fabrictwin.model.input_file import file_problem
from fabrictwin.model.quantities import LengthMm, RateBps, Spec, Wanted
from fabrictwin.model.scenario.hardware import read_hca_model, read_switch_model
from fabrictwin.model.section import MOST_PROBLEMS, Section
from fabrictwin.model.topology import DEFAULT_LENGTH_MM, TOPOLOGIES, Equipment, LinkDefaults, build_topology

Mtu = Literal[256, 512, 1024, 2048, 4096]
DEFAULT_MTU_BYTES: Mtu = 4096
_EXPLICIT = "explicit"
_IMPORTERS = ("ibnetdiscover",)


class FabricKeys(Spec):
    """Keys of ``fabric``."""

    technology: Annotated[Literal["infiniband", "roce"], Field(description="link layer")] = "infiniband"
    topology: Annotated[
        dict[str, Any], Field(description="a generator, an import, or nodes and links; see below")
    ]
    switch_model: Annotated[
        Any,
        Wanted("a name, or a mapping"),
        Field(description="row of the table of switches, or a changed one; default: `quantum2`, `spectrum4`"),
    ] = None
    hca_model: Annotated[
        Any,
        Wanted("a name, or a mapping"),
        Field(
            description="row of the table of HCAs, or a changed one; default: `connectx7`, `connectx7_roce`"
        ),
    ] = None
    link: Annotated[
        dict[str, Any] | None, Field(description="every cable's `rate` and `length`; see below")
    ] = None
    mtu: Annotated[Mtu, Field(description="largest payload of a packet, in bytes")] = DEFAULT_MTU_BYTES


class LinkKeys(Spec):
    """Keys of ``fabric.link``."""

    rate: Annotated[
        RateBps | None,
        Field(
            description="at most what the ports at both ends can do, which is the default; "
            "left out with an import, whose file tells every rate"
        ),
    ] = None
    length: Annotated[LengthMm, Field(description="length of every cable")] = DEFAULT_LENGTH_MM


class ImportKeys(Spec):
    """Keys of a ``topology`` that is imported."""

    import_: Annotated[
        Literal["ibnetdiscover"], Field(alias="import", description="which tool wrote the file")
    ]
    file: Annotated[str, Field(description="its path, from the folder of the scenario")]


@dataclass(frozen=True)
class ScenarioFabric:
    """What the key ``fabric`` describes.

    Attributes:
        fabric: Nodes and links.
        switch_model: Model of every switch.
        hca_model: Model of every HCA.
        mtu_bytes: Largest payload of a packet.
        warnings: What was odd in an imported file.
        imported_sha256: Hash of the imported file; empty where there is none.
    """

    fabric: Fabric
    switch_model: AnySwitchModel
    hca_model: HcaModel
    mtu_bytes: int
    warnings: tuple[Problem, ...] = ()
    imported_sha256: str = ""


def read_technology(section: Section) -> Technology:
    """The technology of the key ``fabric``; InfiniBand where it says none, or nonsense."""
    is_roce = section.at("technology").value == Technology.ROCE.value
    return Technology.ROCE if is_roce else Technology.INFINIBAND


def read_fabric(section: Section, technology: Technology, base: Path) -> ScenarioFabric | None:
    """Builds the fabric; problems are noted in the section.

    Args:
        section: Key ``fabric``.
        technology: What :func:`read_technology` said.
        base: Folder that imported files are looked for in.
    """
    if section.value is None:
        section.refuse(
            "required key 'fabric' is missing: technology, topology, switch_model, hca_model, link, mtu"
        )
        return None
    keys = section.read(FabricKeys)
    mtu_bytes = keys.mtu if keys else DEFAULT_MTU_BYTES
    link = section.at("link")
    link_keys = link.read(LinkKeys, {} if link.value is None else ...)
    hca_model = read_hca_model(section.at("hca_model"), technology, mtu_bytes)
    usual_bps = (link_keys.rate if link_keys else None) or (hca_model.rate_bps if hca_model else None)
    switch_model = read_switch_model(section.at("switch_model"), technology, mtu_bytes, usual_bps)
    if keys is None or switch_model is None or hca_model is None or link_keys is None:
        return None
    fastest_bps = min(switch_model.rate_bps, hca_model.rate_bps)
    defaults = LinkDefaults(link_keys.rate or fastest_bps, link_keys.length)
    equipment = Equipment(switch_model, hca_model, defaults)
    is_import = isinstance(keys.topology, dict) and "import" in keys.topology
    if is_import and technology is not Technology.INFINIBAND:
        section.refuse(
            "ibnetdiscover tells of InfiniBand fabrics; expected technology 'infiniband'", "technology"
        )
        return None
    if is_import and link_keys.rate is not None:
        link.refuse("an imported file tells the rate of every cable; leave 'rate' out", "rate")
        return None
    return _read_topology(section.at("topology"), equipment, mtu_bytes, base)


def _read_topology(
    section: Section, equipment: Equipment, mtu_bytes: int, base: Path
) -> ScenarioFabric | None:
    value = section.value
    try:
        if "import" in value:
            return _import(section, equipment, mtu_bytes, base)
        fabric = _generate(section, equipment)
    except InputError as error:
        for problem in error.problems:
            section.refuse_elsewhere(problem)
        return None
    if fabric is None:
        return None
    return ScenarioFabric(fabric, equipment.switch, equipment.hca, mtu_bytes)


def _generate(section: Section, equipment: Equipment) -> Fabric | None:
    value = section.value
    generators = [name for name in TOPOLOGIES if name != _EXPLICIT]
    if "generator" in value:
        name = value["generator"]
        if not isinstance(name, str) or name not in generators:
            section.refuse_name("generator", str(name), generators, "generator")
            return None
    elif "nodes" in value or "links" in value:
        name = _EXPLICIT
    else:
        section.refuse(
            "expected {generator: …}, {import: ibnetdiscover, file: …} or {nodes: …, links: …}; "
            f"generators: {', '.join(generators)}"
        )
        return None
    parameters = section.read(TOPOLOGIES[name].parameters)
    if parameters is None or (name == _EXPLICIT and _refuse_many_unknown_ends(section)):
        return None
    return build_topology(name, parameters, equipment)


def _refuse_many_unknown_ends(section: Section) -> bool:
    """Notes the ends of cables that no node has, where they are so many that only these can be shown.

    The topology would look for the nearest name of each, which takes minutes for some thousand of them.
    """
    nodes = section.value["nodes"]
    unknown = [
        (index, position, end.partition("/")[0])
        for index, link in enumerate(section.value["links"])
        if isinstance(link, list)
        for position, end in enumerate(link[:2])
        if isinstance(end, str) and end.partition("/")[0] not in nodes
    ]
    if len(unknown) < MOST_PROBLEMS:
        return False
    for index, position, node in unknown[:MOST_PROBLEMS]:
        section.refuse_name("node", node, nodes, "links", index, position)
    return True


def _import(section: Section, equipment: Equipment, mtu_bytes: int, base: Path) -> ScenarioFabric | None:
    keys = section.read(ImportKeys)
    if keys is None:
        return None
    path = base / keys.file
    problem = file_problem(path)
    if problem:
        section.refuse(f"{problem}: {path}", "file")
        return None
    text = read_file(path)
    imported = parse(text, str(path))
    fabric = imported.fabric(equipment)
    warnings = [*imported.warnings, *_note_fast_cables(fabric, equipment, section)]
    return ScenarioFabric(
        fabric,
        equipment.switch,
        equipment.hca,
        mtu_bytes,
        tuple(warnings),
        hashlib.sha256(text.encode()).hexdigest(),
    )


def _note_fast_cables(fabric: Fabric, equipment: Equipment, section: Section) -> list[Problem]:
    """A warning for each model whose ports are slower than some cables of the file: the file is right."""
    counts: dict[str, int] = {}
    for link in fabric.links:
        model = equipment.slowest(fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
        if link.rate_bps > model.highest_rate_bps:
            counts[model.name] = counts.get(model.name, 0) + 1
    return [
        section.document.problem(
            (*section.path, "file"),
            f"{count:,} of {len(fabric.links):,} cables are faster than a port of {name}; "
            "they run at the speeds of the file",
        )
        for name, count in counts.items()
    ]
