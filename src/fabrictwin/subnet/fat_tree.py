# SPDX-License-Identifier: Apache-2.0
"""The fat tree in a fabric: parents in order, the radix of each level, and an index for every HCA port.

Switches that share parents form a *group* (in a k-ary tree: the leaves of a pod, or the aggregation switches
of one column). All members of a group number their parents alike, so that a member that lacks a cable still
agrees with the others on where each destination belongs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import Array, Channels, SubnetGraph
from fabrictwin.subnet.hops import Directions
from fabrictwin.subnet.lids import Targets, delivering_switch

LARGEST_STRIDE = 1 << 40


class FatTree(NamedTuple):
    """What d-mod-k needs to know; what its kernels take.

    Attributes:
        level: [switches] int32, levels below the top.
        radix: [switches] int64, ports upwards of a complete member of the switch's group; 0 at the top.
        slot_first: [switches + 1] int32, first slot of a switch; it has ``radix`` of them.
        slot: [slots] int32, channel upwards by digit; -1 where there is no cable.
        stride: [destination switch, level] int64, what to divide an index by to get the digit of a level.
        place: [targets] int64, place of the destination in tree order.
    """

    level: Array
    radix: Array
    slot_first: Array
    slot: Array
    stride: Array
    place: Array


def read_fat_tree(graph: SubnetGraph, directions: Directions, targets: Targets) -> FatTree:
    """Reads the tree from the live cables.

    Args:
        graph: The fabric.
        directions: Which channels go up.
        targets: The destinations to index.

    Returns:
        The tree; any fabric with directions has one, be it a poor one.
    """
    channels = graph.channels
    level, parent = _levels(channels, directions)
    group = _groups(channels, directions)
    column, columns, parallel = _columns(channels, directions, group)
    radix = np.where(parent < 0, 0, columns[group] * parallel[group])
    slot_first = np.concatenate([[0], np.cumsum(radix)]).astype(np.int32)
    slot = np.full(slot_first[-1], -1, np.int32)
    _fill_slots(channels, directions, column, parallel[group], slot_first, slot)
    stride = _strides(parent, level, radix)
    return FatTree(level, radix, slot_first, slot, stride, _index_targets(level, parent, group, targets))


def _index_targets(level: Array, parent: Array, group: Array, targets: Targets) -> Array:
    """Counts endpoints from left to right, deepest switches first; a switch's own place is its number."""

    def place(switch: int) -> tuple[int, ...]:
        chain = [switch]
        above = switch
        while parent[above] >= 0:
            chain.append(int(group[above]))
            above = parent[above]
        return (-int(level[switch]), *reversed(chain))

    order = np.array(sorted(range(len(level)), key=place), np.int64)
    ends = np.diff(targets.first) - 1
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(ends[order]) - ends[order]
    at = delivering_switch(targets)
    index: Array = before[at] + np.arange(len(at)) - targets.first[at] - 1
    return np.where(targets.end < 0, at, index)


@inline_kernel
def is_rung(channels: Channels, directions: Directions, channel: int) -> bool:
    """Whether a channel leads to a parent; a channel between equals goes up as well, but is no part of the
    tree."""
    rank = directions.rank
    return bool(channels.alive[channel] and rank[channels.peer[channel]] < rank[channels.source[channel]])


@inline_kernel
def divide_indices(tree: FatTree, at: int, indices: Array) -> Array:
    """[level, target] uint32: the indices of a destination switch divided by its strides; the digit is the
    rest."""
    quotients = np.empty((tree.stride.shape[1], len(indices)), np.uint32)
    for level in range(len(quotients)):
        for i in range(len(indices)):
            quotients[level, i] = indices[i] // tree.stride[at, level]
    return quotients


@kernel
def _levels(channels: Channels, directions: Directions) -> tuple[Array, Array]:
    """Levels below the top, and the first parent that is one level up (-1 at the top), of every switch."""
    switches = len(channels.first) - 1
    level = np.zeros(switches, np.int32)
    parent = np.full(switches, -1, np.int32)
    for switch in directions.sequence:
        for channel in range(channels.first[switch], channels.first[switch + 1]):
            peer = channels.peer[channel]
            if is_rung(channels, directions, channel) and level[peer] + 1 > level[switch]:
                level[switch] = level[peer] + 1
                parent[switch] = peer
    return level, parent


@kernel
def _groups(channels: Channels, directions: Directions) -> Array:
    """[switches] the smallest switch that is linked by shared parents, directly or through others."""
    switches = len(channels.first) - 1
    above = np.arange(2 * switches)
    for channel in range(len(channels.port)):
        if is_rung(channels, directions, channel):
            member = _top_of(above, channels.source[channel])
            parent = _top_of(above, switches + channels.peer[channel])
            above[max(member, parent)] = min(member, parent)
    group = np.empty(switches, np.int64)
    for switch in range(switches):
        group[switch] = _top_of(above, switch)
    return group


@kernel
def _top_of(above: Array, node: int) -> int:
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


@kernel
def _columns(channels: Channels, directions: Directions, group: Array) -> tuple[Array, Array, Array]:
    """Column of each parent in its group, and per group its number of columns and the most parallel
    cables."""
    switches = len(group)
    column = np.full(switches, -1, np.int64)
    columns = np.zeros(switches, np.int64)
    parallel = np.ones(switches, np.int64)
    cables = np.zeros(switches, np.int64)
    for parent in range(switches):
        begin, end = channels.first[parent], channels.first[parent + 1]
        for channel in range(begin, end):
            member = channels.peer[channel]
            if is_rung(channels, directions, channels.reverse[channel]):
                if column[parent] < 0:
                    column[parent] = columns[group[member]]
                    columns[group[member]] += 1
                cables[member] += 1
                parallel[group[member]] = max(parallel[group[member]], cables[member])
        for channel in range(begin, end):
            cables[channels.peer[channel]] = 0
    return column, columns, parallel


@kernel
def _fill_slots(
    channels: Channels, directions: Directions, column: Array, parallel: Array, slot_first: Array, slot: Array
) -> None:
    """Puts each cable upwards into the slot of its digit."""
    for switch in range(len(column)):
        for channel in range(channels.first[switch], channels.first[switch + 1]):
            if is_rung(channels, directions, channel):
                digit = slot_first[switch] + column[channels.peer[channel]] * parallel[switch]
                while slot[digit] >= 0:
                    digit += 1
                slot[digit] = channel


@kernel
def _strides(parent: Array, level: Array, radix: Array) -> Array:
    switches = len(parent)
    stride = np.ones((switches, level.max() + 1 if switches else 1), np.int64)
    for switch in range(switches):
        above = switch
        step = 1
        while parent[above] >= 0:
            step = min(step * int(radix[above]), LARGEST_STRIDE)
            above = parent[above]
            stride[switch, level[above]] = step
    return stride
