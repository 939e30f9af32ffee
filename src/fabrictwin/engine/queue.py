# SPDX-License-Identifier: Apache-2.0
"""The event queue: a wheel of narrow time buckets, a sorted list of those at hand, a heap for what is far
away.

**Models** nothing; it only orders. **Order**: (time, node, kind, argument, data), whatever the order of
insertion.
**Parameters**: bucket width ``2**par.shift`` ps, so narrow that a bucket holds about one event, and the
number of buckets.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import NEVER, PASSIVE
from fabrictwin.engine.state import State
from fabrictwin.engine.state_type import prefetch
from fabrictwin.jit import inline_kernel, kernel, seldom_kernel

GROUP_BUCKETS = 64
"""Buckets that are brought to hand together, so that what their events need can be fetched ahead."""

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
    return (np.int64(node) << 36) | (np.int64(kind) << 31) | np.int64(argument)


@inline_kernel
def _comes_before(a_time: int, a_key: int, a_data: int, b) -> bool:  # type: ignore[no-untyped-def]
    if a_time != b.time_ps:
        return a_time < b.time_ps
    if a_key != b.key:
        return a_key < b.key
    return a_data < b.detail


@inline_kernel
def _insert_sorted(s: State, time_ps: int, key: int, data: int) -> None:
    """Puts an event among those at hand, behind everything already handled."""
    g = s.g[0]
    at = g.sorted_count
    while at > g.sorted_at and _comes_before(time_ps, key, data, s.sorted[at - 1]):
        s.sorted[at].time_ps = s.sorted[at - 1].time_ps
        s.sorted[at].key = s.sorted[at - 1].key
        s.sorted[at].detail = s.sorted[at - 1].detail
        at -= 1
    s.sorted[at].time_ps = time_ps
    s.sorted[at].key = key
    s.sorted[at].detail = data
    g.sorted_count += 1


@inline_kernel
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
        s.heap[at].detail = s.heap[parent].detail
        at = parent
    s.heap[at].time_ps = time_ps
    s.heap[at].key = key
    s.heap[at].detail = data


@inline_kernel
def _heap_drop_top(s: State) -> None:
    g = s.g[0]
    g.heap_count -= 1
    last = s.heap[g.heap_count]
    time_ps, key, data = last.time_ps, last.key, last.detail
    at = 0
    while True:
        child = 2 * at + 1
        if child >= g.heap_count:
            break
        right = s.heap[child + 1]
        if child + 1 < g.heap_count and _comes_before(right.time_ps, right.key, right.detail, s.heap[child]):
            child += 1
        if not _comes_before(s.heap[child].time_ps, s.heap[child].key, s.heap[child].detail, last):
            break
        s.heap[at].time_ps = s.heap[child].time_ps
        s.heap[at].key = s.heap[child].key
        s.heap[at].detail = s.heap[child].detail
        at = child
    s.heap[at].time_ps = time_ps
    s.heap[at].key = key
    s.heap[at].detail = data


@seldom_kernel
def _push_aside(s: State, time_ps: int, key: int, data: int) -> None:
    """The two seldom places: among those at hand, and beyond the wheel."""
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
    if (PASSIVE >> kind) & 1 == 0:
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
        event.detail = data
        event.next = s.bucket[slot]
        s.bucket[slot] = index
        s.occupied[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
        g.wheel_count += 1
    else:
        _push_aside(s, time_ps, key, data)


@inline_kernel
def _next_occupied(s: State, bucket: int, limit: int) -> int:
    """The first bucket from a number on that holds events, or ``limit`` if none is before it."""
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
    """Moves the events of a bucket behind those at hand, all of which are earlier."""
    g = s.g[0]
    slot = bucket & (s.par[0].buckets - 1)
    index = np.int64(s.bucket[slot])
    s.bucket[slot] = -1
    s.occupied[slot >> 6] &= ~(np.uint64(1) << np.uint64(slot & 63))
    first = np.int64(g.sorted_count)
    while index >= 0:
        event = s.event[index]
        last = np.int64(g.sorted_count)
        if last == first or not _comes_before(event.time_ps, event.key, event.detail, s.sorted[last - 1]):
            place = s.sorted[last]
            place.time_ps = event.time_ps
            place.key = event.key
            place.detail = event.detail
            g.sorted_count = last + 1
        else:
            _insert_sorted(s, event.time_ps, event.key, event.detail)
        following = np.int64(event.next)
        event.next = g.free_event
        g.free_event = index
        g.events_left += 1
        g.wheel_count -= 1
        index = following


@inline_kernel
def _prefetch_group(s: State, bucket: int) -> None:
    """Hints that the events of a group of buckets are wanted soon."""
    mask = s.par[0].buckets - 1
    for offset in range(GROUP_BUCKETS):
        index = np.int64(s.bucket[(bucket + offset) & mask])
        if index >= 0:
            prefetch(s.event, index)


@seldom_kernel
def _load_from_heap(s: State, last: int) -> None:
    """Moves what the heap has up to a bucket to hand."""
    g = s.g[0]
    while g.heap_count > 0 and s.heap[0].time_ps >> s.par[0].shift <= last:
        _insert_sorted(s, s.heap[0].time_ps, s.heap[0].key, s.heap[0].detail)
        _heap_drop_top(s)


@inline_kernel
def advance_group(s: State, horizon_ps: int) -> bool:
    """Brings the next group of buckets that holds events before the horizon to hand; False: there is none."""
    g = s.g[0]
    shift = s.par[0].shift
    last = (horizon_ps - 1) >> shift
    limit = last + 1
    if g.heap_count > 0:
        limit = min(limit, max(s.heap[0].time_ps >> shift, g.bucket + 1))
    first = limit
    if g.wheel_count > 0:
        first = _next_occupied(s, g.bucket + 1, limit)
    if first > last:
        return False
    end = min(first + GROUP_BUCKETS, last + 1)
    g.sorted_at = 0
    g.sorted_count = 0
    bucket = _next_occupied(s, first, end)
    while bucket < end:
        _load_bucket(s, bucket)
        bucket = _next_occupied(s, bucket + 1, end)
    g.bucket = end - 1
    if g.heap_count > 0 and s.heap[0].time_ps >> shift <= g.bucket:
        _load_from_heap(s, g.bucket)
    if s.par[0].look_ahead:
        _prefetch_group(s, end)
    return True


@kernel
def next_event(s: State) -> int:
    """Fabric time of the next event; NEVER: there is none."""
    g = s.g[0]
    if g.sorted_at < g.sorted_count:
        return s.sorted[g.sorted_at].time_ps
    next_ps = np.int64(NEVER)
    if g.heap_count > 0:
        next_ps = s.heap[0].time_ps
    if g.wheel_count > 0:
        bucket = _next_occupied(s, g.bucket + 1, g.bucket + s.par[0].buckets)
        index = np.int64(s.bucket[bucket & (s.par[0].buckets - 1)])
        while index >= 0:
            next_ps = min(next_ps, s.event[index].time_ps)
            index = np.int64(s.event[index].next)
    return next_ps
