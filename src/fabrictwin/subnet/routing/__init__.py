# SPDX-License-Identifier: Apache-2.0
"""Routing engines: one file each, one row each in :data:`ROUTING_ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabrictwin.errors import InputError, nearest
from fabrictwin.model.fabric import Fabric
from fabrictwin.model.routing_names import RoutingSpec
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.lids import assign_lids
from fabrictwin.subnet.request import DEFAULT_DATA_VLS, RoutingRequest
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing.dfsssp import route_dfsssp
from fabrictwin.subnet.routing.ecmp import route_ecmp
from fabrictwin.subnet.routing.explicit import route_explicit
from fabrictwin.subnet.routing.ftree import route_ftree
from fabrictwin.subnet.routing.min_hop import route_min_hop
from fabrictwin.subnet.routing.up_down import route_up_down


@dataclass(frozen=True, slots=True)
class RoutingEngine:
    """A row of the table of routing engines.

    Attributes:
        name: What a scenario calls it.
        route: Computes the routes.
        deadlock_free: Whether it promises that no credit loop forms.
        summary: One line for help texts and documentation.
    """

    name: str
    route: Callable[[RoutingRequest], Routes]
    deadlock_free: bool
    summary: str


ROUTING_ENGINES = {
    engine.name: engine
    for engine in (
        RoutingEngine("min_hop", route_min_hop, False, "shortest paths, LIDs spread evenly over the ports"),
        RoutingEngine("up_down", route_up_down, True, "up towards the roots, then down; never deadlocks"),
        RoutingEngine("ftree", route_ftree, True, "fat trees: d-mod-k, no contention for shift patterns"),
        RoutingEngine("dfsssp", route_dfsssp, True, "shortest paths, layered on virtual lanes; any topology"),
        RoutingEngine("ecmp", route_ecmp, False, "RoCE: all shortest paths, chosen by hash, draw or flowlet"),
        RoutingEngine("explicit", route_explicit, False, "the tables in the scenario, for experiments"),
    )
}
"""Every routing engine, by name."""

DEFAULT_ROUTING = RoutingSpec()


def route_fabric(
    fabric: Fabric, routing: RoutingSpec = DEFAULT_ROUTING, data_vls: int = DEFAULT_DATA_VLS
) -> Routes:
    """LIDs and forwarding tables of a fabric, all links up.

    Args:
        fabric: A valid fabric.
        routing: Engine and its options.
        data_vls: Data VLs that paths may use.

    Returns:
        The routes.

    Raises:
        InputError: There is no such engine, or the engine cannot do what is asked.
    """
    engine = ROUTING_ENGINES.get(routing.engine)
    if engine is None:
        raise InputError.of(
            f"no such routing engine {routing.engine!r}{nearest(routing.engine, ROUTING_ENGINES)}",
            field="routing.engine",
        )
    graph = build_graph(fabric)
    roots = tuple(graph.switch_of[node] for node in routing.roots)
    lids = assign_lids(graph, routing.lmc)
    return engine.route(RoutingRequest(graph, lids, data_vls, roots, routing.tables))
