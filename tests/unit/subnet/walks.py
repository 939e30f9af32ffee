# SPDX-License-Identifier: Apache-2.0
"""Paths followed one by one in plain Python: what the compiled checks are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import networkx as nx

from fabrictwin.model.fabric import Fabric, NodeKind, PortRef
from fabrictwin.subnet.routes import Routes


def switch_graph(fabric: Fabric) -> nx.Graph:
    """The switches of a fabric, by node index."""
    graph = nx.Graph()
    graph.add_nodes_from(fabric.switches)
    for link in fabric.links:
        if NodeKind.HCA not in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind):
            graph.add_edge(link.a.node, link.b.node)
    return graph


def host_ports(fabric: Fabric) -> list[PortRef]:
    """Cabled HCA ports."""
    return sorted(end for end in fabric.link_at if fabric.nodes[end.node].kind is NodeKind.HCA)


def walk(routes: Routes, fabric: Fabric, source: PortRef, lid: int) -> tuple[list[PortRef], PortRef | None]:
    """Follows the tables from an HCA port to a LID.

    Returns:
        Output ports of the switches passed, and the HCA port reached; None if the packet is dropped or loops.
    """
    at = fabric.link_at[source].other(source)
    taken: list[PortRef] = []
    while len(taken) <= len(fabric.switches):
        if fabric.nodes[at.node].kind is NodeKind.HCA:
            return taken, at
        port = int(routes.lft[fabric.switches.index(at.node), lid])
        output = PortRef(at.node, port)
        if output not in fabric.link_at:
            break
        taken.append(output)
        at = fabric.link_at[output].other(output)
    return taken, None


def all_walks(routes: Routes, fabric: Fabric) -> Iterator[tuple[PortRef, PortRef, list[PortRef], bool]]:
    """(source, destination, output ports, whether it arrives) of every ordered pair of HCA ports."""
    ports = host_ports(fabric)
    for source in ports:
        for destination in ports:
            if source != destination:
                taken, reached = walk(routes, fabric, source, routes.lid_of[destination])
                yield source, destination, taken, reached == destination


def count_paths(routes: Routes, fabric: Fabric) -> Counter[PortRef]:
    """Paths by output port towards a switch."""
    paths: Counter[PortRef] = Counter()
    for _, _, taken, _ in all_walks(routes, fabric):
        for output in taken:
            if fabric.nodes[fabric.link_at[output].other(output).node].kind is NodeKind.SWITCH:
                paths[output] += 1
    return paths


def dependency_graph(routes: Routes, fabric: Fabric, sl: int) -> nx.DiGraph:
    """Which output port packets of a service level need after which."""
    graph = nx.DiGraph()
    for source, destination, taken, _ in all_walks(routes, fabric):
        if routes.service_level(source, routes.lid_of[destination]) == sl:
            inner = [
                output
                for output in taken
                if fabric.nodes[fabric.link_at[output].other(output).node].kind is NodeKind.SWITCH
            ]
            graph.add_edges_from(pairwise(inner))
    return graph
