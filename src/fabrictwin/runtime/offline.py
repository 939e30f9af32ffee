# SPDX-License-Identifier: Apache-2.0
"""A whole twin in one process: the subnet manager's decisions and the engine, put together."""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.forwarding import BlockWrite, Forwarding
from fabrictwin.engine.partition import Partition, split_evenly
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import DIRECT_KINDS, Controller, Notice, Spoken
from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.manager import SubnetManager
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.routing import route_fabric


def decide_forwarding(scenario: Scenario) -> Forwarding:
    """What the subnet managers do before and during a run: routes, and answers to what is scheduled."""
    routes = route_fabric(scenario.fabric, scenario.routing, scenario.data_vls)
    said = play_managers(scenario, routes)
    writes = sorted(write for spoken in said for write in spoken.writes)
    events = sorted((event for spoken in said for event in spoken.events), key=lambda event: event.at_ps)
    return Forwarding(
        lft=routes.lft,
        lid_of=routes.lid_of,
        lmc=scenario.routing.lmc,
        service_level=None if routes.path_sl is None else routes.service_level,
        writes=tuple(
            BlockWrite(at_ps, node, block, np.frombuffer(ports, np.uint8))
            for at_ps, node, block, ports in writes
        ),
        events=tuple(events),
    )


def play_managers(scenario: Scenario, routes: Routes) -> list[Spoken]:
    """Runs the subnet managers to the end of a scenario whose changes are all known."""
    numbers = range(len(scenario.managers))
    managers: list[Controller] = [
        SubnetManager(routes, scenario.subnet_manager, scenario.managers, number) for number in numbers
    ]
    notices = [
        Notice(action.at_ps, action.target.node, action.target.port, action.kind, action.value)
        for action in scenario.actions
        if action.kind is ActionKind.LINK_STATE or action.kind in DIRECT_KINDS
    ]
    for manager in managers:
        manager.hear(notices)
    said: list[Spoken] = []
    while managers:
        next_ps = min(manager.next_ps for manager in managers)
        if next_ps > scenario.duration_ps:
            break
        for number, manager in enumerate(managers):
            manager.advance(next_ps + manager.peer_lookahead_ps)
            spoken = manager.speak()
            said.append(spoken)
            for other, messages in spoken.messages.items():
                managers[other].hear_peer(number, messages)
    return said


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
