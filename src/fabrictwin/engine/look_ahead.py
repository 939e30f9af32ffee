# SPDX-License-Identifier: Apache-2.0
"""Fetching what the events at hand will need, while earlier ones are handled.

A large fabric does not fit into the caches, and an event visits rows that have nothing to do with those of
the event before. So each event is looked at four times before it is handled: each look fetches the rows whose
numbers stand in rows that the look before has fetched. **Models** nothing. A look that does not concern an
event looks at row 0 instead.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import EventKind
from fabrictwin.engine.queue import argument_of, kind_of, node_of
from fabrictwin.engine.state import State
from fabrictwin.engine.state_type import prefetch
from fabrictwin.jit import inline_kernel, seldom_kernel

FIRST, SECOND, THIRD, FOURTH = 11, 8, 5, 2
"""How many events ahead."""


@inline_kernel
def _mask(condition: bool) -> int:
    """All bits if a condition holds, else none. A branch would be guessed wrongly too often."""
    return -np.int64(condition)


@inline_kernel
def _served_port(kind: int, detail: int) -> int:
    """The port of a PORT_FREE or CREDIT event, else 0."""
    return detail & _mask((kind == EventKind.PORT_FREE) | (kind == EventKind.CREDIT))


@inline_kernel
def _look_first(s: State, at: int) -> None:
    """What the event names: the packet that arrives and its buffer, or the port."""
    event = s.sorted[at]
    kind = kind_of(event.key)
    arrives = _mask(kind == EventKind.ARRIVE)
    p = _served_port(kind, event.detail)
    prefetch(s.packet, event.detail & arrives)
    prefetch(s.pv_input, argument_of(event.key) & arrives)
    prefetch(s.port, p)
    prefetch(s.pv, p)


@inline_kernel
def _look_second(s: State, at: int) -> None:
    """Where the packet is to go, or what is first in the ring, and who hears of it."""
    event = s.sorted[at]
    kind = kind_of(event.key)
    arrives = _mask(kind == EventKind.ARRIVE)
    packet = s.packet[event.detail & arrives]
    switch = np.int64(s.node[node_of(event.key)].switch)
    prefetch(s.lft, max(switch, 0) * s.par[0].lids + packet.dlid)
    qp = packet.qp & arrives & _mask(switch < 0)
    prefetch(s.requester, qp)
    prefetch(s.responder, qp)
    p = _served_port(kind, event.detail)
    front = np.int64(max(s.pv[p].ring_head, 0))
    is_hca = _mask(s.port[p].voq0 < 0)
    prefetch(s.voq, front & ~is_hca)
    prefetch(s.requester, front & is_hca)
    prefetch(s.pv_input, p)
    prefetch(s.pv, s.port[p].peer)


@inline_kernel
def _output(s: State, event) -> int:  # type: ignore[no-untyped-def]
    """The output that a packet on its way to a switch will want; else some port."""
    node = s.node[node_of(event.key)]
    packet = s.packet[event.detail & _mask(kind_of(event.key) == EventKind.ARRIVE)]
    number = np.int64(s.lft[max(node.switch, 0) * s.par[0].lids + packet.dlid])
    return node.port0 + max(min(number, node.ports) - 1, 0)


@inline_kernel
def _queue(s: State, event, out: int) -> int:  # type: ignore[no-untyped-def]
    """The queue for an output in which the packet of an event would wait, on the first VL, else some."""
    node = s.node[node_of(event.key)]
    outputs_before = (out - node.port0) * (s.par[0].vls - 1)
    queue = s.port[node.port0].voq0 + outputs_before * node.ports + argument_of(event.key) - node.port0
    return queue & _mask((kind_of(event.key) == EventKind.ARRIVE) & (node.switch >= 0))


@inline_kernel
def _look_third(s: State, at: int) -> None:
    """The output, or the candidate."""
    event = s.sorted[at]
    out = _output(s, event)
    event.next = out
    prefetch(s.port, out)
    prefetch(s.pv, out)
    prefetch(s.pv_input, out)
    prefetch(s.voq, _queue(s, event, out))
    p = _served_port(kind_of(event.key), event.detail)
    front = np.int64(max(s.pv[p].ring_head, 0))
    is_hca = _mask(s.port[p].voq0 < 0)
    queue = s.voq[front & ~is_hca]
    prefetch(s.packet, queue.head)
    prefetch(s.voq, queue.next)
    prefetch(s.message, s.requester[front & is_hca].current)


@inline_kernel
def _look_fourth(s: State, at: int) -> None:
    """The packet to queue behind; the buffer that the candidate leaves, and the packet behind it."""
    event = s.sorted[at]
    out = np.int64(event.next)
    prefetch(s.pv, s.port[out].peer)
    prefetch(s.packet, s.voq[_queue(s, event, out)].tail)
    p = _served_port(kind_of(event.key), event.detail)
    front = np.int64(max(s.pv[p].ring_head, 0)) & ~_mask(s.port[p].voq0 < 0)
    candidate = s.packet[max(s.voq[front].head, 0)]
    prefetch(s.pv_input, candidate.port)
    prefetch(s.packet, candidate.next)


@seldom_kernel
def _look_from_start(s: State) -> None:
    """All looks that are due before the first event of a bucket."""
    count = s.g[0].sorted_count
    for at in range(min(FIRST, count)):
        _look_first(s, at)
    for at in range(min(SECOND, count)):
        _look_second(s, at)
    for at in range(min(THIRD, count)):
        _look_third(s, at)
    for at in range(min(FOURTH, count)):
        _look_fourth(s, at)


@seldom_kernel
def look_ahead(s: State, at: int) -> None:
    """Looks at events some places behind one that is about to be handled."""
    if at == 0:
        _look_from_start(s)
    last = s.g[0].sorted_count - 1
    _look_first(s, min(at + FIRST, last))
    _look_second(s, min(at + SECOND, last))
    _look_third(s, min(at + THIRD, last))
    _look_fourth(s, min(at + FOURTH, last))
