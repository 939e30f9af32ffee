# SPDX-License-Identifier: Apache-2.0
"""How a subnet manager answers links that go down and come up: traps, sweeps, and LFT blocks in time.

**Models.** A switch that sees a link change sends trap 128, which reaches the SM after ``trap_latency`` if
the forwarding tables of that moment lead there. If they do not, the next periodic light sweep notices the
change. A heavy sweep follows at once, or after the one that is running; its MADs travel ``max_wire_smps`` at
a time, one ``smp_rtt`` each. It sees the fabric as it was when the sweep began. Then the blocks that differ
are written, block number by block number over the switches in order of discovery, again ``max_wire_smps`` at
a time; a block counts from the moment when its answer is due. Computing routes takes no fabric time.

**Not modelled.** Lost SMPs, trap repetition, multicast, LIDs that change.

**Source.** OpenSM's behaviour and defaults (models.md section 1.9); the time model is computed from them (C).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import NamedTuple

import numpy as np

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import Fabric, Link
from fabrictwin.model.subnet_manager import SubnetManagerTiming
from fabrictwin.subnet.graph import Array, SubnetGraph
from fabrictwin.subnet.lids import LFT_BLOCK_LIDS
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.routes import Routes, changed_blocks
from fabrictwin.subnet.sweep import Sweep, sweep
from fabrictwin.units import PS_PER_S, show_time

SWEEP_INTERVAL_PS = 10 * PS_PER_S
"""OpenSM's ``sweep_interval``: time between light sweeps (models.md section 1.9)."""


class LinkChange(NamedTuple):
    """A cable goes down or comes up.

    Attributes:
        at_ps: When.
        link: Which.
        up: Whether it is up from then on.
    """

    at_ps: int
    link: Link
    up: bool


class LftWrite(NamedTuple):
    """One block of a forwarding table, as an SMP writes it.

    Attributes:
        at_ps: Fabric time from which the switch uses it.
        node: Node index of the switch.
        block: Number of the block.
        ports: [64] uint8, output ports.
    """

    at_ps: int
    node: int
    block: int
    ports: Array


class EventKind(StrEnum):
    """What the subnet manager does."""

    TRAP = "trap"
    TRAP_LOST = "trap_lost"
    SWEEP = "sweep"
    ROUTED = "routed"
    SUBNET_UP = "subnet_up"


class SubnetEvent(NamedTuple):
    """One line of the event log.

    Attributes:
        at_ps: Fabric time.
        kind: What happened.
        text: In words.
    """

    at_ps: int
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class Reaction:
    """Everything that the subnet manager does in answer to some changes.

    Attributes:
        writes: LFT blocks in order of time.
        events: Events in order of time.
        routes: The routes at the end.
    """

    writes: tuple[LftWrite, ...]
    events: tuple[SubnetEvent, ...]
    routes: Routes


def link_changes(fabric: Fabric, actions: Iterable[Action]) -> list[LinkChange]:
    """The actions that a subnet manager notices, in order of time."""
    changes = [
        LinkChange(action.at_ps, fabric.link_at[action.target], action.value != 0)
        for action in actions
        if action.kind is ActionKind.LINK_STATE
    ]
    return sorted(changes, key=lambda change: change.at_ps)


def react(
    plan: Routes, changes: Sequence[LinkChange], timing: SubnetManagerTiming, sm_node: int | None = None
) -> Reaction:
    """Plays the subnet manager through a list of changes.

    Args:
        plan: Routes with everything up, installed before the first change.
        changes: What changes, in order of time.
        timing: How long things take.
        sm_node: Node index of the SM; the first HCA, or else the first switch, if None.

    Returns:
        The writes and events.
    """
    if sm_node is None:
        sm_node = int(plan.graph.end_node[0]) if len(plan.graph.end_node) else int(plan.graph.switch_node[0])
    manager = _Manager(plan, timing, sm_node)
    for number, change in enumerate(changes):
        manager.schedule(change.at_ps, _Step.CHANGE, number)
    manager.run(changes)
    events = sorted(manager.events, key=lambda event: event.at_ps)
    return Reaction(tuple(manager.writes), tuple(events), manager.routes)


class _Step(IntEnum):
    """What happens first at equal times."""

    DONE = 0
    CHANGE = 1
    NOTICE = 2


class _Manager:
    """A subnet manager in fabric time; ``written`` is what it has told the switches, ``installed`` what they
    use."""

    def __init__(self, plan: Routes, timing: SubnetManagerTiming, sm_node: int) -> None:
        self._plan = plan
        self._timing = timing
        self._sm_node = sm_node
        self._queue: list[tuple[int, _Step, int]] = []
        self._down: set[Link] = set()
        self._happened = self._seen = -1
        self._busy = self._waiting = False
        self._written = plan.lft.copy()
        self._installed = plan.lft.copy()
        self._applied = 0
        self.routes = plan
        self.writes: list[LftWrite] = []
        self.events: list[SubnetEvent] = []

    def schedule(self, at_ps: int, step: _Step, number: int = 0) -> None:
        """Puts a step on the calendar."""
        heapq.heappush(self._queue, (at_ps, step, number))

    def run(self, changes: Sequence[LinkChange]) -> None:
        """Plays everything on the calendar."""
        while self._queue:
            at_ps, step, number = heapq.heappop(self._queue)
            if step is _Step.CHANGE:
                self._change(at_ps, number, changes)
            elif step is _Step.NOTICE and number > self._seen:
                self._waiting = True
            elif step is _Step.DONE:
                self._busy = False
            if self._waiting and not self._busy:
                self._sweep(at_ps)

    def _graph(self) -> SubnetGraph:
        return self._plan.graph.with_down(self._down)

    def _change(self, at_ps: int, number: int, changes: Sequence[LinkChange]) -> None:
        """Cables change at one moment; the SM hears of each by a trap, or notices it at its next light
        sweep."""
        numbers = [number]
        while self._queue and self._queue[0][:2] == (at_ps, _Step.CHANGE):
            numbers.append(heapq.heappop(self._queue)[2])
        for number in numbers:
            (self._down.discard if changes[number].up else self._down.add)(changes[number].link)
        self._happened = numbers[-1]
        self._apply_writes(at_ps)
        for number in numbers:
            self._send_trap(number, changes[number])

    def _send_trap(self, number: int, change: LinkChange) -> None:
        fabric = self._plan.graph.fabric
        cable = f"{fabric.port_name(change.link.a)} - {fabric.port_name(change.link.b)}"
        what = f"{cable} {'up' if change.up else 'down'}"
        sender = self._find_sender(change.link)
        if sender is not None:
            notice_ps = change.at_ps + self._timing.trap_latency_ps
            text = f"trap 128 from {fabric.nodes[sender].name}: {what}"
            self.events.append(SubnetEvent(notice_ps, EventKind.TRAP, text))
        else:
            notice_ps = (change.at_ps // SWEEP_INTERVAL_PS + 1) * SWEEP_INTERVAL_PS
            text = f"{what}: no trap reaches the SM; the light sweep at {show_time(notice_ps)} will notice"
            self.events.append(SubnetEvent(change.at_ps, EventKind.TRAP_LOST, text))
        self.schedule(notice_ps, _Step.NOTICE, number)

    def _find_sender(self, link: Link) -> int | None:
        """The switch at either end whose trap gets through; None if neither does."""
        graph = self._graph()
        for end in (link.a, link.b):
            if end.node in graph.switch_of and self._trap_arrives(graph, graph.switch_of[end.node]):
                return end.node
        return None

    def _trap_arrives(self, graph: SubnetGraph, switch: int) -> bool:
        lid, home, port = self._sm_address(graph)
        if home < 0:
            return False
        installed = replace(self._plan, request=replace(self._plan.request, graph=graph), lft=self._installed)
        for channel in installed.channels_of(switch, lid):
            switch = int(graph.channels.peer[channel])
        return switch == home and int(self._installed[home, lid]) == port

    def _sm_address(self, graph: SubnetGraph) -> tuple[int, int, int]:
        """LID of the SM, the switch that delivers it (-1 if its cable is down), and that switch's port."""
        lids = self._plan.lids
        if self._sm_node in graph.switch_of:
            home = graph.switch_of[self._sm_node]
            return int(lids.switch_lid[home]), home, 0
        for end in np.flatnonzero((graph.end_node == self._sm_node) & (graph.end_alive != 0)):
            return int(lids.end_lid[end]), int(graph.end_switch[end]), int(graph.end_port[end])
        return 0, -1, 0

    def _sweep(self, at_ps: int) -> None:
        """Discovers, routes, and writes the blocks that differ."""
        self._busy, self._waiting, self._seen = True, False, self._happened
        found = sweep(self._graph(), self._sm_node)
        routed_ps = at_ps + self._smp_time_ps(found.mads)
        text = f"heavy sweep: {found.switch_infos} switches of {len(found.nodes)} nodes, {found.mads} MADs"
        self.events.append(SubnetEvent(at_ps, EventKind.SWEEP, text))
        self.routes = reroute(self._plan, self._down)
        blocks = self._order_blocks(found)
        for count, (switch, block) in enumerate(blocks, start=1):
            entries = slice(block * LFT_BLOCK_LIDS, (block + 1) * LFT_BLOCK_LIDS)
            ports = self.routes.lft[switch, entries].copy()
            self._written[switch, entries] = ports
            write_ps = routed_ps + self._smp_time_ps(count)
            self.writes.append(LftWrite(write_ps, int(self._plan.graph.switch_node[switch]), block, ports))
        text = f"{len(blocks)} LFT blocks to write on {len({switch for switch, _ in blocks})} switches"
        self.events.append(SubnetEvent(routed_ps, EventKind.ROUTED, text))
        done_ps = routed_ps + self._smp_time_ps(len(blocks))
        self.events.append(SubnetEvent(done_ps, EventKind.SUBNET_UP, "forwarding tables written"))
        self.schedule(done_ps, _Step.DONE)

    def _order_blocks(self, found: Sweep) -> list[tuple[int, int]]:
        """Blocks of discovered switches that differ from what was written, in the order in which to write
        them."""
        place = {int(switch): position for position, switch in enumerate(found.switches)}
        differ = [block for block in changed_blocks(self._written, self.routes.lft) if block[0] in place]
        return sorted(differ, key=lambda entry: (entry[1], place[entry[0]]))

    def _smp_time_ps(self, smps: int) -> int:
        """Time for some SMPs to be answered, a few under way at a time."""
        return -(-smps // self._timing.max_wire_smps) * self._timing.smp_rtt_ps

    def _apply_writes(self, until_ps: int) -> None:
        while self._applied < len(self.writes) and self.writes[self._applied].at_ps <= until_ps:
            write = self.writes[self._applied]
            first = write.block * LFT_BLOCK_LIDS
            switch = self._plan.graph.switch_of[write.node]
            self._installed[switch, first : first + LFT_BLOCK_LIDS] = write.ports
            self._applied += 1
