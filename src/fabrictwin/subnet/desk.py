# SPDX-License-Identifier: Apache-2.0
"""What a subnet manager works with."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming
from fabrictwin.subnet.block_writer import BlockWriter
from fabrictwin.subnet.calendar import Calendar
from fabrictwin.subnet.known_fabric import KnownFabric
from fabrictwin.subnet.outbox import Outbox
from fabrictwin.subnet.routes import Routes


@dataclass(frozen=True)
class Desk:
    """The parts that a subnet manager's decisions need.

    Attributes:
        plan: Routes with everything up.
        timing: How long things take.
        managers: All subnet managers, itself among them.
        number: Its own number.
        known: What it knows of the fabric.
        calendar: What it has before it.
        writer: The blocks that it writes.
        outbox: What it says.
    """

    plan: Routes
    timing: SubnetManagerTiming
    managers: tuple[Manager, ...]
    number: int
    known: KnownFabric
    calendar: Calendar
    writer: BlockWriter
    outbox: Outbox

    def name(self, node: int) -> str:
        """Name of a node."""
        return self.plan.graph.fabric.nodes[node].name

    def host(self, number: int) -> str:
        """Name of the node that a manager runs on."""
        return self.name(self.managers[number].node)

    def next_light_sweep(self, at_ps: int) -> int:
        """When a master sweeps lightly for the next time."""
        interval_ps = self.timing.sweep_interval_ps
        return (at_ps // interval_ps + 1) * interval_ps

    def rounds_ps(self, requests: int) -> int:
        """Time until requests without an answer are given up, ``max_wire_smps`` at a time."""
        return -(-requests // self.timing.max_wire_smps) * self.timing.no_answer_ps
