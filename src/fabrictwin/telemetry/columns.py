# SPDX-License-Identifier: Apache-2.0
"""From a snapshot to the values of a metric: one int64 for each of its series, in the order of its labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabrictwin.engine.codes import SEQUENCE_MASK, QpState
from fabrictwin.engine.port_counters import ARRAYS_OF_VLS, PORT_COUNTERS, waited_for_credits
from fabrictwin.telemetry.ethernet_columns import ETHERNET_COLUMNS, paused_with_packets_ps
from fabrictwin.telemetry.metric import Metric, Rows
from fabrictwin.telemetry.snapshot import Snapshot

_FS_PER_S = 10**15
_OF_HCA_PORTS = frozenset(
    {
        *(Rows.HCA_PORT, Rows.HCA, Rows.DEVICE),
        *(Rows.INFINIBAND_HCA_PORT, Rows.ROCE_DEVICE, Rows.ROCE_HCA_PORT),
    }
)
_DOWN, _ACTIVE = 1, 4
"""PortInfo.PortState."""
_POLLING, _LINK_UP = 2, 5
"""PortInfo.PortPhysicalState."""


def column(snapshot: Snapshot, metric: Metric) -> np.ndarray:
    """[series] values of a metric that is read from the arrays."""
    if metric.source in PORT_COUNTERS:
        values = _counter(snapshot, metric.source)
    else:
        values = COLUMNS[metric.source](snapshot)
    return _of_rows(snapshot, metric.rows, values)


def _of_rows(snapshot: Snapshot, rows: Rows, values: np.ndarray) -> np.ndarray:
    """The part of the values of all ports that belongs to the ports of one kind."""
    if rows is Rows.SWITCH_PORT:
        return values[snapshot.layout.switch_ports]
    if rows in _OF_HCA_PORTS:
        return values[snapshot.layout.hca_ports]
    if rows is Rows.LOSSLESS:
        by_port = values.reshape(len(snapshot.port), -1)
        return np.asarray(by_port[:, snapshot.layout.lossless].ravel())
    if rows is Rows.HCA_QP_STATE:
        return values[snapshot.layout.hca_ports].ravel()
    if rows is Rows.SWITCH:
        return _greatest_of_switch(snapshot, values)
    return values


def _greatest_of_switch(snapshot: Snapshot, values: np.ndarray) -> np.ndarray:
    switch = snapshot.layout.switch_of_port
    greatest = np.zeros(switch.max(initial=-1) + 1, np.int64)
    np.maximum.at(greatest, switch, values[snapshot.layout.switch_ports])
    return greatest


def _counter(snapshot: Snapshot, name: str) -> np.ndarray:
    array, field = PORT_COUNTERS[name]
    values = np.asarray(getattr(snapshot, array)[field])
    if array not in ARRAYS_OF_VLS:
        return values
    return np.asarray(values.reshape(len(snapshot.port), -1).sum(axis=1, dtype=np.int64))


def _rate(snapshot: Snapshot) -> np.ndarray:
    return np.asarray(_FS_PER_S // snapshot.port.fs_per_byte.astype(np.int64))


def _data_vls(snapshot: Snapshot, values: np.ndarray) -> np.ndarray:
    """Without those of VL15, the last of each port."""
    return values.reshape(len(snapshot.port), -1)[:, :-1].ravel().astype(np.int64)


def _queued_bytes(snapshot: Snapshot) -> np.ndarray:
    pv = snapshot.pv
    return _data_vls(snapshot, pv.waiting_blocks.astype(np.int64) << pv.block_shift)


def _credit_bytes(snapshot: Snapshot) -> np.ndarray:
    pv = snapshot.pv
    blocks = (pv.fccl.astype(np.int64) - pv.fctbs) & SEQUENCE_MASK
    return _data_vls(snapshot, blocks << pv.block_shift)


def _blocked_ps(snapshot: Snapshot) -> np.ndarray:
    if snapshot.ethernet is not None:
        return paused_with_packets_ps(snapshot)
    pv = snapshot.pv
    since_ps = np.where(pv.blocked == 1, np.maximum(snapshot.now_ps - pv.blocked_at_ps, 0), 0)
    return _data_vls(snapshot, since_ps)


def _of_requesters(field: str) -> Callable[[Snapshot], np.ndarray]:
    return lambda s: s.sum_by_port(s.requester.port, s.requester[field])


def _of_responders(field: str) -> Callable[[Snapshot], np.ndarray]:
    return lambda s: s.sum_by_port(s.responder.port, s.responder[field])


def _ccti_max(snapshot: Snapshot) -> np.ndarray:
    greatest = np.zeros(len(snapshot.port), np.int64)
    np.maximum.at(greatest, snapshot.layout.position_of[snapshot.requester.port], snapshot.applied)
    return greatest


def _throttled(snapshot: Snapshot) -> np.ndarray:
    is_held = snapshot.applied > snapshot.least_ccti
    if snapshot.ethernet is not None:
        is_held = snapshot.ethernet.reaction.limited == 1
    return snapshot.sum_by_port(snapshot.requester.port, is_held)


def _qp_states(snapshot: Snapshot) -> np.ndarray:
    """[n, states]."""
    states = np.zeros((len(snapshot.port), len(QpState)), np.int64)
    np.add.at(states, (snapshot.layout.position_of[snapshot.requester.port], snapshot.requester.state), 1)
    return states


def _sum_by_flow(snapshot: Snapshot, flow_of_qp: np.ndarray, values: np.ndarray) -> np.ndarray:
    total = np.zeros(len(snapshot.layout.plan.flows), np.int64)
    np.add.at(total, flow_of_qp, values)
    return total


def _flow_received(field: str) -> Callable[[Snapshot], np.ndarray]:
    def read(s: Snapshot) -> np.ndarray:
        return _sum_by_flow(s, s.responder.flow, s.responder[field])[s.layout.flows_received]

    return read


def _flow_messages(snapshot: Snapshot) -> np.ndarray:
    """A message that is split over queue pairs counts once."""
    pairs = np.diff(snapshot.layout.plan.first_qp)[snapshot.layout.flows_received]
    return _flow_received("messages")(snapshot) // pairs


def _flow_retransmitted(snapshot: Snapshot) -> np.ndarray:
    sent = _sum_by_flow(snapshot, snapshot.requester.flow, snapshot.requester.retransmitted)
    return sent[snapshot.layout.flows_sent]


def _iterations(snapshot: Snapshot) -> np.ndarray:
    layout = snapshot.layout
    job = np.array([layout.plan.ranks[rank][0] for rank in layout.ranks.tolist()], np.int64)
    return np.array([snapshot.marks[job == index].min() for index in layout.workloads], np.int64)


def _of_shard(field: str) -> Callable[[Snapshot], np.ndarray]:
    return lambda s: np.asarray(s.g[field])


def _port_more(field: str) -> Callable[[Snapshot], np.ndarray]:
    return lambda s: np.asarray(s.port_more[field])


COLUMNS: dict[str, Callable[[Snapshot], np.ndarray]] = {
    "port_up": lambda s: np.asarray(s.port.up),
    "port_state": lambda s: np.where(s.port.up == 1, _ACTIVE, _DOWN),
    "physical_state": lambda s: np.where(s.port.up == 1, _LINK_UP, _POLLING),
    "port_rate": _rate,
    "enabled_rate": lambda s: s.layout.enabled_rates,
    "device_rate": _rate,
    "xmit_wait_ps": lambda s: waited_for_credits(s.port_more, s.pv, s.now_ps),
    "queued_bytes": _queued_bytes,
    "credit_bytes": _credit_bytes,
    "blocked_ps": _blocked_ps,
    "out_of_sequence": _port_more("out_of_sequence"),
    "duplicates": _port_more("duplicates"),
    "sequence_naks": _port_more("sequence_naks"),
    "ack_timeouts": _port_more("ack_timeouts"),
    "rnr_naks": _port_more("rnr_naks"),
    "ecn_received": _port_more("ecn_received"),
    "posted": _of_requesters("posted"),
    "completed": _of_requesters("completed"),
    "failed": _of_requesters("failed"),
    "retransmitted": _of_requesters("retransmitted"),
    "limited_ps": _of_requesters("limited_ps"),
    "received": _of_responders("messages"),
    "received_bytes": _of_responders("bytes"),
    "ccti_max": _ccti_max,
    "throttled": _throttled,
    "qp_states": _qp_states,
    "flow_received_bytes": _flow_received("bytes"),
    "flow_received_messages": _flow_messages,
    "flow_retransmitted": _flow_retransmitted,
    "flows": lambda s: np.array([len(s.layout.plan.flows)], np.int64),
    "iterations": _iterations,
    "outstanding": _of_shard("outstanding"),
    "packet_hops": _of_shard("packet_hops"),
    "engine_events": _of_shard("events"),
    **ETHERNET_COLUMNS,
}
"""What a metric can be read from, besides the counters of ports."""

CONSTANTS = {"zero": 0, "one": 1}
"""Sources whose lines never change."""
