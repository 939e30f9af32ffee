# SPDX-License-Identifier: Apache-2.0
"""``up_down``: paths go up towards the roots, then down, and never up again, so no credit loop can form.

The counterpart of OpenSM's updn. Roots may be given; otherwise they are found
(:mod:`fabrictwin.subnet.ranks`).
"""

from __future__ import annotations

from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.spread import spread_routes
from fabrictwin.subnet.routing.updown import find_directions


def route_up_down(request: RoutingRequest) -> Routes:
    """Routes a fabric along up*/down* paths."""
    found = find_directions(request.graph, request.roots)
    return spread_routes("up_down", request, found.directions, found.hops, deadlock_free=True)
