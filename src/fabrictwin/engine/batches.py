# SPDX-License-Identifier: Apache-2.0
"""The records of a window as they travel: batches of ``fabrictwin.bus.v1.Window``, written and read in place.

Compiled, because a window of a large fabric holds a thousand records, and because whatever Python does once a
step costs several times as much as in a loop of nothing else: the simulation has emptied the caches.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.loop import has_room, take_fcps, take_packets, take_reactions
from fabrictwin.engine.port_vl import split_number
from fabrictwin.engine.state import CC_OUT, FCP_OUT, PACKET, State
from fabrictwin.jit import inline_kernel, kernel

PACKET_KIND, FCP_KIND, REACTION_KIND = 1, 2, 6
"""``RecordKind`` of what this reads and writes."""
PACKET_LAYOUT, FCP_LAYOUT, REACTION_LAYOUT = 2, 1, 1
"""Versions of their layouts: change one with the fields of its records."""
NO_ROOM, OTHER = -1, -2
"""What :func:`take_batches` returns instead of a number of records."""
BATCH_HEAD_BYTES = 22

_PACKET_BYTES, _FCP_BYTES, _REACTION_BYTES = PACKET.itemsize, FCP_OUT.itemsize, CC_OUT.itemsize
_BATCHES_TAG, _KIND_TAG, _LAYOUT_TAG, _COUNT_TAG, _RECORDS_TAG = 0x2A, 0x08, 0x10, 0x18, 0x22
_LONG_BYTES = 5


@inline_kernel
def _put_long(out: np.ndarray, at: int, value: int) -> int:
    """A number as a varint of five bytes, whatever its size; returns the place behind it."""
    for digit in range(_LONG_BYTES - 1):
        out[at + digit] = (value >> (7 * digit)) & 127 | 128
    out[at + _LONG_BYTES - 1] = value >> (7 * (_LONG_BYTES - 1))
    return at + _LONG_BYTES


@kernel
def _put_head(out: np.ndarray, at: int, kind: int, layout: int, count: int, size: int) -> int:
    """What stands in front of the records of a batch, once they are known; returns the place behind them."""
    if count == 0:
        return at
    end = at + BATCH_HEAD_BYTES + count * size
    out[at] = _BATCHES_TAG
    at = _put_long(out, at + 1, end - at - 1 - _LONG_BYTES)
    out[at] = _KIND_TAG
    out[at + 1] = kind
    out[at + 2] = _LAYOUT_TAG
    out[at + 3] = layout
    out[at + 4] = _COUNT_TAG
    at = _put_long(out, at + 5, count)
    out[at] = _RECORDS_TAG
    _put_long(out, at + 1, count * size)
    return end


@kernel
def put_batches(  # type: ignore[no-untyped-def]
    s: State, counts, owner, other: int, center: int, out
) -> int:
    """Writes what crosses to another shard.

    Args:
        s: The shard.
        counts: What :func:`fabrictwin.engine.loop.collect` has filled.
        owner: [nodes] number of the shard that owns each node.
        other: Number of the shard that hears it.
        center: Number of the shard that holds every reaction point; -1: none.
        out: Bytes; there must be room for all records.

    Returns:
        How many bytes it has written.
    """
    at = 0
    first = at + BATCH_HEAD_BYTES
    packets = out[first : first + counts[1] * _PACKET_BYTES].view(PACKET)
    count = 0
    for i in range(counts[1]):
        if owner[s.port[s.out_packet[i].port].node] == other:
            packets[count] = s.out_packet[i]
            count += 1
    at = _put_head(out, at, PACKET_KIND, PACKET_LAYOUT, count, _PACKET_BYTES)
    first = at + BATCH_HEAD_BYTES
    fcps = out[first : first + counts[2] * _FCP_BYTES].view(FCP_OUT)
    count = 0
    for i in range(counts[2]):
        if owner[s.port[split_number(s, np.int64(s.out_fcp[i].pv))[0]].node] == other:
            fcps[count] = s.out_fcp[i]
            count += 1
    at = _put_head(out, at, FCP_KIND, FCP_LAYOUT, count, _FCP_BYTES)
    first = at + BATCH_HEAD_BYTES
    reactions = out[first : first + counts[3] * _REACTION_BYTES].view(CC_OUT)
    count = 0
    for i in range(counts[3]):
        if other == center or owner[s.cc[s.out_cc[i].entity].node] == other:
            reactions[count] = s.out_cc[i]
            count += 1
    return _put_head(out, at, REACTION_KIND, REACTION_LAYOUT, count, _REACTION_BYTES)


@kernel
def _varint(data, at: int, number) -> int:  # type: ignore[no-untyped-def]
    """Reads a varint into ``number[0]``; returns the place behind it; behind the end if it is cut off."""
    value = np.int64(0)
    for digit in range(_LONG_BYTES):
        if at >= len(data):
            break
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << (7 * digit)
        if byte < 128:
            number[0] = value
            return at
    return len(data) + 1


@kernel
def _find_records(data, at: int, end: int, batch) -> bool:  # type: ignore[no-untyped-def]
    """Fills ``batch`` with kind, layout, count, place and size of the records; False: it is odd."""
    batch[:] = 0
    while at < end:
        tag = data[at]
        if tag == _KIND_TAG:
            at = _varint(data, at + 1, batch[0:])
        elif tag == _LAYOUT_TAG:
            at = _varint(data, at + 1, batch[1:])
        elif tag == _COUNT_TAG:
            at = _varint(data, at + 1, batch[2:])
        elif tag == _RECORDS_TAG:
            at = _varint(data, at + 1, batch[4:])
            batch[3] = at
            at += batch[4]
        else:
            return False
    return at == end


@kernel
def _size_of(kind: int, layout: int) -> int:
    """Bytes of a record of a kind; 0: others read it."""
    if kind == PACKET_KIND and layout == PACKET_LAYOUT:
        return _PACKET_BYTES
    if kind == FCP_KIND and layout == FCP_LAYOUT:
        return _FCP_BYTES
    if kind == REACTION_KIND and layout == REACTION_LAYOUT:
        return _REACTION_BYTES
    return 0


@kernel
def take_batches(s: State, data, start: int, batch) -> int:  # type: ignore[no-untyped-def]
    """Takes what another shard says; none of it has an effect before the fabric time reached.

    Args:
        s: The shard.
        data: [bytes] a serialised Window.
        start: Where its batches begin; nothing else follows.
        batch: [5] int64, for use here.

    Returns:
        The number of records; :data:`NO_ROOM` or :data:`OTHER` (other records, or none of this version)
        if nothing is taken.
    """
    total = 0
    for taking in range(2):
        at = start
        while at < len(data):
            if data[at] != _BATCHES_TAG:
                return OTHER
            at = _varint(data, at + 1, batch)
            end = at + batch[0]
            if end > len(data) or not _find_records(data, at, end, batch):
                return OTHER
            kind, count, first = batch[0], batch[2], batch[3]
            at = end
            if taking == 0:
                size = _size_of(kind, batch[1])
                if size == 0 or count * size != batch[4]:
                    return OTHER
                total += count
            elif kind == PACKET_KIND:
                take_packets(s, data[first : first + count * _PACKET_BYTES].view(PACKET))
            elif kind == FCP_KIND:
                take_fcps(s, data[first : first + count * _FCP_BYTES].view(FCP_OUT))
            else:
                take_reactions(s, data[first : first + count * _REACTION_BYTES].view(CC_OUT))
        if taking == 0 and not has_room(s, total):
            return NO_ROOM
    return total
