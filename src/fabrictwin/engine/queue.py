# SPDX-License-Identifier: Apache-2.0
"""The event queue: a wheel of time buckets, a sorted list of the events at hand, a heap for what is far away.

**Models** nothing; it only orders. **Order**: (time, node, kind, argument, data), whatever the order of
insertion.
**Parameters**: bucket width ``2**par.shift`` ps, about one event for each of the slots that a bucket is
sorted with; the number of buckets.
**Behaviour**: what is pushed goes behind the last event of its bucket, in chunks, so pushing touches few
cache lines, and those again and again. When a bucket comes to hand, its events are dealt into slots by time
and taken from these in order.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import NEVER, PASSIVE
from fabrictwin.engine.state import CHUNK_EVENTS, SLOTS, State
from fabrictwin.engine.state_type import lowest_bit, prefetch
from fabrictwin.jit import inline_kernel, kernel, seldom_kernel

_SLOT_BITS = 6


@inline_kernel
def make_key(node: int, kind: int, argument: int) -> int:
    """The order of events of one time: node, then kind, then argument (below 2**31)."""
    return (np.int64(node) << 36) | (np.int64(kind) << 31) | np.int64(argument)


@inline_kernel
def node_of(key: int) -> int:
    """The node of an event."""
    return key >> 36


@inline_kernel
def kind_of(key: int) -> int:
    """The kind of an event."""
    return (key >> 31) & 31


@inline_kernel
def argument_of(key: int) -> int:
    """The argument of an event."""
    return key & 0x7FFFFFFF


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
def _next_place(s: State, slot: int) -> int:
    """Where the next event of a bucket goes."""
    bucket = s.bucket[slot]
    place = bucket.count & (CHUNK_EVENTS - 1)
    if place == 0:
        g = s.g[0]
        chunk = g.free_chunk
        g.free_chunk = s.chunk[chunk].next
        g.chunks_left -= 1
        s.chunk[chunk].next = bucket.chunk
        bucket.chunk = chunk
    bucket.count += 1
    return np.int64(bucket.chunk) * CHUNK_EVENTS + place


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
        slot = bucket & (par.buckets - 1)
        index = _next_place(s, slot)
        event = s.event[index]
        event.time_ps = time_ps
        event.key = key
        event.detail = data
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
def _deal(s: State, slot: int) -> np.uint64:
    """Deals the events of a bucket into slots by time, and empties it; returns the slots as a bit set."""
    g = s.g[0]
    shift = s.par[0].shift - _SLOT_BITS
    bucket = s.bucket[slot]
    chunk = np.int64(bucket.chunk)
    left = np.int64(bucket.count)
    g.wheel_count -= left
    bucket.chunk = -1
    bucket.count = 0
    dealt = np.uint64(0)
    while left > 0:
        first = chunk * CHUNK_EVENTS
        end = first + ((left - 1) & (CHUNK_EVENTS - 1)) + 1
        left -= end - first
        for index in range(first, end):
            event = s.event[index]
            at = (event.time_ps >> shift) & (SLOTS - 1)
            event.next = s.slot[at]
            s.slot[at] = index
            dealt |= np.uint64(1) << np.uint64(at)
        following = np.int64(s.chunk[chunk].next)
        s.chunk[chunk].next = g.free_chunk
        g.free_chunk = chunk
        g.chunks_left += 1
        chunk = following
    return dealt


@inline_kernel
def _take_slot(s: State, at: int) -> None:
    """Moves the events of a slot behind those at hand, all of which are earlier."""
    g = s.g[0]
    index = np.int64(s.slot[at])
    s.slot[at] = -1
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
        index = np.int64(event.next)


@inline_kernel
def _load_bucket(s: State, slot: int) -> None:
    """Brings the events of a bucket to hand, in order."""
    s.occupied[slot >> 6] &= ~(np.uint64(1) << np.uint64(slot & 63))
    dealt = _deal(s, slot)
    while dealt != np.uint64(0):
        _take_slot(s, lowest_bit(dealt))
        dealt &= dealt - np.uint64(1)


@inline_kernel
def _prefetch_bucket(s: State, slot: int) -> None:
    """Hints that the events of a bucket are wanted soon."""
    chunk = np.int64(s.bucket[slot].chunk)
    while chunk >= 0:
        for place in range(0, CHUNK_EVENTS, 3):
            prefetch(s.event, chunk * CHUNK_EVENTS + place)
        chunk = np.int64(s.chunk[chunk].next)


@seldom_kernel
def _load_from_heap(s: State, last: int) -> None:
    """Moves what the heap has up to a bucket to hand."""
    g = s.g[0]
    while g.heap_count > 0 and s.heap[0].time_ps >> s.par[0].shift <= last:
        _insert_sorted(s, s.heap[0].time_ps, s.heap[0].key, s.heap[0].detail)
        _heap_drop_top(s)


@inline_kernel
def advance_bucket(s: State, horizon_ps: int) -> bool:
    """Brings the next bucket that holds events to hand; False: none does before the horizon."""
    g = s.g[0]
    par = s.par[0]
    limit = ((horizon_ps - 1) >> par.shift) + 1
    if g.heap_count > 0:
        limit = min(limit, max(s.heap[0].time_ps >> par.shift, g.bucket + 1))
    bucket = limit
    if g.wheel_count > 0:
        bucket = _next_occupied(s, g.bucket + 1, limit)
    if bucket > (horizon_ps - 1) >> par.shift:
        return False
    g.sorted_at = 0
    g.sorted_count = 0
    g.bucket = bucket
    _load_bucket(s, bucket & (par.buckets - 1))
    if g.heap_count > 0 and s.heap[0].time_ps >> par.shift <= bucket:
        _load_from_heap(s, bucket)
    if par.look_ahead:
        _prefetch_bucket(s, (bucket + 1) & (par.buckets - 1))
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
        buckets = s.par[0].buckets
        bucket = s.bucket[_next_occupied(s, g.bucket + 1, g.bucket + buckets) & (buckets - 1)]
        chunk = np.int64(bucket.chunk)
        end = np.int64((bucket.count - 1) & (CHUNK_EVENTS - 1)) + 1
        while chunk >= 0:
            for place in range(end):
                next_ps = min(next_ps, s.event[chunk * CHUNK_EVENTS + place].time_ps)
            chunk = np.int64(s.chunk[chunk].next)
            end = np.int64(CHUNK_EVENTS)
    return next_ps
