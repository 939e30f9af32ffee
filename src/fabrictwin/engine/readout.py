# SPDX-License-Identifier: Apache-2.0
"""Reading the arrays of all shards as those of one fabric: each row from the shard that owns it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.port_counters import ARRAYS_OF_VLS, PORT_COUNTERS, waited_for_credits
from fabrictwin.engine.state import Records
from fabrictwin.model.fabric import Technology

_PORT_FIELDS = {
    "port": ("xmit_bytes", "xmit_pkts", "fs_per_byte", "up"),
    "port_more": (
        "down_at_ps",
        "up_at_ps",
        "xmit_wait_ps",
        "fecn_received",
        "becn_received",
        "fecn_marked",
        "xmit_discards",
        "symbol_errors",
        "integrity_errors",
        "rcv_errors",
        "relay_errors",
        "downed",
        "vl15_dropped",
    ),
}
_PV_FIELDS = {
    "pv": ("fctbs", "fccl", "waiting_blocks", "ring_count"),
    "pv_input": ("rcv_bytes", "rcv_pkts", "held_blocks", "fcps", "advertised", "last_fcp_ps"),
}
_REQUESTER_FIELDS = (
    "next_psn",
    "una_psn",
    "high_psn",
    "free_psn",
    "state",
    "retries_left",
    "retransmitted",
    "limited_ps",
    "first_ps",
    "posted",
    "completed",
    "failed",
)
_RESPONDER_FIELDS = ("expected_psn", "bytes", "messages", "last_ps", "nak_sent")
_RANK_FIELDS = ("pc", "done", "paced_ps", "draws", "marks")
_CC_FIELDS = ("ccti", "applied", "becns")
_LOG_FIELDS = {
    "latency": ("at_ps", "qp", "latency_ps"),
    "mark": ("at_ps", "rank"),
    "log": ("at_ps", "node", "kind"),
}


_LANE_FIELDS = {
    "lane": ("until_ps", "paused_ps", "held_bytes", "headroom_bytes", "peak_bytes", "pausing", "drops"),
    "lane_more": ("pauses_sent", "pauses_heard", "lossless_drops", "peak_headroom_bytes", "storm_drops"),
}
_BUFFER_FIELDS = ("used_bytes", "peak_bytes")
_RATE_FIELDS = ("rate_bps", "target_bps", "alpha_q30", "cnps", "cnps_sent", "timer_stage", "byte_stage")


class Readout:
    """A settled fabric.

    Args:
        plan: Names of the rows.
        group: The shards, all at one fabric time and settled.

    Attributes:
        now_ps: That fabric time.
        subnet_events: What the subnet managers have said of themselves.
    """

    def __init__(self, plan: Plan, group: ShardGroup) -> None:
        self.plan = plan
        self._shards = group.shards
        self._owner = group.partition.owner
        self._reaction_points = group.partition.congestion_control
        self.now_ps = group.now_ps
        self.subnet_events = group.events

    def _of_nodes(self, name: str, nodes: np.ndarray) -> Records:
        """An array whose row i belongs to node ``nodes[i]``."""
        arrays = [getattr(shard.state, name)[: len(nodes)] for shard in self._shards]
        if len(arrays) == 1:
            return arrays[0]
        owner = self._owner[nodes]
        merged = arrays[0].copy()
        for number, array in enumerate(arrays[1:], start=1):
            merged[owner == number] = array[owner == number]
        return merged

    @cached_property
    def _node_of_port(self) -> np.ndarray:
        return np.asarray(self._shards[0].state.port.node)

    def by_port(self, name: str) -> Records:
        """An array of ports."""
        return self._of_nodes(name, self._node_of_port)

    def by_port_vl(self, name: str) -> Records:
        """A copy of an array of the VLs of ports, port by port."""
        array = self._of_nodes(name, np.tile(self._node_of_port, self.plan.vls))
        return array.take(self.plan.lanes(np.arange(self.plan.ports.total)))

    def per_port(self, name: str, field: str) -> np.ndarray:
        """[ports] sum over the VLs of a port."""
        return np.asarray(self.by_port_vl(name)[field]).reshape(-1, self.plan.vls).sum(axis=1)

    def counter(self, name: str) -> np.ndarray:
        """[ports] a counter of :data:`PORT_COUNTERS`."""
        array, field = PORT_COUNTERS[name]
        if array in ARRAYS_OF_VLS:
            return self.per_port(array, field)
        return np.asarray(self.by_port(array)[field])

    @property
    def xmit_wait_ps(self) -> np.ndarray:
        """[ports] time that candidates have waited for credits, those that still wait included."""
        return waited_for_credits(self.by_port("port_more"), self.by_port_vl("pv"), self.now_ps)

    @property
    def paused_ps(self) -> np.ndarray:
        """[ports] time that priorities have been paused by PFC, those that still are included."""
        if self.plan.scenario.fabric.technology is not Technology.ROCE:
            return np.zeros(self.plan.ports.total, np.int64)
        lane = self.by_port_vl("lane")
        since_ps = np.where(lane.until_ps != 0, np.maximum(self.now_ps - lane.paused_at_ps, 0), 0)
        return np.asarray((lane.paused_ps + since_ps).reshape(-1, self.plan.vls).sum(axis=1))

    def _nodes_of_qps(self, end: str) -> np.ndarray:
        nodes = [getattr(flow, end).node for _, flow in self.plan.flows for _ in range(flow.qps)]
        return np.array(nodes, np.int64)

    @cached_property
    def requesters(self) -> Records:
        """[qps] REQUESTER."""
        return self._of_nodes("requester", self._nodes_of_qps("src"))

    @cached_property
    def responders(self) -> Records:
        """[qps] RESPONDER."""
        return self._of_nodes("responder", self._nodes_of_qps("dst"))

    @cached_property
    def ranks(self) -> Records:
        """[ranks] RANK."""
        return self._of_nodes("rank", np.asarray(self._shards[0].state.rank.node)[: len(self.plan.ranks)])

    @cached_property
    def rates(self) -> Records:
        """[qps] RATE; what the notification point counts comes from its own shard."""
        sender = self._of_nodes("rate", self._nodes_of_qps("src")).copy()
        sender.cnps_sent = self._of_nodes("rate", self._nodes_of_qps("dst")).cnps_sent
        return sender

    @cached_property
    def buffers(self) -> Records:
        """[nodes] BUFFER."""
        return self._of_nodes("buffer", np.arange(len(self.plan.scenario.fabric.nodes)))

    @cached_property
    def congestion(self) -> Records:
        """[entities] CC_ENTITY; what an HCA uses comes from its own shard."""
        merged = self._of_nodes("cc", np.asarray(self._shards[0].state.cc.node))
        if self._reaction_points is None:
            return merged
        applied, merged = merged.applied, self._shards[self._reaction_points].state.cc.copy()
        merged.applied = applied
        return merged

    @cached_property
    def forwarding_tables(self) -> np.ndarray:
        """[switches, lids] uint8."""
        shape = self.plan.forwarding.lft.shape
        tables = np.stack([np.asarray(shard.state.lft).reshape(shape) for shard in self._shards])
        owner = self._owner[list(self.plan.scenario.fabric.switches)]
        return np.asarray(tables[owner, np.arange(shape[0])])

    def log(self, name: str, counter: str) -> Records:
        """A log of all shards, in the order of time and then of its own fields."""
        parts = [getattr(shard.state, name)[: shard.state.g[0][counter]] for shard in self._shards]
        merged = np.concatenate(parts).view(np.recarray)
        keys = [merged[field] for field in reversed(_LOG_FIELDS[name])]
        return merged[np.lexsort(keys)]

    def total(self, field: str) -> int:
        """Sum of a global counter over the shards."""
        return int(sum(int(shard.state.g[0][field]) for shard in self._shards))

    @property
    def states(self) -> Iterable[tuple[np.ndarray, object]]:
        """([nodes] owned, state) of each shard, for what reads lists inside a shard."""
        return ((self._owner == shard.number, shard.state) for shard in self._shards)

    def digest(self, end_ps: int) -> str:
        """SHA-256 over the final state and counters, the same for every sharding."""
        sha = hashlib.sha256()
        sha.update(f"{end_ps} {self.total('packet_hops')}".encode())
        groups: list[tuple[Records, tuple[str, ...]]] = []
        groups += [(self.by_port(name), fields) for name, fields in _PORT_FIELDS.items()]
        groups += [(self.by_port_vl(name), fields) for name, fields in _PV_FIELDS.items()]
        groups += [
            (self.requesters, _REQUESTER_FIELDS),
            (self.responders, _RESPONDER_FIELDS),
            (self.ranks, _RANK_FIELDS),
            (self.congestion, _CC_FIELDS),
            (self.log("latency", "latencies"), _LOG_FIELDS["latency"]),
            (self.log("mark", "marks"), _LOG_FIELDS["mark"]),
        ]
        if self.plan.scenario.fabric.technology is Technology.ROCE:
            groups += [(self.by_port_vl(name), fields) for name, fields in _LANE_FIELDS.items()]
            groups += [(self.buffers, _BUFFER_FIELDS), (self.rates, _RATE_FIELDS)]
        for array, fields in groups:
            for field in fields:
                sha.update(np.ascontiguousarray(array[field], np.int64).astype("<i8").tobytes())
        sha.update(self.forwarding_tables.tobytes())
        return sha.hexdigest()
