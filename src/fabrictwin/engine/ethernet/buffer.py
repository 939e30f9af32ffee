# SPDX-License-Identifier: Apache-2.0
"""The shared buffer of a switch: dynamic thresholds, reserves and headroom of priority groups.

**Models**: docs/models/rocev2.md section 3. **Not**: cells; a frame takes its own bytes.
**State**: ``BUFFER``, ``LANE`` (the priority group of an ingress port and priority).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import FRAME_GAP_BYTES
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def frame_bytes(s: State, packet_index: int) -> int:
    """What a packet takes of a buffer."""
    return np.int64(s.packet[packet_index].wire) - FRAME_GAP_BYTES


@inline_kernel
def threshold(s: State, node: int) -> int:
    """Bytes of the shared pool that a priority group may hold: alpha times what is free, or all of it."""
    rule = s.buffer_rule[node]
    if rule.alpha_q16 == 0:
        return rule.shared_bytes
    return (rule.shared_bytes - s.buffer[node].used_bytes) * rule.alpha_q16 >> 16


@inline_kernel
def egress_threshold(s: State, node: int) -> int:
    """Bytes that may wait for an output in a lossy priority."""
    rule = s.buffer_rule[node]
    if rule.egress_alpha_q16 == 0:
        return rule.shared_bytes
    return (rule.shared_bytes - s.buffer[node].used_bytes) * rule.egress_alpha_q16 >> 16


@inline_kernel
def shared_of(s: State, lane: int) -> int:
    """Bytes of the shared pool that a priority group holds."""
    return max(np.int64(0), np.int64(s.lane[lane].held_bytes) - s.lane[lane].reserve_bytes)


@inline_kernel
def admit(s: State, node: int, lane: int, size_bytes: int) -> bool:
    """Takes a frame into the buffer; False: there is no room for it."""
    group = s.lane[lane]
    buffer = s.buffer[node]
    before = shared_of(s, lane)
    after = max(np.int64(0), group.held_bytes + size_bytes - group.reserve_bytes)
    grown = after - before
    if after <= threshold(s, node) and grown <= s.buffer_rule[node].shared_bytes - buffer.used_bytes:
        group.held_bytes += size_bytes
        buffer.used_bytes += grown
        buffer.peak_bytes = max(buffer.peak_bytes, buffer.used_bytes)
        return True
    return _take_headroom(s, lane, size_bytes)


@seldom_kernel
def _take_headroom(s: State, lane: int, size_bytes: int) -> bool:
    group = s.lane[lane]
    if group.headroom_bytes + size_bytes > group.headroom_size_bytes:
        return False
    group.headroom_bytes += size_bytes
    more = s.lane_more[lane]
    more.peak_headroom_bytes = max(more.peak_headroom_bytes, np.int64(group.headroom_bytes))
    return True


@seldom_kernel
def count_full(s: State, lane: int) -> None:
    """Counts a packet that a priority group has no room for."""
    if s.lane[lane].lossless:
        s.lane_more[lane].lossless_drops += 1
    else:
        s.lane_more[lane].lossy_drops += 1


@inline_kernel
def release(s: State, node: int, lane: int, size_bytes: int) -> None:
    """Gives a frame's bytes back: those of the headroom first."""
    group = s.lane[lane]
    from_headroom = min(np.int64(group.headroom_bytes), np.int64(size_bytes))
    before = shared_of(s, lane)
    group.headroom_bytes -= from_headroom
    group.held_bytes -= size_bytes - from_headroom
    s.buffer[node].used_bytes -= before - shared_of(s, lane)
