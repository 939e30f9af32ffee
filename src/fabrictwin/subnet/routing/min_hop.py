# SPDX-License-Identifier: Apache-2.0
"""``min_hop``: every shortest path is allowed, and paths are spread evenly over them.

The counterpart of OpenSM's minhop. It knows nothing of deadlock: on rings, meshes and damaged trees its paths
may form a credit loop.
"""

from __future__ import annotations

from fabrictwin.subnet.hops import count_hops, undirected
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.spread import spread_routes


def route_min_hop(request: RoutingRequest) -> Routes:
    """Routes a fabric along shortest paths."""
    directions = undirected(request.graph.channels)
    hops = count_hops(request.graph.channels, directions)
    return spread_routes("min_hop", request, directions, hops, deadlock_free=False)
