# SPDX-License-Identifier: Apache-2.0
"""LFT blocks on their way from a subnet manager to the switches.

Blocks are written block number by block number over the switches in order of discovery, ``max_wire_smps`` at
a time; each counts from the moment when its answer is due, and is said when it is sent, one ``smp_rtt``
before. A block is not sent any more when the manager has died, and not taken by a switch that does not answer
when it is sent.
"""

from __future__ import annotations

from bisect import insort
from collections import deque

import numpy as np

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import LFT_BLOCK_BYTES, NEVER_PS, LftWrite, Notice, PeerKind, PeerMessage
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming
from fabrictwin.subnet.known_fabric import KnownFabric
from fabrictwin.subnet.outbox import EventKind, Outbox
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.sm_state import SmState
from fabrictwin.subnet.sweep import Sweep


class Schedule:
    """When managers and agents stop and start, as far as is known; that may lie ahead."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def add(self, notice: Notice) -> None:
        """Notes a change."""
        insort(self._values.setdefault((notice.kind, notice.node), []), (notice.at_ps, notice.value))

    def value(self, kind: ActionKind, node: int, at_ps: int) -> int:
        """What holds at a time; 1 before the first change."""
        values = self._values.get((int(kind), node), ())
        return next((value for when_ps, value in reversed(values) if when_ps <= at_ps), 1)

    def stops_between(self, kind: ActionKind, node: int, after_ps: int, until_ps: int) -> bool:
        """Whether there is a stop in a span of time, whose begin does not belong to it."""
        values = self._values.get((int(kind), node), ())
        return any(after_ps < when_ps <= until_ps and value == 0 for when_ps, value in values)


class BlockWriter:
    """The blocks that one manager writes.

    Args:
        plan: Routes with everything up.
        timing: How long things take.
        manager: The manager.
        others: Numbers of the others.
        known: What it knows of the fabric.
        outbox: Where the blocks go.

    Attributes:
        schedule: Who stops when.
        failed_until_ps: Time at which the last block without an answer is given up; -1: all were answered.
    """

    def __init__(
        self,
        plan: Routes,
        timing: SubnetManagerTiming,
        manager: Manager,
        others: tuple[int, ...],
        known: KnownFabric,
        outbox: Outbox,
    ) -> None:
        self._plan = plan
        self._timing = timing
        self._manager = manager
        self._others = others
        self._known = known
        self._outbox = outbox
        self._written = plan.lft.copy()
        self._waiting: deque[tuple[int, int, int]] = deque()
        self._failed: list[tuple[int, int]] = []
        self._count = 0
        self._planned_ps = 0
        self.schedule = Schedule()
        self.failed_until_ps = -1

    @property
    def next_ps(self) -> int:
        """When the next block is sent."""
        return self._waiting[0][0] - self._timing.smp_rtt_ps if self._waiting else NEVER_PS

    def read_tables(self, at_ps: int) -> None:
        """Takes over what another manager has written."""
        self._written = self._known.tables_at(at_ps).copy()

    def plan_blocks(self, routes: Routes, found: Sweep, now_ps: int, begin_ps: int) -> tuple[int, int]:
        """Decides which blocks to write, in which order, and when.

        Args:
            routes: The new routes.
            found: What the sweep found; only switches in it are written to.
            now_ps: Time of the decision.
            begin_ps: When the first block may be sent.

        Returns:
            The number of blocks, and of switches.
        """
        place = np.full(len(routes.lft), -1, np.int32)
        place[found.switches] = np.arange(len(found.switches), dtype=np.int32)
        shape = (len(routes.lft), routes.blocks, LFT_BLOCK_BYTES)
        differs = (self._written.reshape(shape) != routes.lft.reshape(shape)).any(axis=2)
        switch, block = np.nonzero(differs & (place >= 0)[:, None])
        order = np.lexsort((place[switch], block))
        self._planned_ps, self._count = now_ps, len(order)
        for count, entry in enumerate(order.tolist(), start=1):
            at_ps = begin_ps + self._timing.smp_time_ps(count)
            self._waiting.append((at_ps, int(switch[entry]), int(block[entry])))
        chosen = place >= 0
        self._written[chosen] = routes.lft[chosen]
        return len(order), len(np.unique(switch))

    def cancel(self) -> None:
        """Sends nothing more of what was planned."""
        self._waiting.clear()
        self._failed.clear()
        self.failed_until_ps = -1

    def forget_failures(self, at_ps: int) -> None:
        """Blocks without an answer are what the switch had before."""
        tables = self._known.tables_at(at_ps)
        for switch, block in self._failed:
            entries = slice(block * LFT_BLOCK_BYTES, (block + 1) * LFT_BLOCK_BYTES)
            self._written[switch, entries] = tables[switch, entries]
        self._failed.clear()
        self.failed_until_ps = -1

    def send(self) -> None:
        """Sends the next block."""
        at_ps, switch, block = self._waiting[0]
        sent_ps = at_ps - self._timing.smp_rtt_ps
        node = int(self._plan.graph.switch_node[switch])
        if self.schedule.stops_between(ActionKind.SM_STATE, self._manager.node, self._planned_ps, sent_ps):
            self.cancel()
            return
        self._waiting.popleft()
        name = self._plan.graph.switch_name(switch)
        if not self.schedule.value(ActionKind.SMA_STATE, node, sent_ps):
            self._failed.append((switch, block))
            self.failed_until_ps = sent_ps + self._timing.no_answer_ps
            self._outbox.log(
                self.failed_until_ps, EventKind.SMP_TIMEOUT, f"no answer from {name} to its LFT block {block}"
            )
            return
        self._write(at_ps, node, block, switch)
        self._log_first_and_last(at_ps, f"LFT block {block} of {name} written")

    def _write(self, at_ps: int, node: int, block: int, switch: int) -> None:
        first = block * LFT_BLOCK_BYTES
        ports = self._written[switch, first : first + LFT_BLOCK_BYTES].tobytes()
        self._outbox.write(LftWrite(at_ps, node, block, ports))
        self._known.expect_block(at_ps, node, block, ports)
        if self._others:
            me = self._manager
            message = PeerMessage(
                at_ps, PeerKind.LFT_BLOCK, SmState.MASTER, me.priority, me.guid, node, block, ports
            )
            self._outbox.tell(self._others, message)

    def _log_first_and_last(self, at_ps: int, what: str) -> None:
        left = len(self._waiting)
        if left == self._count - 1:
            self._outbox.log(at_ps, EventKind.LFT_WRITTEN, f"{what}, the first of {self._count}")
        elif left == 0:
            self._outbox.log(at_ps, EventKind.LFT_WRITTEN, f"{what}, the last of {self._count}")
