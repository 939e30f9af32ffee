# SPDX-License-Identifier: Apache-2.0
"""How far every switch is from every other, along the paths that a routing engine allows.

An engine allows paths by giving each channel a direction, up or down, such that going up never leads back. A
path may go up, then down, and never up again; with no channel marked up (``min_hop``) every shortest path is
allowed. Since a forwarding table looks at the destination only, a switch that can go down to a destination
must: then whoever arrives from above goes on down, and no packet makes the forbidden turn.

Each entry has a kind: DOWN, UP, or DETOUR where no allowed path exists but the switches are connected.
Detours serve packets that the switch itself sends (management answers of a spine that lost a link); the
engines see to it that no path between two HCAs is one. Whatever the kind, the next switch is one hop nearer,
so tables built from these hops cannot loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import Array, Channels

DOWN = 0
UP = 1
DETOUR = 2
UNREACHABLE = 3

FAR = 1 << 14
"""Hop count of an unreachable switch; one more still fits the type."""


class Directions(NamedTuple):
    """Which channels go up.

    Attributes:
        up: [channels] uint8, 1 where the channel goes up.
        sequence: [switches] int32, every switch after all switches above it.
        rank: [switches] int32, the lowest at the roots.
    """

    up: Array
    sequence: Array
    rank: Array


class Hops(NamedTuple):
    """Distances by destination switch.

    Attributes:
        left: [destination switch, switch] int16, hops to the destination; FAR where unreachable.
        kind: [destination switch, switch] uint8, DOWN, UP, DETOUR or UNREACHABLE.
    """

    left: Array
    kind: Array


class Paths(NamedTuple):
    """Everything that says which next hops are legal."""

    channels: Channels
    directions: Directions
    hops: Hops


class Approach(NamedTuple):
    """The paths towards one destination switch; what the choosing kernels look at.

    Attributes:
        channels: The channels.
        up: [channels] uint8, 1 where the channel goes up.
        left: [switches] int16, hops to the destination.
        kind: [switches] uint8, DOWN, UP, DETOUR or UNREACHABLE.
    """

    channels: Channels
    up: Array
    left: Array
    kind: Array


def undirected(channels: Channels) -> Directions:
    """Directions that forbid nothing: no channel goes up."""
    switches = len(channels.first) - 1
    everybody = np.arange(switches, dtype=np.int32)
    return Directions(np.zeros(len(channels.port), np.uint8), everybody, np.zeros(switches, np.int32))


def directed(channels: Channels, rank: Array) -> Directions:
    """Directions from ranks: up is towards the lower rank, among equals towards the lower switch number.

    Args:
        channels: The channels.
        rank: [switches] int32, the lowest at the roots.

    Returns:
        The directions; their ups are acyclic whatever the ranks.
    """
    switches = len(channels.first) - 1
    sequence = np.lexsort((np.arange(switches), rank)).astype(np.int32)
    place = np.empty(switches, np.int32)
    place[sequence] = np.arange(switches, dtype=np.int32)
    return Directions((place[channels.peer] < place[channels.source]).astype(np.uint8), sequence, rank)


def count_hops(channels: Channels, directions: Directions) -> Hops:
    """Distances between all switches along allowed paths."""
    switches = len(channels.first) - 1
    hops = Hops(np.empty((switches, switches), np.int16), np.empty((switches, switches), np.uint8))
    count_hops_to(channels, directions, np.arange(switches, dtype=np.int32), hops)
    return hops


@kernel
def count_hops_to(channels: Channels, directions: Directions, destinations: Array, hops: Hops) -> None:
    """Fills the rows of some destination switches."""
    queue = np.empty(len(channels.first) - 1, np.int32)
    for destination in destinations:
        left = hops.left[destination]
        kind = hops.kind[destination]
        left[:] = FAR
        kind[:] = UNREACHABLE
        if _spread_down(channels, directions, destination, left, kind, queue) < len(queue):
            _spread_up(channels, directions, left, kind)
            _spread_detours(channels, left, kind)


@inline_kernel
def _spread_down(
    channels: Channels, directions: Directions, destination: int, left: Array, kind: Array, queue: Array
) -> int:
    """Breadth first from the destination against the down channels; returns how many switches it reached."""
    queue[0] = destination
    left[destination] = 0
    kind[destination] = DOWN
    head, tail = 0, 1
    while head < tail:
        switch = queue[head]
        head += 1
        for channel in range(channels.first[switch], channels.first[switch + 1]):
            peer = channels.peer[channel]
            leads_down = channels.alive[channel] and not directions.up[channels.reverse[channel]]
            if leads_down and kind[peer] == UNREACHABLE:
                kind[peer] = DOWN
                left[peer] = left[switch] + 1
                queue[tail] = peer
                tail += 1
    return tail


@inline_kernel
def _spread_up(channels: Channels, directions: Directions, left: Array, kind: Array) -> None:
    """From the top downwards: one hop more than the best switch above."""
    for switch in directions.sequence:
        if kind[switch] == DOWN:
            continue
        for channel in range(channels.first[switch], channels.first[switch + 1]):
            peer = channels.peer[channel]
            if directions.up[channel] and channels.alive[channel] and left[peer] + 1 < left[switch]:
                kind[switch] = UP
                left[switch] = left[peer] + 1


@inline_kernel
def _spread_detours(channels: Channels, left: Array, kind: Array) -> None:
    """Whoever is left: one hop more than the best neighbour, repeated until nothing changes."""
    changed = True
    while changed:
        changed = False
        for switch in range(len(left)):
            if kind[switch] < DETOUR:
                continue
            for channel in range(channels.first[switch], channels.first[switch + 1]):
                peer = channels.peer[channel]
                if channels.alive[channel] and left[peer] + 1 < left[switch]:
                    kind[switch] = DETOUR
                    left[switch] = left[peer] + 1
                    changed = True


@inline_kernel
def approach(paths: Paths, at: int) -> Approach:
    """The paths towards switch ``at``."""
    return Approach(paths.channels, paths.directions.up, paths.hops.left[at], paths.hops.kind[at])


@inline_kernel
def leads_nearer(way: Approach, channel: int) -> bool:
    """Whether a channel is a legal next hop."""
    switch, peer = way.channels.source[channel], way.channels.peer[channel]
    if way.left[peer] + 1 != way.left[switch] or way.kind[peer] > way.kind[switch]:
        return False
    if not way.channels.alive[channel]:
        return False
    return bool(way.kind[switch] == DETOUR or way.up[channel] == way.kind[switch])


@inline_kernel
def next_channels(way: Approach, switch: int, found: Array) -> int:
    """Lists the legal next hops of a switch in port order; returns how many there are."""
    n = 0
    if way.kind[switch] != UNREACHABLE and way.left[switch] > 0:
        for channel in range(way.channels.first[switch], way.channels.first[switch + 1]):
            if leads_nearer(way, channel):
                found[n] = channel
                n += 1
    return n
