# SPDX-License-Identifier: Apache-2.0
"""The channel dependency graph: which channels paths take one after the other, and its cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.forwarding import Forwarding
from fabrictwin.subnet.graph import Array, Channels


class Pairs(NamedTuple):
    """Numbers for all pairs of channels that can follow one another: ``first[a] + b - begin[a]`` is that of
    (a, b).

    Attributes:
        first: [channels + 1] int64, number of the first pair of a channel.
        begin: [channels] int32, first channel that leaves the switch where a channel ends.
    """

    first: Array
    begin: Array


def pairs_of(channels: Channels) -> Pairs:
    """Numbers the pairs of a fabric."""
    begin = channels.first[channels.peer]
    sizes = channels.first[channels.peer + 1] - begin
    return Pairs(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), begin)


@kernel
def mark_dependencies(forwarding: Forwarding, pairs: Pairs, lanes: Array, vl: int) -> Array:
    """Marks the pairs that some path between HCAs takes on a VL.

    Args:
        forwarding: The paths.
        pairs: Numbers of the pairs.
        lanes: [targets, switches] uint8, VL of the paths by target and sending switch.
        vl: The VL to look at.

    Returns:
        [pairs] uint8, 1 where a path takes both channels.
    """
    marked = np.zeros(pairs.first[-1], np.uint8)
    seen = np.zeros(len(forwarding.sources), np.bool_)
    for target in range(len(forwarding.lid)):
        seen[:] = False
        for source in range(len(seen)):
            if forwarding.sources[source] > 0 and lanes[target, source] == vl:
                _mark_path(forwarding, pairs, target, source, seen, marked)
    return marked


@inline_kernel
def _mark_path(
    forwarding: Forwarding, pairs: Pairs, target: int, source: int, seen: Array, marked: Array
) -> None:
    """Marks one path up to the switch from where another one has marked it already."""
    onward = forwarding.onward[target]
    switch, channel = source, onward[source]
    while channel >= 0 and not seen[switch]:
        seen[switch] = True
        switch = forwarding.peer[channel]
        following = onward[switch]
        if following >= 0:
            marked[pairs.first[channel] + following - pairs.begin[channel]] = 1
        channel = following


@kernel
def find_cycle(pairs: Pairs, marked: Array) -> Array:
    """A cycle of channels, found depth first from the lowest channel; empty if there is none.

    Args:
        pairs: Numbers of the pairs.
        marked: [pairs], nonzero where the second channel depends on the first.

    Returns:
        Channels in the order of the cycle.
    """
    channels = len(pairs.begin)
    cursor = pairs.first[:-1].copy()
    depth_of = np.full(channels, -1, np.int32)
    stack = np.empty(channels, np.int32)
    for root in range(channels):
        depth = 0
        if cursor[root] == pairs.first[root]:
            stack[0], depth_of[root], depth = root, 0, 1
        while depth > 0:
            channel = stack[depth - 1]
            pair = _next_marked(pairs, marked, channel, cursor)
            if pair < 0:
                depth_of[channel] = -1
                depth -= 1
                continue
            following = np.int32(pair - pairs.first[channel] + pairs.begin[channel])
            if depth_of[following] >= 0:
                return stack[depth_of[following] : depth].copy()
            if cursor[following] == pairs.first[following]:
                stack[depth], depth_of[following] = following, depth
                depth += 1
    return stack[:0].copy()


@inline_kernel
def _next_marked(pairs: Pairs, marked: Array, channel: int, cursor: Array) -> int:
    """Moves a channel's cursor past its next marked pair; -1 when there is none left."""
    while cursor[channel] < pairs.first[channel + 1]:
        cursor[channel] += 1
        if marked[cursor[channel] - 1]:
            return int(cursor[channel] - 1)
    return -1
