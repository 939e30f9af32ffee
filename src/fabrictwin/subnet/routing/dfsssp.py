# SPDX-License-Identifier: Apache-2.0
"""``dfsssp``: balanced shortest paths on any topology, free of deadlock by virtual lanes.

The paths are those of ``min_hop``. Then each path gets a service level, which is its virtual lane, such that
no lane has a credit loop (:mod:`fabrictwin.subnet.layers`). Trees need one lane, irregular fabrics a few.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabrictwin.errors import InputError
from fabrictwin.subnet.dependencies import find_cycle, mark_dependencies, pairs_of, start_search
from fabrictwin.subnet.layers import layer_paths
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.min_hop import route_min_hop
from fabrictwin.subnet.trees import lanes_of, path_trees


def route_dfsssp(request: RoutingRequest) -> Routes:
    """Routes a fabric along shortest paths on several virtual lanes.

    Raises:
        InputError: It takes more data VLs than there are.
    """
    routes = route_min_hop(request)
    return put_on_lanes(replace(routes, engine="dfsssp", deadlock_free=True))


def put_on_lanes(routes: Routes) -> Routes:
    """Gives paths the service levels that keep every virtual lane free of cycles; none gets a lower one than
    it has.

    Raises:
        InputError: It takes more data VLs than there are.
    """
    trees = path_trees(routes)
    lanes = lanes_of(routes, trees)
    weights = layer_paths(trees, routes.graph.channels, lanes)
    if len(weights) > routes.request.data_vls:
        raise InputError.of(
            f"engine 'dfsssp' needs {len(weights)} data VLs here, but {routes.request.data_vls} are "
            "available; use 'up_down', or switches and HCAs with more VLs",
            field="routing.engine",
        )
    path_sl = np.zeros(routes.lft.shape, np.uint8)
    path_sl[:, trees.lid] = lanes.T
    return replace(routes, path_sl=path_sl, vls=len(weights), dependencies=tuple(weights))


def fits_on_lanes(plan: Routes, routes: Routes) -> bool:
    """Whether changed tables can keep the service levels of the plan.

    Args:
        plan: Routes whose lanes are free of cycles.
        routes: The same with other tables.

    Returns:
        True if even with the dependencies of both no lane has a cycle.
    """
    differs = (plan.lft != routes.lft).any(axis=0)[plan.lids.targets.lid]
    trees = path_trees(routes, differs)
    lanes = lanes_of(routes, trees)
    pairs = pairs_of(routes.graph.channels)
    for vl, weight in enumerate(plan.dependencies):
        both = mark_dependencies(trees, pairs, lanes, vl) | (weight != 0)
        if len(find_cycle(pairs, both, start_search(pairs))):
            return False
    return True
