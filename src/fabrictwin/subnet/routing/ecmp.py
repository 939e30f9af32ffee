# SPDX-License-Identifier: Apache-2.0
"""``ecmp``: what BGP leaves in the tables of routed Ethernet, every output on a shortest path.

Which of them a packet takes is the switch's choice: a hash of the flow, or a draw.
"""

from __future__ import annotations

from fabrictwin.subnet.hops import count_hops, undirected
from fabrictwin.subnet.next_hops import equal_cost_next_hops
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes


def route_ecmp(request: RoutingRequest) -> Routes:
    """Routes a fabric along all shortest paths.

    Raises:
        InputError: The switches need more groups than can be numbered.
    """
    graph = request.graph
    directions = undirected(graph.channels)
    hops = count_hops(graph.channels, directions)
    next_hops = equal_cost_next_hops(graph, request.lids, hops)
    lft = next_hops.first_ports()
    lft[range(graph.switch_count), request.lids.switch_lid] = 0
    return Routes("ecmp", request, lft, False, hops=hops, directions=directions, next_hops=next_hops)
