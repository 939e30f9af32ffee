# SPDX-License-Identifier: Apache-2.0
"""Fabrics to route: trees, rings, random ones, and real clusters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology
from fabrictwin.model.ibnetdiscover import parse, read_file
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.lids import assign_lids
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import ROUTING_ENGINES

EQUIPMENT = Equipment.of("native_ib", "native_hca")
RATE_BPS = 100 * 10**9
REAL_FILES = (
    "topograph_ndr_2025.ibnetdiscover",
    "hpctoolset_x5.ibnetdiscover",
    "loginoff_topo.ibnetdiscover",
    "hwloc_avakas.ibnetdiscover-ps.txt",
)
COMPUTING_ENGINES = tuple(name for name in ROUTING_ENGINES if name != "explicit")
DEADLOCK_FREE = tuple(row.name for row in ROUTING_ENGINES.values() if row.deadlock_free)


def generated(topology: str, **parameters: Any) -> Fabric:
    """A fabric of a row of the topology table."""
    return build_topology(topology, TOPOLOGIES[topology].parameters(**parameters), EQUIPMENT)


def k_ary_tree(k: int) -> Fabric:
    """A three-level fat tree."""
    return generated("fat_tree", levels=3, k=k)


def two_level_tree(leaves: int, hosts_per_leaf: int, spines: int, links_per_spine: int = 1) -> Fabric:
    """A two-level fat tree."""
    return generated(
        "fat_tree",
        levels=2,
        leaves=leaves,
        hosts_per_leaf=hosts_per_leaf,
        spines=spines,
        links_per_spine=links_per_spine,
    )


def real_fabric(shared_data: Path, name: str) -> Fabric:
    """A fabric from the file of a real cluster."""
    return parse(read_file(shared_data / "ibnet" / name), name).fabric(EQUIPMENT)


def wired(hosts: Sequence[int], cables: Sequence[tuple[int, int]]) -> Fabric:
    """Switches ``sw0..`` with hosts, the hosts' ports first, then cables in the order given.

    Args:
        hosts: Hosts on each switch.
        cables: Pairs of switches.
    """
    switches = len(hosts)
    nodes = [Node(f"sw{i}", NodeKind.SWITCH, 1 + i, 200, "native_ib") for i in range(switches)]
    links = []
    used = [0] * switches

    def port_of(switch: int) -> PortRef:
        used[switch] += 1
        return PortRef(switch, used[switch])

    for switch, count in enumerate(hosts):
        for _ in range(count):
            number = len(nodes) - switches
            guid = 0x10000 + 16 * number
            nodes.append(Node(f"h{number}", NodeKind.HCA, guid, 1, "native_hca", port_guids=(guid + 1,)))
            links.append(Link(port_of(switch), PortRef(len(nodes) - 1, 1), RATE_BPS, 1000))
    for a, b in cables:
        first, second = sorted((port_of(a), port_of(b)))
        links.append(Link(first, second, RATE_BPS, 1000))
    return Fabric(Technology.INFINIBAND, tuple(nodes), tuple(links))


def random_fabric(seed: int, switches: int | None = None) -> Fabric:
    """A connected fabric: a random spanning tree, further cables (parallel ones too), random hosts."""
    rng = random.Random(seed)
    switches = switches or rng.randint(2, 24)
    cables = [(rng.randrange(i), i) for i in range(1, switches)]
    for _ in range(rng.randint(0, 2 * switches)):
        a, b = rng.randrange(switches), rng.randrange(switches)
        if a != b:
            cables.append((a, b))
    most = rng.randint(1, 4)
    return wired([max(i == 0, rng.randint(0, most)) for i in range(switches)], cables)


def switch_links(fabric: Fabric) -> list[Link]:
    """The cables between switches."""
    return [
        link
        for link in fabric.links
        if NodeKind.HCA not in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
    ]


def request_for(fabric: Fabric, lmc: int = 0, **options: Any) -> RoutingRequest:
    """What to ask an engine."""
    graph = build_graph(fabric)
    return RoutingRequest(graph, assign_lids(graph, lmc), **options)


def routed(fabric: Fabric, engine: str, lmc: int = 0, **options: Any) -> Routes:
    """Routes of a fabric."""
    return ROUTING_ENGINES[engine].route(request_for(fabric, lmc, **options))
