# SPDX-License-Identifier: Apache-2.0
"""How evenly the paths between all pairs of HCA ports lie on the cables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabrictwin.jit import kernel
from fabrictwin.subnet.ecmp_paths import share_paths
from fabrictwin.subnet.graph import Array
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.trees import PathTrees, path_trees


@dataclass(frozen=True, eq=False)
class Balance:
    """Paths per channel, over the live channels between switches.

    Attributes:
        paths: [channels], paths between HCA ports that take the channel; parts of paths where switches
            choose among outputs of equal cost.
        most: The most paths on any channel.
        mean: Mean number of paths.
        spread: Standard deviation of the number of paths.
        unused: Channels without any path.
    """

    paths: Array
    most: float
    mean: float
    spread: float
    unused: int


def measure_balance(routes: Routes, trees: PathTrees | None = None) -> Balance:
    """Counts the paths of every ordered pair of HCA ports, to every LID of the receiving one.

    Args:
        routes: PathTrees tables.
        trees: The paths of these tables, if they are at hand.

    Returns:
        The counts; paths that end nowhere count as far as they get.
    """
    graph = routes.graph
    if routes.next_hops is not None and routes.hops is not None:
        paths = share_paths(graph.channels, routes.hops, graph.served)
    else:
        paths = _count_paths(trees or path_trees(routes), len(graph.channels.port))
    alive = paths[graph.channels.alive != 0]
    if not len(alive):
        return Balance(paths, 0, 0.0, 0.0, 0)
    return Balance(
        paths, alive.max().item(), float(alive.mean()), float(alive.std()), int((alive == 0).sum())
    )


@kernel
def _count_paths(trees: PathTrees, channels: int) -> Array:
    paths = np.zeros(channels, np.int64)
    for target in range(len(trees.lid)):
        onward = trees.onward[target]
        for source in range(len(trees.sources)):
            weight = trees.sources[source]
            switch, steps = source, 0
            while weight > 0 and onward[switch] >= 0 and steps < len(onward):
                paths[onward[switch]] += weight
                switch = trees.peer[onward[switch]]
                steps += 1
    return paths
