# SPDX-License-Identifier: Apache-2.0
"""The array view of a fabric that routing works on: switches, channels between them, HCA ports on them.

A *channel* is one direction of a cable between two switches. Channels are numbered switch by switch, by port
within a switch, so those of switch ``s`` are ``first[s]:first[s + 1]``. A cabled HCA port is an *endpoint*;
an HCA with two cabled ports is two endpoints. Links and nodes that go down are masked, not removed: every
number keeps its meaning for as long as the fabric lives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrictwin.jit import kernel
from fabrictwin.model.fabric import Fabric, Link, NodeKind, PortRef

Array = NDArray[Any]

NO_PORT = 255
"""The LFT entry of a LID that a switch cannot reach: the packet is dropped (models.md section 1.6)."""


class Channels(NamedTuple):
    """Switch-to-switch channels in compressed sparse rows; what the kernels take.

    Attributes:
        first: [switches + 1] int32, first channel of a switch.
        source: [channels] int32, the switch that sends.
        port: [channels] uint8, its port.
        peer: [channels] int32, the switch that receives.
        reverse: [channels] int32, the other direction of the same cable.
        alive: [channels] uint8, 0 while the cable or one of its switches is down.
    """

    first: Array
    source: Array
    port: Array
    peer: Array
    reverse: Array
    alive: Array


@dataclass(frozen=True, eq=False)
class SubnetGraph:
    """A fabric as arrays.

    Attributes:
        fabric: The fabric with every link up.
        switch_node: [switches] int32, node index of each switch; the order is that of ``fabric.switches``.
        switch_ports: [switches] int32, number of external ports.
        channels: Switch-to-switch channels.
        end_node: [endpoints] int32, node index of the HCA; endpoints are ordered by (node, port).
        end_hca_port: [endpoints] int32, port of the HCA.
        end_switch: [endpoints] int32, the switch that it is cabled to; -1 if it is cabled to another HCA.
        end_port: [endpoints] uint8, port of that switch.
        end_alive: [endpoints] uint8, 0 while its cable, its HCA or its switch is down.
    """

    fabric: Fabric
    switch_node: Array
    switch_ports: Array
    channels: Channels
    end_node: Array
    end_hca_port: Array
    end_switch: Array
    end_port: Array
    end_alive: Array

    @property
    def switch_count(self) -> int:
        """Number of switches."""
        return len(self.switch_node)

    @cached_property
    def switch_of(self) -> dict[int, int]:
        """Switch number by node index."""
        return {int(node): number for number, node in enumerate(self.switch_node)}

    @cached_property
    def end_of(self) -> dict[PortRef, int]:
        """Endpoint number by HCA port."""
        ends = zip(self.end_node.tolist(), self.end_hca_port.tolist(), strict=True)
        return {PortRef(node, port): number for number, (node, port) in enumerate(ends)}

    @cached_property
    def served(self) -> Array:
        """[switches] int64: live endpoints of each switch."""
        usable = (self.end_alive != 0) & (self.end_switch >= 0)
        return np.bincount(self.end_switch[usable], minlength=self.switch_count)

    def switch_name(self, switch: int) -> str:
        """Name of a switch."""
        return self.fabric.nodes[int(self.switch_node[switch])].name

    def end_name(self, end: int) -> str:
        """``node/port`` of an endpoint."""
        return self.fabric.port_name(PortRef(int(self.end_node[end]), int(self.end_hca_port[end])))

    def channel_name(self, channel: int) -> str:
        """``switch/port`` of the sending side of a channel."""
        source = int(self.channels.source[channel])
        return self.fabric.port_name(PortRef(int(self.switch_node[source]), int(self.channels.port[channel])))

    def with_down(self, links: Iterable[Link] = (), nodes: Iterable[int] = ()) -> SubnetGraph:
        """The same graph with exactly these links and nodes down, and everything else up.

        Args:
            links: Cables of ``fabric`` that are down.
            nodes: Indices of nodes that are down.

        Returns:
            A graph that shares every array but the two masks.
        """
        alive = np.ones(len(self.channels.alive), np.uint8)
        end_alive = np.ones(len(self.end_alive), np.uint8)
        for link in links:
            for end in (link.a, link.b):
                alive[self._channels_of(end)] = 0
                end_alive[self._ends_of(end)] = 0
        node_up = np.ones(len(self.fabric.nodes), np.uint8)
        node_up[list(nodes)] = 0
        switch_up = np.append(node_up[self.switch_node], np.uint8(1))
        alive &= switch_up[self.channels.source] & switch_up[self.channels.peer]
        end_alive &= node_up[self.end_node] & switch_up[self.end_switch]
        return replace(self, channels=self.channels._replace(alive=alive), end_alive=end_alive)

    def _channels_of(self, end: PortRef) -> Array:
        channels = self.channels
        found: Array = (self.switch_node[channels.source] == end.node) & (channels.port == end.port)
        return found

    def _ends_of(self, end: PortRef) -> Array:
        found: Array = (self.end_node == end.node) & (self.end_hca_port == end.port)
        return found

    @cached_property
    def channel_at(self) -> Array:
        """[switches, 256] int32: channel that leaves a switch by a port; -1 where there is none."""
        return _channel_by_port(self.channels)

    @cached_property
    def pieces(self) -> Array:
        """[switches] int32: number of the connected piece that each switch is in, by its smallest switch."""
        return _connected_pieces(self.channels)


def build_graph(fabric: Fabric) -> SubnetGraph:
    """Compiles a fabric into arrays.

    A loop-back cable (both ends on one switch) carries no traffic between nodes and is left out.

    Args:
        fabric: A valid fabric.

    Returns:
        Its graph, with everything up.
    """
    is_switch = np.array([node.kind is NodeKind.SWITCH for node in fabric.nodes], bool)
    switch_node = np.flatnonzero(is_switch).astype(np.int32)
    number = np.full(len(fabric.nodes), -1, np.int32)
    number[switch_node] = np.arange(len(switch_node), dtype=np.int32)
    cables = np.array(
        [(link.a.node, link.a.port, link.b.node, link.b.port) for link in fabric.links], np.int32
    ).reshape(-1, 4)
    both = np.concatenate([cables, cables[:, [2, 3, 0, 1]]])
    from_switch, to_switch = is_switch[both[:, 0]], is_switch[both[:, 2]]

    inside = np.flatnonzero(from_switch & to_switch & (both[:, 0] != both[:, 2]))
    inside = inside[np.lexsort((both[inside, 1], both[inside, 0]))]
    source = number[both[inside, 0]]
    first = np.searchsorted(source, np.arange(len(switch_node) + 1)).astype(np.int32)
    place = np.full(len(both), -1, np.int32)
    place[inside] = np.arange(len(inside), dtype=np.int32)
    channels = Channels(
        first,
        source,
        both[inside, 1].astype(np.uint8),
        number[both[inside, 2]],
        place[(inside + len(cables)) % max(1, len(both))],
        np.ones(len(inside), np.uint8),
    )
    ends = np.flatnonzero(~from_switch)
    ends = ends[np.lexsort((both[ends, 1], both[ends, 0]))]
    return SubnetGraph(
        fabric,
        switch_node,
        np.array([fabric.nodes[node].ports for node in switch_node], np.int32),
        channels,
        both[ends, 0],
        both[ends, 1],
        number[both[ends, 2]],
        both[ends, 3].astype(np.uint8),
        np.ones(len(ends), np.uint8),
    )


@kernel
def _channel_by_port(channels: Channels) -> Array:
    table = np.full((len(channels.first) - 1, 256), -1, np.int32)
    for channel in range(len(channels.port)):
        table[channels.source[channel], channels.port[channel]] = channel
    return table


@kernel
def _connected_pieces(channels: Channels) -> Array:
    switches = len(channels.first) - 1
    piece = np.full(switches, -1, np.int32)
    stack = np.empty(switches, np.int32)
    for start in range(switches):
        if piece[start] >= 0:
            continue
        piece[start] = start
        stack[0] = start
        depth = 1
        while depth > 0:
            depth -= 1
            switch = stack[depth]
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                peer = channels.peer[channel]
                if channels.alive[channel] and piece[peer] < 0:
                    piece[peer] = start
                    stack[depth] = peer
                    depth += 1
    return piece
