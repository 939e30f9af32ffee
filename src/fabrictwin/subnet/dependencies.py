# SPDX-License-Identifier: Apache-2.0
"""The channel dependency graph: which channels paths take one after the other, and its cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import Array, Channels
from fabrictwin.subnet.trees import PathTrees


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
def mark_dependencies(trees: PathTrees, pairs: Pairs, lanes: Array, vl: int) -> Array:
    """Marks the pairs that some path between HCAs takes on a VL.

    Args:
        trees: The paths.
        pairs: Numbers of the pairs.
        lanes: [targets, switches] uint8, VL of the paths by target and sending switch.
        vl: The VL to look at.

    Returns:
        [pairs] uint8, 1 where a path takes both channels.
    """
    marked = np.zeros(pairs.first[-1], np.uint8)
    seen = np.zeros(len(trees.sources), np.bool_)
    for target in range(len(trees.lid)):
        seen[:] = False
        for source in range(len(seen)):
            if trees.sources[source] > 0 and lanes[target, source] == vl:
                _mark_path(trees, pairs, target, source, seen, marked)
    return marked


@inline_kernel
def _mark_path(trees: PathTrees, pairs: Pairs, target: int, source: int, seen: Array, marked: Array) -> None:
    """Marks one path up to the switch from where another one has marked it already."""
    onward = trees.onward[target]
    switch, channel = source, onward[source]
    while channel >= 0 and not seen[switch]:
        seen[switch] = True
        switch = trees.peer[channel]
        following = onward[switch]
        if following >= 0:
            marked[pairs.first[channel] + following - pairs.begin[channel]] = 1
        channel = following


class Search(NamedTuple):
    """A depth-first search for cycles that can go on after the graph has lost some of its pairs.

    Attributes:
        cursor: [channels] int64, next pair of a channel to look at; at its first pair until the channel is
            visited.
        depth_of: [channels] int32, place on the stack; -1 off it.
        stack: [channels] int32, channels of the path that is being followed.
        size: [1] int64, channels on the stack.
        root: [1] int64, next channel to start from.
    """

    cursor: Array
    depth_of: Array
    stack: Array
    size: Array
    root: Array


def start_search(pairs: Pairs) -> Search:
    """A search that has not begun."""
    channels = len(pairs.begin)
    return Search(
        pairs.first[:-1].copy(),
        np.full(channels, -1, np.int32),
        np.empty(channels, np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def find_cycle(pairs: Pairs, weight: Array, search: Search) -> Array:
    """The next cycle of channels, depth first from the lowest channel.

    Args:
        pairs: Numbers of the pairs.
        weight: [pairs], nonzero where the second channel depends on the first.
        search: Where the search stands. The cycle's channels stay on its stack.

    Returns:
        Channels in the order of the cycle; empty if there is none (left).
    """
    while True:
        if search.size[0] == 0 and not _take_root(pairs, search):
            return search.stack[:0].copy()
        channel = search.stack[search.size[0] - 1]
        pair = _next_pair(pairs, weight, channel, search.cursor)
        if pair < 0:
            search.depth_of[channel] = -1
            search.size[0] -= 1
            continue
        following = pair - pairs.first[channel] + pairs.begin[channel]
        if search.depth_of[following] >= 0:
            return search.stack[search.depth_of[following] : search.size[0]].copy()
        if search.cursor[following] == pairs.first[following]:
            _push(search, following)


@kernel
def drop_broken(pairs: Pairs, weight: Array, search: Search) -> None:
    """Takes the part of the stack back that hangs on pairs whose weight is gone; its channels count as
    unvisited."""
    kept = min(1, search.size[0])
    while kept < search.size[0]:
        channel, following = search.stack[kept - 1], search.stack[kept]
        if weight[pairs.first[channel] + following - pairs.begin[channel]] == 0:
            break
        kept += 1
    for i in range(kept, search.size[0]):
        channel = search.stack[i]
        search.depth_of[channel] = -1
        search.cursor[channel] = pairs.first[channel]
    search.size[0] = kept


@inline_kernel
def _push(search: Search, channel: int) -> None:
    search.depth_of[channel] = search.size[0]
    search.stack[search.size[0]] = channel
    search.size[0] += 1


@inline_kernel
def _take_root(pairs: Pairs, search: Search) -> bool:
    """Puts the next unvisited channel on the empty stack; False when there is none."""
    while search.root[0] < len(pairs.begin):
        channel = search.root[0]
        search.root[0] += 1
        if search.cursor[channel] == pairs.first[channel]:
            _push(search, channel)
            return True
    return False


@inline_kernel
def _next_pair(pairs: Pairs, weight: Array, channel: int, cursor: Array) -> int:
    """Moves a channel's cursor past its next pair that has weight; -1 when there is none left."""
    while cursor[channel] < pairs.first[channel + 1]:
        cursor[channel] += 1
        if weight[cursor[channel] - 1]:
            return int(cursor[channel] - 1)
    return -1
