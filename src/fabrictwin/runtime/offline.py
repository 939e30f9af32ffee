# SPDX-License-Identifier: Apache-2.0
"""A whole twin in one process: the subnet manager's decisions and the engine, put together."""

from __future__ import annotations

from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.lids import assign_lids
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import ROUTING_ENGINES
from fabrictwin.subnet.request import RoutingRequest


def route(scenario: Scenario, engine: str | None = None) -> Routes:
    """The routes of a scenario's fabric.

    Args:
        scenario: The scenario.
        engine: Routing engine to use instead of the scenario's.
    """
    graph = build_graph(scenario.fabric)
    request = RoutingRequest(
        graph,
        assign_lids(graph, scenario.routing.lmc),
        data_vls=scenario.data_vls,
        tables=scenario.routing.tables or {},
    )
    return ROUTING_ENGINES[engine or scenario.routing.engine].route(request)


def forwarding_of(scenario: Scenario) -> Forwarding:
    """What the engine needs to know of a scenario's routes."""
    routes = route(scenario)
    return Forwarding(
        lft=routes.lft,
        lid_of=routes.lid_of,
        lmc=scenario.routing.lmc,
        service_level=None if routes.path_sl is None else routes.service_level,
    )


def open_simulation(scenario: Scenario, *, shards: int = 1, trace: bool = False) -> Simulation:
    """A scenario, routed and ready to run.

    Args:
        scenario: The scenario.
        shards: Logical processes to split it into.
        trace: Record every packet.
    """
    return Simulation(scenario, forwarding_of(scenario), shards=shards, trace=trace)
