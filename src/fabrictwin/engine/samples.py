# SPDX-License-Identifier: Apache-2.0
"""A time series of a run at equal steps of fabric time, for pictures.

The step starts small and doubles whenever the series is full, so that a run of any length has a series of
between half
and all of its places. The steps depend only on the scenario, so every sharding makes the same ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine.codes import NEVER
from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.observe import add_flows, add_ports
from fabrictwin.units import PS_PER_US

MOST_SAMPLES = 256
FEWEST_SAMPLES = 16
MOST_BYTES = 64 << 20
FIRST_STEP_PS = PS_PER_US


class Samples:
    """The series; counters count from the start of the run.

    Attributes:
        step_ps: Fabric time between two samples.
        ports: The ports of the columns, as in the result.
    """

    def __init__(self, ports: int, flows: int) -> None:
        self._ports, self._flows = ports, flows
        width = 8 * (3 * ports + flows)
        self._most = max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_BYTES // max(1, width)) // 2 * 2)
        self.step_ps = FIRST_STEP_PS
        self.ports: list[dict[str, Any]] = []
        self._rows: list[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    def is_due(self, time_ps: int) -> bool:
        """Whether a sample is due at a fabric time."""
        return time_ps % self.step_ps == 0

    def next_ps(self, now_ps: int) -> int:
        """Fabric time of the next sample."""
        return (now_ps // self.step_ps + 1) * self.step_ps

    def take(self, group: ShardGroup) -> int:
        """Adds a sample; a full series keeps every second one and goes on with twice the step.

        Returns:
            Fabric time since which the longest waiting candidate waits for credits, NEVER if none does.
        """
        sent, waiting, waited_ps = (np.zeros(self._ports, np.int64) for _ in range(3))
        delivered = np.zeros(self._flows, np.int64)
        since_ps = NEVER
        for shard in group.shards:
            since_ps = min(since_ps, add_ports(shard.state, group.now_ps, sent, waiting, waited_ps))
            add_flows(shard.state, delivered)
        self._rows.append((group.now_ps, sent, waiting, waited_ps, delivered))
        if len(self._rows) == self._most:
            self._rows = self._rows[1::2]
            self.step_ps *= 2
        return since_ps

    def _column(self, number: int) -> np.ndarray:
        return np.stack([row[number] for row in self._rows])

    @property
    def times_ps(self) -> np.ndarray:
        """[n] fabric time of each sample."""
        return np.array([row[0] for row in self._rows], np.int64)

    @property
    def port_xmit_bytes(self) -> np.ndarray:
        """[n, ports] bytes sent by each port."""
        return self._column(1)

    @property
    def queued_bytes(self) -> np.ndarray:
        """[n, ports] bytes that wait for each output."""
        return self._column(2)

    @property
    def xmit_wait_ps(self) -> np.ndarray:
        """[n, ports] time that each port has waited for credits."""
        return self._column(3)

    @property
    def delivered_bytes(self) -> np.ndarray:
        """[n, flows] payload delivered to each flow's receiver."""
        return self._column(4)
