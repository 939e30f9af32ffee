# SPDX-License-Identifier: Apache-2.0
"""The first packet on a new path: entries of forwarding tables that name another output than before.

**Models** nothing: it tells when traffic follows what a subnet manager has written.
**State**: ``lft_moved``, a bit for each entry until a packet goes where it leads now; ``PORT_MORE.moved``,
their number by output; ``Odd.MOVED`` in ``PORT.odd``, so that all other outputs are spared to look.
**Out**: a FIRST_PACKET in the event log, one for each block that was written.
**Validated by**: tests/reference/test_kernels_equal_oracle.py, tests/validation (V103).
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import LogKind, Odd
from fabrictwin.engine.pools import write_log
from fabrictwin.engine.state import State
from fabrictwin.jit import kernel, seldom_kernel
from fabrictwin.model.controller import LFT_BLOCK_BYTES


@kernel
def _place_of(s: State, switch: int, lid: int) -> int:
    """Where the bit of an entry stands, in bits."""
    return switch * ((s.par[0].lids + 7) // 8) * 8 + lid


@kernel
def _has_moved(s: State, switch: int, lid: int) -> bool:
    place = _place_of(s, switch, lid)
    return (np.int64(s.lft_moved[place // 8]) >> (place % 8)) & 1 == 1


@kernel
def _flip(s: State, switch: int, lid: int) -> None:
    place = _place_of(s, switch, lid)
    s.lft_moved[place // 8] = np.int64(s.lft_moved[place // 8]) ^ (1 << place % 8)


@seldom_kernel
def _forget(s: State, node_index: int, lid: int) -> None:
    """Nobody waits for a packet to an LID any more."""
    node = s.node[node_index]
    if not _has_moved(s, node.switch, lid):
        return
    _flip(s, node.switch, lid)
    out = node.port0 + np.int64(s.lft[node.switch * s.par[0].lids + lid]) - 1
    s.port_more[out].moved -= 1
    if s.port_more[out].moved == 0:
        s.port[out].odd = s.port[out].odd & ~Odd.MOVED


@seldom_kernel
def write_entry(s: State, node_index: int, lid: int, number: int) -> None:
    """Sets the output of an LID in a switch's forwarding table."""
    node = s.node[node_index]
    entry = node.switch * s.par[0].lids + lid
    if np.int64(s.lft[entry]) == number:
        return
    _forget(s, node_index, lid)
    s.lft[entry] = number
    out = node.port0 + number - 1
    if number == 0 or number > node.ports or s.port[out].peer < 0:
        return
    _flip(s, node.switch, lid)
    s.port_more[out].moved += 1
    s.port[out].odd = s.port[out].odd | Odd.MOVED


@seldom_kernel
def note_first_packet(s: State, p: int, index: int) -> None:
    """A packet starts on an output that entries have moved to: logs it if it follows one of them."""
    node_index = np.int64(s.port[p].node)
    lid = np.int64(s.packet[index].dlid)
    node = s.node[node_index]
    if not _has_moved(s, node.switch, lid):
        return
    if node.port0 + np.int64(s.lft[node.switch * s.par[0].lids + lid]) - 1 != p:
        return
    write_log(s, s.packet[index].start_ps, node_index, LogKind.FIRST_PACKET, p, lid)
    first = lid - lid % LFT_BLOCK_BYTES
    for other in range(first, min(first + LFT_BLOCK_BYTES, s.par[0].lids)):
        _forget(s, node_index, other)
