# SPDX-License-Identifier: Apache-2.0
"""What every service works out of the scenario for itself, the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from fabrictwin.engine.partition import CONGESTION_CONTROL, Partition, split_by_kind
from fabrictwin.engine.plan import Plan, make_plan
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.offline import describe_forwarding, route_scenario
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.subnet.manager import SubnetManager, shortest_sweep_ps
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.underlay import Underlay, lookaheads_ps

DIRECTOR = "director"
MOST_LINKS_IN_TURNS = 1024
"""Cables of a fabric whose windows cost less to simulate than to pass on."""
MOST_LINKS_OF_A_PAIR_IN_TURNS = 128
"""The same where there are two shards in all, which can have a processor each."""


@dataclass(frozen=True)
class Blueprint:
    """A scenario, worked out.

    Attributes:
        source: What it was read from.
        scenario: It.
        routes: How it is routed with everything up.
        plan: The rows of the engine's arrays.
        partition: Which shard simulates which node.
    """

    source: ScenarioSource = field(repr=False)
    scenario: Scenario = field(repr=False)
    routes: Routes = field(repr=False)
    plan: Plan = field(repr=False)
    partition: Partition = field(repr=False)

    @property
    def managers(self) -> tuple[str, ...]:
        """Names of the subnet managers; on RoCE of the one process that computes the underlay."""
        return tuple(f"sm{number}" for number in range(1 if self._is_roce else len(self.scenario.managers)))

    @property
    def _is_roce(self) -> bool:
        return self.scenario.fabric.technology is Technology.ROCE

    @property
    def processes(self) -> tuple[str, ...]:
        """Names of all logical processes but the director."""
        return (*self.partition.names, *self.managers)

    def make_manager(self, number: int) -> SubnetManager | Underlay:
        """A subnet manager, or the underlay, with everything up."""
        scenario = self.scenario
        if self._is_roce:
            return Underlay(self.routes, scenario.routing)
        return SubnetManager(self.routes, scenario.subnet_manager, scenario.managers, number)

    @property
    def takes_turns(self) -> bool:
        """Whether its shards work one at a time: a small fabric gains nothing from two at once."""
        most = MOST_LINKS_OF_A_PAIR_IN_TURNS if len(self.shards) == 2 else MOST_LINKS_IN_TURNS
        return len(self.scenario.fabric.links) <= most

    @property
    def shards(self) -> tuple[str, ...]:
        """Names of the logical processes that hold nodes of the fabric: switches before HCAs."""
        return tuple(name for name in self.partition.names if name != CONGESTION_CONTROL)

    @property
    def notice_lookahead_ps(self) -> int:
        """From a change of a cable to the first time that a subnet manager has to know."""
        if self._is_roce:
            return lookaheads_ps(self.scenario.routing)[0]
        timing = self.scenario.subnet_manager
        return min(timing.trap_latency_ps, shortest_sweep_ps(self.routes, timing))

    @property
    def write_lookahead_ps(self) -> int:
        """From a subnet manager's decision to its first effect on a switch."""
        if self._is_roce:
            return lookaheads_ps(self.scenario.routing)[1]
        return self.scenario.subnet_manager.smp_rtt_ps

    @cached_property
    def channels(self) -> tuple[tuple[str, str], ...]:
        """(sender, receiver) of every channel."""
        pairs = [(DIRECTOR, name) for name in self.processes] + [(name, DIRECTOR) for name in self.processes]
        return (*pairs, *self._link_channels(), *self._reaction_channels(), *self._subnet_channels())

    def _link_channels(self) -> list[tuple[str, str]]:
        """Between shards that a cable joins."""
        owner, names = self.partition.owner, self.partition.names
        ends = {(int(owner[link.a.node]), int(owner[link.b.node])) for link in self.scenario.fabric.links}
        pairs = sorted(ends | {(b, a) for a, b in ends})
        return [(names[a], names[b]) for a, b in pairs if a != b]

    def _reaction_channels(self) -> list[tuple[str, str]]:
        """Between HCAs and congestion control."""
        center = self.partition.congestion_control
        if center is None or self.scenario.congestion_control.algorithm != "ib_cca":
            return []
        names = self.partition.names
        return [
            pair
            for shard in self._shards_of(self.scenario.fabric.hcas)
            for pair in ((shard, names[center]), (names[center], shard))
        ]

    def _subnet_channels(self) -> list[tuple[str, str]]:
        """Between switches and subnet managers, and among these."""
        managers = self.managers
        shards = self._shards_of(self.scenario.fabric.switches)
        pairs = [pair for name in managers for shard in shards for pair in ((shard, name), (name, shard))]
        return pairs + [(name, other) for name in managers for other in managers if name != other]

    def _shards_of(self, nodes: tuple[int, ...]) -> list[str]:
        owners = sorted({int(self.partition.owner[node]) for node in nodes})
        return [self.partition.names[number] for number in owners]


def draw_blueprint(source: ScenarioSource) -> Blueprint:
    """Works a scenario out.

    Raises:
        InputError: With every problem of the scenario.
    """
    scenario = source.parse()
    routes = route_scenario(scenario)
    plan = make_plan(scenario, describe_forwarding(scenario, routes))
    deployment = scenario.deployment
    partition = split_by_kind(scenario.fabric, deployment.switch_shards, deployment.hca_shards)
    return Blueprint(source, scenario, routes, plan, partition)
