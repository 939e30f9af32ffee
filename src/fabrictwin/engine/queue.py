# SPDX-License-Identifier: Apache-2.0
"""The event queue: a wheel of narrow time buckets, a sorted list of the bucket at hand, a heap for what is far away.

**Models** nothing; it only orders. **Order**: (time, node, kind, argument, data), whatever the order of insertion.
**Parameters**: bucket width ``2**par.shift`` ps, so narrow that a bucket holds a few events, and the number of buckets.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import TIMERS
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, kernel

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)


def _bit_positions() -> np.ndarray:
    positions = np.zeros(64, np.int8)
    for bit in range(64):
        positions[((1 << bit) * int(_DE_BRUIJN) & (2**64 - 1)) >> 58] = bit
    return positions


_BIT_POSITIONS = _bit_positions()


@inline_kernel
def lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit of a word that is not zero."""
    isolated = word & (~word + np.uint64(1))
    return np.int64(_BIT_POSITIONS[np.int64((isolated * _DE_BRUIJN) >> np.uint64(58))])


@inline_kernel
def make_key(node: int, kind: int, argument: int) -> int:
    """The order of events of one time: node, then kind, then argument (below 2**31)."""
    return (node << 36) | (kind << 31) | argument


@inline_kernel
def _comes_before(a_time: int, a_key: int, a_data: int, b) -> bool:  # type: ignore[no-untyped-def]
    if a_time != b.time_ps:
        return a_time < b.time_ps
    if a_key != b.key:
        return a_key < b.key
    return a_data < b.data


@inline_kernel
def _insert_sorted(s: State, time_ps: int, key: int, data: int) -> None:
    """Puts an event into the bucket at hand, behind everything already handled."""
    g = s.g[0]
    at = g.sorted_count
    while at > g.sorted_at and _comes_before(time_ps, key, data, s.sorted[at - 1]):
        s.sorted[at].time_ps = s.sorted[at - 1].time_ps
        s.sorted[at].key = s.sorted[at - 1].key
        s.sorted[at].data = s.sorted[at - 1].data
        at -= 1
    s.sorted[at].time_ps = time_ps
    s.sorted[at].key = key
    s.sorted[at].data = data
    g.sorted_count += 1


@kernel
def _heap_push(s: State, time_ps: int, key: int, data: int) -> None:
    g = s.g[0]
    at = g.heap_count
    g.heap_count += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _comes_before(time_ps, key, data, s.heap[parent]):
            break
        s.heap[at].time_ps = s.heap[parent].time_ps
        s.heap[at].key = s.heap[parent].key
        s.heap[at].data = s.heap[parent].data
        at = parent
    s.heap[at].time_ps = time_ps
    s.heap[at].key = key
    s.heap[at].data = data


@kernel
def _heap_drop_top(s: State) -> None:
    g = s.g[0]
    g.heap_count -= 1
    last = s.heap[g.heap_count]
    time_ps, key, data = last.time_ps, last.key, last.data
    at = 0
    while True:
        child = 2 * at + 1
        if child >= g.heap_count:
            break
        right = s.heap[child + 1]
        if child + 1 < g.heap_count and _comes_before(right.time_ps, right.key, right.data, s.heap[child]):
            child += 1
        if not _comes_before(s.heap[child].time_ps, s.heap[child].key, s.heap[child].data, last):
            break
        s.heap[at].time_ps = s.heap[child].time_ps
        s.heap[at].key = s.heap[child].key
        s.heap[at].data = s.heap[child].data
        at = child
    s.heap[at].time_ps = time_ps
    s.heap[at].key = key
    s.heap[at].data = data


@kernel
def _push_aside(s: State, time_ps: int, key: int, data: int) -> None:
    """The two seldom places: the bucket at hand, and beyond the wheel."""
    if time_ps >> s.par[0].shift <= s.g[0].bucket:
        _insert_sorted(s, time_ps, key, data)
    else:
        _heap_push(s, time_ps, key, data)


@inline_kernel
def push_event(s: State, time_ps: int, node: int, kind: int, argument: int, data: int) -> None:
    """Schedules an event; its time is not before the event at hand."""
    g = s.g[0]
    par = s.par[0]
    key = make_key(node, kind, argument)
    if (TIMERS >> kind) & 1 == 0:
        g.live += 1
    bucket = time_ps >> par.shift
    if bucket > g.bucket and bucket < g.bucket + par.buckets:
        index = g.free_event
        event = s.event[index]
        g.free_event = event.next
        g.events_left -= 1
        slot = bucket & (par.buckets - 1)
        event.time_ps = time_ps
        event.key = key
        event.data = data
        event.next = s.bucket[slot]
        s.bucket[slot] = index
        s.occupied[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
        g.wheel_count += 1
    else:
        _push_aside(s, time_ps, key, data)


@inline_kernel
def _next_occupied(s: State, limit: int) -> int:
    """The first bucket after the one at hand that holds events, or ``limit`` if none is before it."""
    g = s.g[0]
    bucket = g.bucket + 1
    if g.wheel_count == 0:
        return limit
    mask = s.par[0].buckets - 1
    while bucket < limit:
        slot = bucket & mask
        word = s.occupied[slot >> 6] >> np.uint64(slot & 63)
        if word != np.uint64(0):
            return min(bucket + lowest_bit(word), limit)
        bucket += 64 - (slot & 63)
    return limit


@inline_kernel
def _load_bucket(s: State, bucket: int) -> None:
    g = s.g[0]
    par = s.par[0]
    g.bucket = bucket
    g.sorted_at = 0
    g.sorted_count = 0
    slot = bucket & (par.buckets - 1)
    index = s.bucket[slot]
    if index >= 0:
        s.bucket[slot] = -1
        s.occupied[slot >> 6] &= ~(np.uint64(1) << np.uint64(slot & 63))
    while index >= 0:
        event = s.event[index]
        _insert_sorted(s, event.time_ps, event.key, event.data)
        following = event.next
        event.next = g.free_event
        g.free_event = index
        g.events_left += 1
        g.wheel_count -= 1
        index = following
    while g.heap_count > 0 and s.heap[0].time_ps >> par.shift <= bucket:
        _insert_sorted(s, s.heap[0].time_ps, s.heap[0].key, s.heap[0].data)
        _heap_drop_top(s)


@inline_kernel
def advance_bucket(s: State, horizon_ps: int) -> bool:
    """Brings the next bucket that may hold events before the horizon to hand; False: there is none."""
    g = s.g[0]
    shift = s.par[0].shift
    last = (horizon_ps - 1) >> shift
    limit = last + 1
    if g.heap_count > 0:
        limit = min(limit, max(s.heap[0].time_ps >> shift, g.bucket + 1))
    found = _next_occupied(s, limit)
    if found > last:
        return False
    _load_bucket(s, found)
    return True
