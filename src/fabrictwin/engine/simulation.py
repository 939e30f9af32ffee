# SPDX-License-Identifier: Apache-2.0
"""A whole fabric in one process: run it, watch it, read its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabrictwin.engine.build import Plan, make_plan
from fabrictwin.engine.deadlock import Deadlock, find_deadlock
from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.partition import Partition, split_evenly
from fabrictwin.engine.readout import Readout
from fabrictwin.engine.result import describe_ports, describe_run
from fabrictwin.engine.samples import Samples
from fabrictwin.engine.state import Records
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_US

PATIENCE_PS = 10 * PS_PER_US
"""An output must have been blocked for this long before a deadlock is looked for."""


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
        partition: Who simulates what, None: one shard; the result is the same for any.
        trace: Record every packet and flow-control packet, for :meth:`trace`.

    Attributes:
        stopped: ``duration``, ``idle`` or ``deadlock``, once it has stopped.
        samples: The time series so far.
    """

    def __init__(
        self,
        scenario: Scenario,
        forwarding: Forwarding,
        *,
        partition: Partition | None = None,
        trace: bool = False,
    ) -> None:
        self.plan: Plan = make_plan(scenario, forwarding)
        self._group = ShardGroup(self.plan, partition or split_evenly(scenario.fabric, 1), trace=trace)
        self.samples = Samples(self.plan.ports.total, len(self.plan.flows))
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
        """
        end_ps = self.plan.scenario.duration_ps
        if until_ps is not None:
            end_ps = min(end_ps, until_ps)
        while self._group.now_ps < end_ps and self.stopped == "duration":
            self._step(min(end_ps, self.samples.next_ps(self._group.now_ps)))
            if observer is not None:
                observer(Progress(self._group.now_ps, self.readout().total("packet_hops")))
        if self.stopped == "duration":
            self._end_ps = self._group.now_ps

    def _step(self, to_ps: int) -> None:
        """Goes on to a fabric time; looks around only where every run of the scenario does."""
        self._group.advance(to_ps)
        self._group.settle()
        if not self.samples.is_due(to_ps) and to_ps < self.plan.scenario.duration_ps:
            return
        blocked_since_ps = self.samples.take(self._group)
        readout = self.readout()
        if readout.is_idle:
            self.stopped = "idle"
            self._end_ps = readout.last_live_ps
            return
        if blocked_since_ps >= to_ps - PATIENCE_PS:
            return
        self.deadlock = find_deadlock(readout, PATIENCE_PS)
        if self.deadlock is not None and self._waits_forever():
            self.stopped = "deadlock"
            self._end_ps = to_ps

    def _waits_forever(self) -> bool:
        """Whether no head-of-queue lifetime will break a deadlock."""
        return all(
            model.hoq_life_ps is None and model.leaf_hoq_life_ps is None
            for model in self.plan.scenario.switch_models.values()
        )

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
