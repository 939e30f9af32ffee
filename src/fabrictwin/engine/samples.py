# SPDX-License-Identifier: Apache-2.0
"""A time series of a run at equal steps of fabric time, for pictures: one sample a look-around."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.look import LookGrid
from fabrictwin.engine.observe import add_flows, add_ports


class Samples:
    """The series; counters count from the start of the run.

    Args:
        grid: When the run looks around.
        ports: Ports of the fabric.

    Attributes:
        ports: The ports of the columns, as in the result.
    """

    def __init__(self, grid: LookGrid, ports: int) -> None:
        self._ports = ports
        self._most = grid.most
        self.ports: list[dict[str, Any]] = []
        self._rows: list[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    def take(self, group: ShardGroup, flows: int) -> None:
        """Adds a sample at a look-around; a full series keeps every second one, as the grid does.

        Args:
            group: The fabric, settled.
            flows: Flows that it has by now.
        """
        sent, waiting, waited_ps = (np.zeros(self._ports, np.int64) for _ in range(3))
        delivered = np.zeros(flows, np.int64)
        for shard in group.shards:
            add_ports(shard.state, group.now_ps, sent, waiting, waited_ps)
            add_flows(shard.state, delivered)
        self._rows.append((group.now_ps, sent, waiting, waited_ps, delivered))
        if len(self._rows) == self._most:
            self._rows = self._rows[1::2]

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
        """[n, flows] payload delivered to each flow's receiver; 0 before a flow was added."""
        delivered = np.zeros((len(self._rows), len(self._rows[-1][4])), np.int64)
        for index, row in enumerate(self._rows):
            delivered[index, : len(row[4])] = row[4]
        return delivered
