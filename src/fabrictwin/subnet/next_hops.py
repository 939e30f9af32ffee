# SPDX-License-Identifier: Apache-2.0
"""Outputs of equal cost: which ports a switch may send a destination to.

Switches share *groups* of port numbers, as they do in hardware: a fat tree needs as many groups as a switch
has ports, and a few more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.subnet.graph import NO_PORT, Array, SubnetGraph
from fabrictwin.subnet.hops import Hops
from fabrictwin.subnet.lids import Lids, delivering_switch, is_up

MOST_GROUPS = 1 << 16
NO_GROUP = 0


class NextHops(NamedTuple):
    """The outputs of every switch.

    Attributes:
        group: [switches, lids] uint16, number of a group by destination LID; 0 is the empty one: discard.
        groups: Port numbers of each group, ascending.
    """

    group: Array
    groups: tuple[tuple[int, ...], ...]

    def first_ports(self) -> Array:
        """[switches, lids] uint8: the first port of every group."""
        firsts = np.array([group[0] if group else NO_PORT for group in self.groups], np.uint8)
        ports: Array = firsts[self.group]
        return ports


def single_next_hops(lft: Array) -> NextHops:
    """The outputs of tables that have one for each destination.

    Args:
        lft: [switches, lids] uint8, output port by LID.
    """
    groups = ((), *((port,) for port in range(1, NO_PORT)))
    return NextHops(np.where(lft == NO_PORT, NO_GROUP, lft).astype(np.uint16), groups)


def equal_cost_next_hops(graph: SubnetGraph, lids: Lids, hops: Hops) -> NextHops:
    """All outputs on shortest paths over what is up.

    Args:
        graph: The fabric, with what is down.
        lids: Who has which LID.
        hops: Distances along paths in all directions.

    Raises:
        InputError: The switches need more groups than can be numbered.
    """
    targets = lids.targets
    numbers: dict[tuple[int, ...], int] = {(): NO_GROUP}
    by_switch = _groups_to_switches(graph, hops, numbers)
    group = np.zeros((graph.switch_count, lids.width), np.uint16)
    at = delivering_switch(targets)
    up = is_up(graph, targets)
    group[:, targets.lid[up]] = by_switch[:, at[up]]
    # A switch delivers to its own HCAs by the port that they are on, and itself without one.
    for lid, switch, port in zip(targets.lid[up], at[up], targets.port[up], strict=True):
        ports = (int(port),) if port else ()
        group[switch, lid] = numbers.setdefault(ports, len(numbers))
    if len(numbers) > MOST_GROUPS:
        raise InputError.of(
            f"engine 'ecmp' needs {len(numbers):,} groups of outputs here; the most is {MOST_GROUPS:,}",
            field="routing.engine",
        )
    return NextHops(group, tuple(numbers))


def _groups_to_switches(graph: SubnetGraph, hops: Hops, numbers: dict[tuple[int, ...], int]) -> Array:
    """[switches, destination switches] int64 number of the group; new groups get the next numbers."""
    channels = graph.channels
    switches = graph.switch_count
    found = np.zeros((switches, switches), np.int64)
    for switch in range(switches):
        own = slice(channels.first[switch], channels.first[switch + 1])
        ports = channels.port[own]
        nearer = hops.left[:, channels.peer[own]] + 1 == hops.left[:, [switch]]
        nearer &= channels.alive[own] != 0
        if not nearer.size:
            continue
        rows, row_of = np.unique(nearer, axis=0, return_inverse=True)
        row_numbers = [numbers.setdefault(tuple(sorted(ports[row].tolist())), len(numbers)) for row in rows]
        found[switch] = np.array(row_numbers)[row_of.ravel()]
    return found
