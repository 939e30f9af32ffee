# SPDX-License-Identifier: Apache-2.0
"""Can packets wait for each other in a circle? The channel dependency graph and its cycles.

A packet that holds buffer space behind channel *a* and needs channel *b* next makes *a* depend on *b*. If the
dependencies of one virtual lane close a circle, all its buffers can fill up with packets that wait for one
another for ever (Dally and Seitz 1987). The dependencies counted here are those of data packets between HCAs;
each VL is looked at on its own, since a packet stays on its VL when every switch maps SLs alike.

Where switches choose among outputs of equal cost, every choice counts. On lossless Ethernet the circle is one
of buffers that pause one another.

An acyclic graph proves that there is no deadlock. A cycle proves that there can be one, not that there will
be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabrictwin.subnet.dependencies import find_cycle, mark_dependencies, pairs_of, start_search
from fabrictwin.subnet.ecmp_paths import mark_all_dependencies
from fabrictwin.subnet.graph import Array
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.trees import PathTrees, lanes_of, path_trees

DROP_VL = 15
"""SL2VL entry that drops the packet (models.md section 1.5)."""


@dataclass(frozen=True, slots=True)
class CreditLoops:
    """The verdict.

    Attributes:
        cycle: A circle of channels, each waiting for the next and the last for the first, as ``sw0/2 vl0``;
            empty if there is none.
        dependencies: Number of distinct dependencies, all VLs together.
        vls: VLs that carry paths.
    """

    cycle: tuple[str, ...]
    dependencies: int
    vls: tuple[int, ...]

    @property
    def found(self) -> bool:
        """Whether packets can deadlock."""
        return bool(self.cycle)


def check_credit_loops(
    routes: Routes, trees: PathTrees | None = None, sl2vl: Sequence[int] | None = None
) -> CreditLoops:
    """Looks for a credit loop.

    Args:
        routes: PathTrees tables and service levels.
        trees: The paths of these tables, if they are at hand.
        sl2vl: VL by SL, 16 entries, the same in every switch; SL n on VL n if None.

    Returns:
        The verdict, with the first cycle found on the lowest VL that has one.
    """
    trees = trees or path_trees(routes)
    lanes = lanes_of(routes, trees)
    if sl2vl is not None:
        lanes = np.array(sl2vl, np.uint8)[lanes]
    vls = tuple(vl for vl in np.unique(lanes).tolist() if vl != DROP_VL)
    pairs = pairs_of(routes.graph.channels)
    dependencies = 0
    cycle: tuple[str, ...] = ()
    for vl in vls:
        marked = _mark(routes, trees, lanes, vl)
        dependencies += int(np.count_nonzero(marked))
        if not cycle:
            channels = find_cycle(pairs, marked, start_search(pairs))
            cycle = tuple(f"{routes.graph.channel_name(channel)} vl{vl}" for channel in channels)
    return CreditLoops(cycle, dependencies, vls)


def _mark(routes: Routes, trees: PathTrees, lanes: Array, vl: int) -> Array:
    """[pairs] uint8: the dependencies of a VL. Paths of equal cost are all on the same one."""
    graph, pairs = routes.graph, pairs_of(routes.graph.channels)
    if routes.next_hops is None or routes.hops is None:
        return mark_dependencies(trees, pairs, lanes, vl)
    return mark_all_dependencies(graph.channels, routes.hops, graph.served, pairs)
