# SPDX-License-Identifier: Apache-2.0
"""A whole twin in one process: the subnet manager's decisions and the engine, put together."""

from __future__ import annotations

from fabrictwin.engine.forwarding import BlockWrite, Forwarding
from fabrictwin.engine.partition import Partition, split_evenly
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.reaction import link_changes, react
from fabrictwin.subnet.routing import route_fabric


def decide_forwarding(scenario: Scenario) -> Forwarding:
    """What the subnet manager does before and during a run: routes, and answers to scheduled link changes."""
    routes = route_fabric(scenario.fabric, scenario.routing, scenario.data_vls)
    reaction = react(routes, link_changes(scenario.fabric, scenario.actions), scenario.subnet_manager)
    return Forwarding(
        lft=routes.lft,
        lid_of=routes.lid_of,
        lmc=scenario.routing.lmc,
        service_level=None if routes.path_sl is None else routes.service_level,
        writes=tuple(BlockWrite(*write) for write in reaction.writes),
        events=tuple((event.at_ps, str(event.kind), event.text) for event in reaction.events),
    )


def open_simulation(
    scenario: Scenario, *, shards: int = 1, partition: Partition | None = None, trace: bool = False
) -> Simulation:
    """A scenario, routed and ready to run.

    Args:
        scenario: The scenario.
        shards: Logical processes to split it into, unless a partition says it.
        partition: Who simulates what.
        trace: Record every packet.
    """
    partition = partition or split_evenly(scenario.fabric, shards)
    return Simulation(scenario, decide_forwarding(scenario), partition=partition, trace=trace)
