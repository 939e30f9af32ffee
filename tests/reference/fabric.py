# SPDX-License-Identifier: Apache-2.0
"""The whole fabric: nodes, cables, ranks and faults, run event by event without any trick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.program import Flow
from fabrictwin.model.qos import DROP_VL
from reference.case import Case
from reference.events import Kind
from reference.go_back_n import Requester
from reference.hca import Hca
from reference.port import Port
from reference.queue_pair import QueuePair
from reference.rank import Rank
from reference.switch import Switch
from reference.world import World


@dataclass(frozen=True)
class FlowSummary:
    """What became of a flow: whole messages only."""

    name: str
    messages: int
    size_bytes: int
    latencies_ps: tuple[int, ...]
    retransmitted: int
    failed: bool


class OracleFabric:
    """A run of a case.

    Args:
        case: What to simulate.
    """

    def __init__(self, case: Case) -> None:
        self.world = World(case)
        self.queue_pairs: list[QueuePair] = []
        self.nodes: dict[int, Switch | Hca] = {}
        for node in range(len(case.fabric.nodes)):
            if self.world.is_hca(node):
                self.nodes[node] = Hca(self.world, node, case.hcas[node], self.queue_pairs)
            else:
                self.nodes[node] = Switch(self.world, node, case.switches[node])
        self.ports = self._ports()
        self._cable()
        self.flows: list[tuple[Flow, list[QueuePair]]] = []
        self.ranks: list[Rank] = []
        self._start_jobs()
        vls = (case.qos.sl2vl[pair.sl] for pair in self.queue_pairs)
        self.world.vls = 2 + max((vl for vl in vls if vl != DROP_VL), default=0)
        for index, action in enumerate(case.actions):
            self._schedule(index, action)
        for index, (at_ps, node, ports) in enumerate(case.lft_writes, len(case.actions)):
            self._schedule_write(index, at_ps, node, ports)

    def _ports(self) -> dict[PortRef, Port]:
        """Cabled ports; a port's index counts every port, cabled or not, node by node."""
        ports: dict[PortRef, Port] = {}
        index = 0
        for node, description in enumerate(self.world.case.fabric.nodes):
            for number in range(1, description.ports + 1):
                end = PortRef(node, number)
                if end in self.world.case.fabric.link_at:
                    ports[end] = Port(self.world, self.nodes[node], node, number, index)
                    self.nodes[node].ports[number] = ports[end]
                index += 1
        return ports

    def _cable(self) -> None:
        for link in self.world.case.fabric.links:
            a, b = self.ports[link.a], self.ports[link.b]
            a.connect(b, link.rate_bps, link.propagation_ps)
            b.connect(a, link.rate_bps, link.propagation_ps)
        for node in self.nodes.values():
            node.prepare()

    def hca(self, node: int) -> Hca:
        """The HCA with a node index."""
        hca = self.nodes[node]
        assert isinstance(hca, Hca)
        return hca

    # Work

    def _start_jobs(self) -> None:
        for job in self.world.case.jobs:
            flows = [self._queue_pairs_of(flow) for flow in job.flows]
            for program in job.programs:
                hca = self.hca(program.node)
                self.ranks.append(Rank(self.world, len(self.ranks), program, hca, flows))
        for node in self.world.case.hcas:
            self.hca(node).on_sent = self._sent
            self.hca(node).on_received = self._received

    def _queue_pairs_of(self, flow: Flow) -> list[QueuePair]:
        case = self.world.case
        model = case.hcas[flow.src.node]
        pairs = []
        for number in range(flow.qps):
            dlid = case.lids[flow.dst] + number % 2**case.lmc
            pair = QueuePair(
                index=len(self.queue_pairs),
                flow=len(self.flows),
                src=self.ports[flow.src],
                dst=self.ports[flow.dst],
                sl=flow.sl if case.service_level is None else case.service_level(flow.src, dlid),
                management=flow.management,
                mtu_bytes=case.mtu_bytes,
                ack_every=model.ack_every,
                dlid=dlid,
                slid=case.lids[flow.src],
                requester=Requester(
                    model.retry_count, model.rnr_retry, model.ack_timeout_ps, model.rnr_timer_ps
                ),
            )
            self.queue_pairs.append(pair)
            pairs.append(pair)
        self.flows.append((flow, pairs))
        return pairs

    def _sent(self, queue_pair: QueuePair) -> None:
        for rank in self.ranks:
            if rank.hca is self.nodes[queue_pair.src.node]:
                rank.sent(queue_pair)

    def _received(self, queue_pair: QueuePair) -> None:
        for rank in self.ranks:
            if rank.hca is self.nodes[queue_pair.dst.node]:
                rank.received(queue_pair)

    # Faults

    def _schedule(self, index: int, action: Action) -> None:
        """An action on a cable takes effect at both of its ends, each in the order of its own node."""
        ends = [self.ports[action.target]]
        if action.kind in (ActionKind.LINK_STATE, ActionKind.LINK_RATE, ActionKind.LINK_ERROR):
            ends.append(ends[0].peer)
        for port in ends:
            self.world.calendar.at(
                action.at_ps, port.node, Kind.ACTION, 0, index, partial(self._act, port, action)
            )

    def _schedule_write(self, index: int, at_ps: int, node: int, ports: Mapping[int, int]) -> None:
        switch = self.nodes[node]
        assert isinstance(switch, Switch)
        self.world.calendar.at(at_ps, node, Kind.ACTION, 0, index, partial(switch.write_lft, ports))

    def _act(self, port: Port, action: Action) -> None:
        if action.kind is ActionKind.LINK_STATE:
            (port.go_up if action.value else port.go_down)()
        elif action.kind is ActionKind.LINK_RATE:
            port.set_rate(action.value)
        elif action.kind is ActionKind.LINK_ERROR:
            port.error_threshold = action.value
        elif action.kind is ActionKind.DRAIN_RATE:
            for drain in self.hca(port.node).drains.values():
                drain.set_rate(None if action.value < 0 else action.value)
        elif action.kind is ActionKind.RECEIVE_QUEUE:
            self.hca(port.node).receive_queue_ready = bool(action.value)

    # Results

    def run(self, until_ps: int) -> None:
        """Simulates up to and including a fabric time."""
        self.world.calendar.run(until_ps)

    def summaries(self) -> list[FlowSummary]:
        """Every flow, with the messages that are in memory by now."""
        return [self._summary(flow, pairs) for flow, pairs in self.flows]

    def _summary(self, flow: Flow, pairs: list[QueuePair]) -> FlowSummary:
        done = min(pair.completed for pair in pairs)
        latencies, size_bytes = [], 0
        for number in range(done):
            parts = [pair.messages[number] for pair in pairs]
            latencies.append(max(part.in_memory_ps or 0 for part in parts) - parts[0].posted_ps)
            size_bytes += sum(part.size_bytes for part in parts)
        return FlowSummary(
            flow.name,
            done,
            size_bytes,
            tuple(latencies),
            sum(pair.retransmitted for pair in pairs),
            any(pair.requester.failed for pair in pairs),
        )
