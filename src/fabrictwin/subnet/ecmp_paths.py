# SPDX-License-Identifier: Apache-2.0
"""What can be said of all paths of equal cost at once: their shares of the cables, and their dependencies."""

from __future__ import annotations

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.dependencies import Pairs
from fabrictwin.subnet.graph import Array, Channels
from fabrictwin.subnet.hops import FAR, Hops


@kernel
def share_paths(channels: Channels, hops: Hops, served: Array) -> Array:
    """Paths per channel if every switch sends an equal part of what comes to each of its next hops.

    Args:
        channels: The channels.
        hops: Distances along shortest paths.
        served: [switches] live HCA ports.

    Returns:
        [channels] float64, of the paths of every ordered pair of HCA ports.
    """
    paths = np.zeros(len(channels.port))
    for at in range(len(served)):
        if served[at] == 0:
            continue
        left = hops.left[at]
        flow = served * float(served[at])
        for switch in np.argsort(-left):
            count = 0
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                count += _is_next(channels, left, channel)
            if count == 0 or left[switch] >= FAR:
                continue
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                if _is_next(channels, left, channel):
                    paths[channel] += flow[switch] / count
                    flow[channels.peer[channel]] += flow[switch] / count
    return paths


@kernel
def mark_all_dependencies(channels: Channels, hops: Hops, served: Array, pairs: Pairs) -> Array:
    """Marks the pairs that some shortest path between HCAs takes.

    Args:
        channels: The channels.
        hops: Distances along shortest paths.
        served: [switches] live HCA ports.
        pairs: Numbers of the pairs.

    Returns:
        [pairs] uint8, 1 where a path takes both channels.
    """
    marked = np.zeros(pairs.first[-1], np.uint8)
    queue = np.empty(len(served), np.int32)
    for at in range(len(served)):
        if served[at] == 0:
            continue
        left = hops.left[at]
        reached = served > 0
        tail = 0
        for switch in np.flatnonzero(reached):
            queue[tail] = switch
            tail += 1
        head = 0
        while head < tail:
            switch = queue[head]
            head += 1
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                if not _is_next(channels, left, channel):
                    continue
                peer = channels.peer[channel]
                _mark_following(channels, left, channel, pairs, marked)
                if not reached[peer]:
                    reached[peer] = True
                    queue[tail] = peer
                    tail += 1
    return marked


@inline_kernel
def _is_next(channels: Channels, left: Array, channel: int) -> bool:
    nearer = left[channels.peer[channel]] + 1 == left[channels.source[channel]]
    return bool(nearer and channels.alive[channel] != 0)


@inline_kernel
def _mark_following(channels: Channels, left: Array, channel: int, pairs: Pairs, marked: Array) -> None:
    peer = channels.peer[channel]
    for following in range(channels.first[peer], channels.first[peer + 1]):
        if _is_next(channels, left, following):
            marked[pairs.first[channel] + following - pairs.begin[channel]] = 1
