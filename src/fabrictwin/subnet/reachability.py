# SPDX-License-Identifier: Apache-2.0
"""Who can reach whom over the forwarding tables as they are, whoever computed them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from fabrictwin.jit import inline_kernel, kernel
from fabrictwin.subnet.graph import Array
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.trees import DELIVERED, PathTrees, path_trees

EXAMPLES = 10
"""Failing pairs that a report names; the rest are counted."""

_LOOP, _DROP, _UNKNOWN = -1, -2, -3


class Failure(StrEnum):
    """Why a packet does not arrive."""

    DROP = "no route"
    LOOP = "forwarding loop"


@dataclass(frozen=True, slots=True)
class UnreachablePair:
    """A source, a destination, and why packets between them do not arrive.

    Attributes:
        source: Port name of the sending HCA, or the name of a switch.
        destination: Port name of the HCA.
        lid: The destination's LID.
        failure: Why.
    """

    source: str
    destination: str
    lid: int
    failure: Failure


@dataclass(frozen=True, eq=False)
class Reachability:
    """What a walk along every path found.

    Attributes:
        pairs: Ordered pairs (source HCA port, destination LID of another HCA port) that were walked.
        unreachable: How many of them fail.
        hops: Number of pairs by number of switches passed; ``hops[0]`` is 0.
        switch_unreachable: (switch, destination LID) pairs that fail, for packets that switches send.
        examples: The first failing pairs, in order of destination LID and source.
    """

    pairs: int
    unreachable: int
    hops: Array
    switch_unreachable: int
    examples: tuple[UnreachablePair, ...]


def check_reachability(routes: Routes, trees: PathTrees | None = None) -> Reachability:
    """Walks from every switch to every LID of an HCA port.

    Args:
        routes: PathTrees tables, from an engine or from elsewhere.
        trees: The paths of these tables, if they are at hand.

    Returns:
        Counts of pairs that are reached and not, and hop counts. HCA ports that are down are no sources and
        no destinations; HCAs cabled back to back need no route and are left out.
    """
    trees = trees or path_trees(routes)
    hops = np.zeros(routes.graph.switch_count + 1, np.int64)
    failed = np.zeros((EXAMPLES, 3), np.int64)
    pairs, unreachable, lonely = _walk_all(trees, hops, failed)
    examples = tuple(_describe(routes, trees, *row) for row in failed[: min(EXAMPLES, lonely)].tolist())
    return Reachability(pairs, unreachable, np.trim_zeros(hops, "b"), lonely, examples)


def _describe(routes: Routes, trees: PathTrees, target: int, switch: int, why: int) -> UnreachablePair:
    graph = routes.graph
    destination = int(trees.end[target])
    others = np.flatnonzero((graph.end_switch == switch) & (graph.end_alive != 0))
    others = others[others != destination]
    source = graph.end_name(int(others[0])) if len(others) else graph.switch_name(switch)
    failure = Failure.LOOP if why == _LOOP else Failure.DROP
    return UnreachablePair(source, graph.end_name(destination), int(trees.lid[target]), failure)


@kernel
def _walk_all(trees: PathTrees, hops: Array, failed: Array) -> tuple[int, int, int]:
    """Fills the hop counts of pairs and the first failures; returns pairs, failing pairs, failing switch
    pairs."""
    pairs, unreachable, lonely = 0, 0, 0
    passed = np.empty(len(trees.sources), np.int32)
    for target in range(len(trees.lid)):
        passed[:] = _UNKNOWN
        for switch in range(len(passed)):
            weight = trees.sources[switch] - (switch == trees.at[target])
            result = _walk(trees, target, switch, passed)
            pairs += weight
            if result > 0:
                hops[result] += weight
                continue
            if lonely < len(failed):
                failed[lonely, 0], failed[lonely, 1], failed[lonely, 2] = target, switch, result
            lonely += 1
            unreachable += weight
    return pairs, unreachable, lonely


@inline_kernel
def _walk(trees: PathTrees, target: int, start: int, passed: Array) -> int:
    """Switches passed from a switch to a destination, or why it fails; remembers the answer for all on the
    way."""
    onward = trees.onward[target]
    switch, steps = start, 0
    while passed[switch] == _UNKNOWN and onward[switch] >= 0:
        passed[switch] = _LOOP
        switch = trees.peer[onward[switch]]
        steps += 1
    if passed[switch] == _UNKNOWN:
        passed[switch] = 1 if onward[switch] == DELIVERED else _DROP
    result = passed[switch]
    end, switch = switch, start
    while switch != end:
        passed[switch] = result + steps if result > 0 else result
        steps -= 1
        switch = trees.peer[onward[switch]]
    return int(passed[start])
