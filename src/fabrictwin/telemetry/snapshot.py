# SPDX-License-Identifier: Apache-2.0
"""A consistent copy of what a shard exports, taken between two steps."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fabrictwin.engine.codes import LogKind
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.state import Records, State
from fabrictwin.telemetry.layout import Layout


class FabricSource(Protocol):
    """A shard that is being run, as an exporter sees it.

    Attributes:
        plan: Names of its rows; another object when they change (a workload was started).
        owned: [nodes] bool, the nodes that it simulates.
        state: Its arrays.
    """

    @property
    def plan(self) -> Plan: ...  # noqa: D102
    @property
    def owned(self) -> np.ndarray: ...  # noqa: D102
    @property
    def state(self) -> State: ...  # noqa: D102

    def hold(self) -> AbstractContextManager[int]:
        """Keeps the shard between two steps, its arrays settled; gives the fabric time reached, in ps."""
        ...


@dataclass(frozen=True)
class EthernetSnapshot:
    """Copies of the rows that only RoCE has.

    Attributes:
        lane: [n * vls] LANE of the exported ports.
        lane_more: [n * vls] LANE_MORE.
        buffer: [switches] BUFFER.
        buffer_rule: [switches] BUFFER_RULE.
        reaction: RATE of the queue pairs whose sender is here.
        notification: RATE of the queue pairs whose receiver is here.
    """

    lane: Records
    lane_more: Records
    buffer: Records
    buffer_rule: Records
    reaction: Records
    notification: Records


@dataclass(frozen=True)
class Snapshot:
    """Copies of the rows of a :class:`Layout`.

    Attributes:
        layout: What the rows are.
        now_ps: Fabric time of the copy.
        port: [n] PORT of the exported ports.
        port_more: [n] PORT_MORE.
        pv: [n * vls] PV.
        pv_input: [n * vls] PV_INPUT.
        requester: REQUESTER of the queue pairs whose sender is here.
        applied: CCTI that each of these uses.
        least_ccti: The CCTI that they begin with.
        responder: RESPONDER of the queue pairs whose receiver is here.
        marks: Iterations ended by each rank that runs here.
        g: The shard's GLOBAL record.
        log_kinds: Kinds of the entries of the event log since the last snapshot.
        log_entries: Entries that the event log has.
        ethernet: What only RoCE has; None on InfiniBand.
    """

    layout: Layout
    now_ps: int
    port: Records
    port_more: Records
    pv: Records
    pv_input: Records
    requester: Records
    applied: np.ndarray
    least_ccti: int
    responder: Records
    marks: np.ndarray
    g: Records
    log_kinds: np.ndarray
    log_entries: int
    ethernet: EthernetSnapshot | None

    def sum_by_port(self, ports: np.ndarray, values: np.ndarray) -> np.ndarray:
        """[n] sum of the values of the queue pairs of each port, whose indices in the arrays are given."""
        total = np.zeros(len(self.port), np.int64)
        np.add.at(total, self.layout.position_of[ports], values)
        return total


def take_snapshot(layout: Layout, state: State, now_ps: int, log_seen: int) -> Snapshot:
    """Copies what a shard exports; the shard must be held, and nothing slow belongs here
    (``take`` copies records several times as fast as an index does).

    Args:
        layout: Which rows.
        state: The shard's arrays, settled.
        now_ps: Fabric time reached.
        log_seen: Entries of the event log that earlier snapshots have brought.
    """
    requester = state.requester.take(layout.requesters)
    entries = int(state.g[0].log)
    return Snapshot(
        layout=layout,
        now_ps=now_ps,
        port=state.port.take(layout.ports),
        port_more=state.port_more.take(layout.ports),
        pv=state.pv.take(layout.pvs),
        pv_input=state.pv_input.take(layout.pvs),
        requester=requester,
        applied=_applied_ccti(state, requester),
        least_ccti=int(state.par[0].ccti_min),
        responder=state.responder.take(layout.responders),
        marks=state.rank.marks.take(layout.ranks),
        g=state.g.copy(),
        log_kinds=state.log.kind[min(log_seen, entries) : entries].copy(),
        log_entries=entries,
        ethernet=_take_ethernet(layout, state),
    )


def _take_ethernet(layout: Layout, state: State) -> EthernetSnapshot | None:
    if not state.par[0].ethernet:
        return None
    return EthernetSnapshot(
        lane=state.lane.take(layout.pvs),
        lane_more=state.lane_more.take(layout.pvs),
        buffer=state.buffer.take(layout.switches),
        buffer_rule=state.buffer_rule.take(layout.switches),
        reaction=state.rate.take(layout.requesters),
        notification=state.rate.take(layout.responders),
    )


def _applied_ccti(state: State, requester: Records) -> np.ndarray:
    if state.par[0].ethernet or not state.par[0].cc_on:
        return np.zeros(len(requester), np.int64)
    return np.asarray(state.cc.applied.take(requester.cc))


def count_kinds(kinds: np.ndarray) -> np.ndarray:
    """[kinds of log entries] how many of each."""
    return np.bincount(kinds, minlength=len(LogKind))
