# SPDX-License-Identifier: Apache-2.0
"""What every service works out of the scenario for itself, the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from fabrictwin.engine.build import Plan, make_plan
from fabrictwin.engine.partition import Partition, split_by_kind
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.offline import describe_forwarding, route_scenario
from fabrictwin.runtime.scenario_source import ScenarioSource

DIRECTOR = "director"


@dataclass(frozen=True)
class Blueprint:
    """A scenario, worked out.

    Attributes:
        source: What it was read from.
        scenario: It.
        plan: The rows of the engine's arrays.
        partition: Which shard simulates which node.
    """

    source: ScenarioSource = field(repr=False)
    scenario: Scenario = field(repr=False)
    plan: Plan = field(repr=False)
    partition: Partition = field(repr=False)

    @property
    def processes(self) -> tuple[str, ...]:
        """Names of all logical processes but the director."""
        return self.partition.names

    @cached_property
    def channels(self) -> tuple[tuple[str, str], ...]:
        """(sender, receiver) of every channel."""
        pairs = [(DIRECTOR, name) for name in self.processes] + [(name, DIRECTOR) for name in self.processes]
        return (*pairs, *self._link_channels(), *self._reaction_channels())

    def _link_channels(self) -> list[tuple[str, str]]:
        """Between shards that a cable joins."""
        owner, names = self.partition.owner, self.partition.names
        ends = {(int(owner[link.a.node]), int(owner[link.b.node])) for link in self.scenario.fabric.links}
        pairs = sorted(ends | {(b, a) for a, b in ends})
        return [(names[a], names[b]) for a, b in pairs if a != b]

    def _reaction_channels(self) -> list[tuple[str, str]]:
        """Between HCAs and congestion control."""
        center = self.partition.congestion_control
        if center is None or self.scenario.congestion_control.algorithm == "none":
            return []
        owners = sorted({int(self.partition.owner[node]) for node in self.scenario.fabric.hcas})
        names = self.partition.names
        return [pair for a in owners for pair in ((names[a], names[center]), (names[center], names[a]))]


def draw_blueprint(source: ScenarioSource) -> Blueprint:
    """Works a scenario out.

    Raises:
        InputError: With every problem of the scenario.
    """
    scenario = source.parse()
    plan = make_plan(scenario, describe_forwarding(scenario, route_scenario(scenario)))
    deployment = scenario.deployment
    partition = split_by_kind(scenario.fabric, deployment.switch_shards, deployment.hca_shards)
    return Blueprint(source, scenario, plan, partition)
