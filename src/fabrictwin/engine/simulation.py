# SPDX-License-Identifier: Apache-2.0
"""A whole fabric in one process: run it, watch it, read its result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabrictwin.engine.change import change_plan
from fabrictwin.engine.codes import NEVER
from fabrictwin.engine.deadlock import Deadlock
from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.look import Judge
from fabrictwin.engine.partition import Partition, split_evenly
from fabrictwin.engine.plan import Plan, make_plan
from fabrictwin.engine.readout import Readout
from fabrictwin.engine.result import describe_ports, describe_run
from fabrictwin.engine.samples import Samples
from fabrictwin.engine.state import Records
from fabrictwin.model.command import Command, apply_command
from fabrictwin.model.controller import Controller
from fabrictwin.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        time_ps: Fabric time that has been simulated.
        packet_hops: Packets over links since the start.
    """

    time_ps: int
    packet_hops: int


class Simulation:
    """A scenario that is being run.

    Args:
        scenario: What to run.
        forwarding: Its forwarding tables.
        controllers: What runs beside the fabric: subnet managers.
        partition: Who simulates what, None: one shard; the result is the same for any.
        commands: What people do during the run, in order of fabric time.
        trace: Record every packet and flow-control packet, for :meth:`trace`.

    Attributes:
        plan: The scenario, as it is now, and its rows.
        stopped: ``duration``, ``idle`` or ``deadlock``, once it has stopped.
        samples: The time series so far.
    """

    def __init__(
        self,
        scenario: Scenario,
        forwarding: Forwarding,
        controllers: Sequence[Controller] = (),
        *,
        partition: Partition | None = None,
        commands: Sequence[Command] = (),
        trace: bool = False,
    ) -> None:
        self.plan: Plan = make_plan(scenario, forwarding)
        self._group = ShardGroup(
            self.plan, partition or split_evenly(scenario.fabric, 1), controllers, trace=trace
        )
        self._judge = Judge(self.plan)
        self._commands = deque(commands)
        self.samples = Samples(self._judge.grid, self.plan.ports.total)
        self.stopped = "duration"
        self.deadlock: Deadlock | None = None
        self._end_ps = 0

    @property
    def now_ps(self) -> int:
        """Fabric time that has been simulated."""
        return self._group.now_ps

    def run(self, until_ps: int | None = None, observer: Callable[[Progress], None] | None = None) -> None:
        """Runs until a fabric time or the scenario's duration, or until the fabric is idle or deadlocked.

        Args:
            until_ps: Fabric time to stop at, if earlier than the duration.
            observer: Called after every step of the time series.

        Raises:
            InputError: A command does not fit the scenario.
        """
        end_ps = self.plan.scenario.duration_ps
        if until_ps is not None:
            end_ps = min(end_ps, until_ps)
        while self.now_ps < end_ps and self.stopped == "duration":
            self._obey()
            self._step(min(end_ps, self._judge.next_look_ps(self.now_ps), self._next_command_ps))
            if observer is not None:
                observer(Progress(self.now_ps, self.readout().total("packet_hops")))
        if self.stopped == "duration":
            self._end_ps = self.now_ps

    @property
    def _next_command_ps(self) -> int:
        return self._commands[0].at_ps if self._commands else NEVER

    def _obey(self) -> None:
        """Does what people do at the fabric time reached."""
        while self._next_command_ps <= self.now_ps:
            self.plan = change_plan(self.plan, apply_command(self.plan.scenario, self._commands.popleft()))
            self._group.change(self.plan)

    def _step(self, to_ps: int) -> None:
        """Goes on to a fabric time; looks around only where every run of the scenario does."""
        self._group.advance(to_ps)
        self._group.settle()
        if not self._judge.is_due(to_ps):
            return
        self.samples.take(self._group, len(self.plan.flows))
        outlooks = [shard.outlook() for shard in self._group.shards]
        ending = self._judge.look(to_ps, outlooks, self.readout, ordered=self._next_command_ps <= to_ps)
        if ending is not None:
            self.stopped, self._end_ps, self.deadlock = ending.stopped, ending.end_ps, ending.deadlock

    def readout(self) -> Readout:
        """The arrays as they are; exact after :meth:`run`."""
        return Readout(self.plan, self._group)

    def result(self) -> dict[str, Any]:
        """The result, ``fabrictwin.result/1`` but for what only a process knows (wall time, memory)."""
        readout = self.readout()
        self.samples.ports = describe_ports(readout)
        return describe_run(readout, self._end_ps, self.stopped, self.deadlock, self.samples.ports)

    @property
    def message_latencies_ps(self) -> np.ndarray:
        """[messages] latency of every message, in the order of completion."""
        return np.asarray(self.readout().log("latency", "latencies").latency_ps)

    def trace(self) -> tuple[Records, Records]:
        """(packets, flow-control packets) by (start, port): PACKET_TRACE and FCP_TRACE records."""
        parts = [shard.state for shard in self._group.shards]
        packets = np.concatenate([state.trace[: state.g[0].traced] for state in parts]).view(np.recarray)
        fcps = np.concatenate([state.fcp_trace[: state.g[0].traced_fcps] for state in parts]).view(
            np.recarray
        )
        return (
            packets[np.lexsort([packets.port, packets.start_ps])],
            fcps[np.lexsort([fcps.port, fcps.start_ps])],
        )
