# SPDX-License-Identifier: Apache-2.0
"""A heavy sweep: what a subnet manager finds from where it sits, in which order, and with how many MADs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabrictwin.jit import kernel
from fabrictwin.model.fabric import NodeKind
from fabrictwin.subnet.graph import Array, SubnetGraph


@dataclass(frozen=True, eq=False)
class Sweep:
    """What was found.

    Attributes:
        nodes: [found] int32, node indices in order of discovery; the SM's own node is the first.
        switches: [found switches] int32, switch numbers in order of discovery.
        node_infos: NodeInfo MADs, one a node.
        switch_infos: SwitchInfo MADs, one a switch.
        port_infos: PortInfo MADs: one for each port of a switch and its port 0, one for each HCA port found.
    """

    nodes: Array
    switches: Array
    node_infos: int
    switch_infos: int
    port_infos: int

    @property
    def mads(self) -> int:
        """MADs of the sweep (models.md section 1.9, without multicast and without writing tables)."""
        return self.node_infos + self.switch_infos + self.port_infos


def sweep(graph: SubnetGraph, start: int) -> Sweep:
    """Discovers the fabric breadth first by directed routes, ports in order.

    Args:
        graph: The fabric, with what is down.
        start: Node index of the SM. From an HCA it looks out of all cabled ports, and through no other HCA.

    Returns:
        What it finds; only itself if it has no live cable.
    """
    first, peer = _neighbours(graph)
    is_hca = np.array([node.kind is NodeKind.HCA for node in graph.fabric.nodes], np.bool_)
    nodes = _discover(first, peer, is_hca, start)
    found = np.zeros(len(is_hca), np.bool_)
    found[nodes] = True
    numbers = np.full(len(is_hca), -1, np.int32)
    numbers[graph.switch_node] = np.arange(graph.switch_count, dtype=np.int32)
    switches = numbers[nodes][~is_hca[nodes]]
    ends = found[graph.end_node] & (graph.end_alive != 0)
    ports = int(graph.switch_ports[switches].sum()) + len(switches) + int(ends.sum())
    return Sweep(nodes, switches, len(nodes), len(switches), ports)


def _neighbours(graph: SubnetGraph) -> tuple[Array, Array]:
    """Nodes next to each node over live cables, by port, as compressed rows."""
    channels = graph.channels
    up = channels.alive != 0
    ends = (graph.end_alive != 0) & (graph.end_switch >= 0)
    at_switch = graph.switch_node[graph.end_switch[ends]]
    source = np.concatenate([graph.switch_node[channels.source[up]], at_switch, graph.end_node[ends]])
    port = np.concatenate([channels.port[up], graph.end_port[ends], graph.end_hca_port[ends]])
    peer = np.concatenate([graph.switch_node[channels.peer[up]], graph.end_node[ends], at_switch])
    order = np.lexsort((port, source))
    first = np.searchsorted(source[order], np.arange(len(graph.fabric.nodes) + 1))
    return first, peer[order]


@kernel
def _discover(first: Array, peer: Array, is_hca: Array, start: int) -> Array:
    seen = np.zeros(len(is_hca), np.bool_)
    queue = np.empty(len(is_hca), np.int32)
    queue[0] = start
    seen[start] = True
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        if is_hca[node] and node != start:
            continue
        for i in range(first[node], first[node + 1]):
            if not seen[peer[i]]:
                seen[peer[i]] = True
                queue[tail] = peer[i]
                tail += 1
    return queue[:tail].copy()
