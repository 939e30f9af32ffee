# SPDX-License-Identifier: Apache-2.0
"""What a subnet manager knows of its fabric: what is down, who answers, and the tables that switches use."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from fabrictwin.model.fabric import Link, PortRef
from fabrictwin.model.subnet_manager import Manager
from fabrictwin.subnet.graph import Array, SubnetGraph
from fabrictwin.subnet.lids import LFT_BLOCK_LIDS
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.sweep import Sweep, sweep


@dataclass(frozen=True, eq=False)
class Survey:
    """What a heavy sweep finds.

    Attributes:
        found: Nodes that answer.
        silent: Requests to nodes that do not, one a cable.
        down: Cables that were down.
        mute: Nodes that did not answer.
    """

    found: Sweep
    silent: int
    down: frozenset[Link]
    mute: frozenset[int]


class KnownFabric:
    """The fabric as it is at the time up to which a subnet manager has heard of it.

    Attributes:
        down: Cables that are down.
        mute: Nodes that do not answer SMPs.
    """

    def __init__(self, plan: Routes, manager: Manager) -> None:
        self._plan = plan
        self._manager = manager
        self.down: set[Link] = set()
        self.mute: set[int] = set()
        self._cables: SubnetGraph | None = None
        self._survey: Survey | None = None
        self._tables = plan.lft.copy()
        self._coming: list[tuple[int, int, int, bytes, bool]] = []
        self._is_foreign = False

    def set_link(self, end: PortRef, up: bool) -> Link | None:
        """A cable goes up or down; the cable if that is news, else None."""
        link = self._plan.graph.fabric.link_at.get(end)
        if link is None or up is not (link in self.down):
            return None
        (self.down.discard if up else self.down.add)(link)
        self._cables = self._survey = None
        return link

    def set_answering(self, node: int, answers: bool) -> bool:
        """A node begins or ceases to answer; whether that is news."""
        if answers is not (node in self.mute):
            return False
        (self.mute.discard if answers else self.mute.add)(node)
        self._survey = None
        return True

    def expect_block(
        self, at_ps: int, node: int, block: int, ports: bytes, *, is_foreign: bool = False
    ) -> None:
        """A switch will use a block from a fabric time on, which this or another manager has written."""
        heapq.heappush(self._coming, (at_ps, node, block, ports, is_foreign))

    def has_foreign_blocks(self, at_ps: int) -> bool:
        """Whether another manager has written blocks by a fabric time, since the last call."""
        self.tables_at(at_ps)
        is_foreign, self._is_foreign = self._is_foreign, False
        return is_foreign

    def tables_at(self, at_ps: int) -> Array:
        """[switches, width] uint8: the tables in use at a fabric time, which is never before the last one."""
        switch_of = self._plan.graph.switch_of
        while self._coming and self._coming[0][0] <= at_ps:
            _, node, block, ports, is_foreign = heapq.heappop(self._coming)
            self._is_foreign = self._is_foreign or is_foreign
            first = block * LFT_BLOCK_LIDS
            self._tables[switch_of[node], first : first + LFT_BLOCK_LIDS] = np.frombuffer(ports, np.uint8)
        return self._tables

    @property
    def cables(self) -> SubnetGraph:
        """The graph of what is cabled and up, whoever answers."""
        if self._cables is None:
            self._cables = self._plan.graph.with_down(self.down)
        return self._cables

    def survey(self) -> Survey:
        """What a heavy sweep would find now."""
        if self._survey is None:
            graph = self._plan.graph.with_down(self.down, self.mute) if self.mute else self.cables
            found = sweep(graph, self._manager.node)
            silent = self._count_silent(found) if self.mute else 0
            self._survey = Survey(found, silent, frozenset(self.down), frozenset(self.mute))
        return self._survey

    def reaches(self, node: int) -> bool:
        """Whether SMPs get from the manager to a node that answers."""
        return bool((self.survey().found.nodes == node).any())

    def _count_silent(self, found: Sweep) -> int:
        graph = self.cables
        if not graph.switch_count:
            return 0
        mute = np.zeros(len(graph.fabric.nodes), np.bool_)
        mute[list(self.mute)] = True
        asking = np.zeros(graph.switch_count + 1, np.bool_)
        asking[found.switches] = True
        channels = graph.channels
        to_switches = asking[channels.source] & mute[graph.switch_node[channels.peer]] & (channels.alive != 0)
        ends = (graph.end_alive != 0) & (graph.end_switch >= 0)
        to_hcas = ends & asking[graph.end_switch] & mute[graph.end_node]
        own = ends & (graph.end_node == self._manager.node) & mute[graph.switch_node[graph.end_switch]]
        return int(to_switches.sum() + to_hcas.sum() + own.sum())

    def find_trap_sender(self, link: Link, at_ps: int) -> int | None:
        """The switch at either end of a cable whose trap gets to the manager; None if neither's does."""
        graph = self.cables
        if self._manager.node in self.mute:
            return None
        for end in (link.a, link.b):
            switch = graph.switch_of.get(end.node)
            if switch is not None and end.node not in self.mute and self._trap_arrives(switch, at_ps):
                return end.node
        return None

    def _trap_arrives(self, switch: int, at_ps: int) -> bool:
        graph, tables = self.cables, self.tables_at(at_ps)
        lid, home, port = self._address()
        if home < 0:
            return False
        used = replace(self._plan, request=replace(self._plan.request, graph=graph), lft=tables)
        for channel in used.channels_of(switch, lid):
            switch = int(graph.channels.peer[channel])
        return switch == home and int(tables[home, lid]) == port

    def _address(self) -> tuple[int, int, int]:
        """LID of the manager, the switch that delivers it (-1 if its cable is down), and the port there."""
        graph, lids = self.cables, self._plan.lids
        if self._manager.node in graph.switch_of:
            home = graph.switch_of[self._manager.node]
            return int(lids.switch_lid[home]), home, 0
        for end in np.flatnonzero((graph.end_node == self._manager.node) & (graph.end_alive != 0)):
            return int(lids.end_lid[end]), int(graph.end_switch[end]), int(graph.end_port[end])
        return 0, -1, 0
