# SPDX-License-Identifier: Apache-2.0
"""A whole twin in one process: the subnet managers' decisions and the engine, put together."""

from __future__ import annotations

from collections.abc import Sequence

from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.engine.partition import Partition, split_evenly
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.command import Command
from fabrictwin.model.controller import Controller
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.manager import SubnetManager
from fabrictwin.subnet.next_hops import single_next_hops
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import route_fabric
from fabrictwin.subnet.underlay import Underlay


def route_scenario(scenario: Scenario) -> Routes:
    """The routes of a scenario with everything up."""
    return route_fabric(scenario.fabric, scenario.routing, scenario.data_vls)


def describe_forwarding(scenario: Scenario, routes: Routes) -> Forwarding:
    """Routes, as the engine takes them."""
    is_roce = scenario.fabric.technology is Technology.ROCE
    group, groups = (routes.next_hops or single_next_hops(routes.lft)) if is_roce else (None, ())
    return Forwarding(
        lft=routes.lft,
        lid_of=routes.lid_of,
        lmc=scenario.routing.lmc,
        service_level=None if routes.path_sl is None else routes.service_level,
        group=group,
        groups=groups,
    )


def start_managers(scenario: Scenario, routes: Routes) -> Sequence[Controller]:
    """The subnet managers of a scenario, or the underlay of a RoCE fabric, with everything up."""
    if scenario.fabric.technology is Technology.ROCE:
        return [Underlay(routes, scenario.routing)]
    numbers = range(len(scenario.managers))
    return [SubnetManager(routes, scenario.subnet_manager, scenario.managers, number) for number in numbers]


def open_simulation(
    scenario: Scenario,
    *,
    shards: int = 1,
    partition: Partition | None = None,
    commands: Sequence[Command] = (),
    trace: bool = False,
) -> Simulation:
    """A scenario, routed and ready to run.

    Args:
        scenario: The scenario.
        shards: Logical processes to split it into, unless a partition says it.
        partition: Who simulates what.
        commands: What people do during the run.
        trace: Record every packet.
    """
    routes = route_scenario(scenario)
    return Simulation(
        scenario,
        describe_forwarding(scenario, routes),
        start_managers(scenario, routes),
        partition=partition or split_evenly(scenario.fabric, shards),
        commands=commands,
        trace=trace,
    )
