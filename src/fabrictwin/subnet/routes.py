# SPDX-License-Identifier: Apache-2.0
"""What routing produces: a linear forwarding table for every switch, and the service level of every path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import PortRef
from fabrictwin.subnet.graph import NO_PORT, Array, SubnetGraph
from fabrictwin.subnet.hops import Directions, Hops
from fabrictwin.subnet.lids import LFT_BLOCK_LIDS, Lids, delivering_switch, is_up
from fabrictwin.subnet.next_hops import NextHops
from fabrictwin.subnet.request import RoutingRequest


@dataclass(frozen=True, eq=False)
class Routes:
    """The forwarding tables of a subnet.

    Attributes:
        engine: Name of the routing engine.
        request: What was asked: the fabric, with what is down, and its LIDs.
        lft: [switches, ``lids.width``] uint8, output port by LID; 0 for the switch itself, 255 for drop.
            Switches are in the order of ``fabric.switches``.
        path_sl: [switches, ``lids.width``] uint8, service level of paths by the switch that the sender is
            cabled to and the destination LID; None where every path is on SL 0.
        vls: Data VLs that the paths need.
        deadlock_free: Whether the engine promises that paths between HCAs cannot wait for each other in a
            circle.
        dependencies: By VL, [pairs] nonzero where some path takes both channels of a pair
            (:mod:`fabrictwin.subnet.dependencies`); empty if the engine does not look at them.
        hops: Distances along the paths; None for tables that were given, not computed.
        directions: Directions that the paths obey; None like ``hops``.
        next_hops: All outputs of equal cost, of which ``lft`` has the first; None where there is only one.
    """

    engine: str
    request: RoutingRequest
    lft: Array
    deadlock_free: bool
    path_sl: Array | None = None
    vls: int = 1
    dependencies: tuple[Array, ...] = field(default=(), repr=False)
    hops: Hops | None = field(default=None, repr=False)
    directions: Directions | None = field(default=None, repr=False)
    next_hops: NextHops | None = field(default=None, repr=False)

    @property
    def graph(self) -> SubnetGraph:
        """The fabric."""
        return self.request.graph

    @property
    def lids(self) -> Lids:
        """Who has which LID."""
        return self.request.lids

    @property
    def blocks(self) -> int:
        """LFT blocks of a switch."""
        return int(self.lft.shape[1]) // LFT_BLOCK_LIDS

    def lft_blocks(self) -> Array:
        """[switches, blocks, 64] uint8: the tables as the SM writes them, one SMP a block."""
        return self.lft.reshape(len(self.lft), self.blocks, LFT_BLOCK_LIDS)

    @cached_property
    def lid_of(self) -> dict[PortRef, int]:
        """Base LID by (node index, HCA port), and by (node index, 0) for switches."""
        graph, lids = self.graph, self.lids
        ends = zip(graph.end_node.tolist(), graph.end_hca_port.tolist(), lids.end_lid.tolist(), strict=True)
        switches = zip(graph.switch_node.tolist(), lids.switch_lid.tolist(), strict=True)
        return {PortRef(node, port): lid for node, port, lid in ends} | {
            PortRef(node, 0): lid for node, lid in switches
        }

    def service_level(self, source: PortRef, destination_lid: int) -> int:
        """The SL that a path record would give an HCA port for a destination."""
        if self.path_sl is None:
            return 0
        return int(self.path_sl[self.graph.end_switch[self.graph.end_of[source]], destination_lid])

    def channels_of(self, source: int, destination_lid: int) -> Iterator[int]:
        """Channels that a packet takes from a switch to a LID, as far as it gets.

        Args:
            source: Switch number.
            destination_lid: The LID.

        Yields:
            Channel numbers; at most one per switch, so a looping table ends too.
        """
        switch = source
        for _ in range(self.graph.switch_count):
            channel = int(self.graph.channel_at[switch, self.lft[switch, destination_lid]])
            if channel < 0 or not self.graph.channels.alive[channel]:
                return
            yield channel
            switch = int(self.graph.channels.peer[channel])


def empty_lft(lids: Lids) -> Array:
    """PathTrees tables that drop everything but what a switch delivers itself."""
    graph, targets = lids.graph, lids.targets
    lft = np.full((graph.switch_count, lids.width), NO_PORT, np.uint8)
    up = is_up(graph, targets)
    lft[delivering_switch(targets)[up], targets.lid[up]] = targets.port[up]
    return lft


def changed_blocks(old: Array, new: Array) -> list[tuple[int, int]]:
    """LFT blocks that differ.

    Args:
        old: [switches, width] uint8 tables.
        new: Tables of the same shape.

    Returns:
        (switch, block) pairs in that order.

    Raises:
        InputError: The shapes differ, so the tables are not of one subnet.
    """
    if old.shape != new.shape:
        raise InputError.of(f"forwarding tables of different subnets: {old.shape} and {new.shape} entries")
    differs = (old != new).reshape(len(old), old.shape[1] // LFT_BLOCK_LIDS, LFT_BLOCK_LIDS).any(axis=2)
    return [(int(switch), int(block)) for switch, block in np.argwhere(differs)]
