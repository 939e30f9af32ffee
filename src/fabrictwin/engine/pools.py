# SPDX-License-Identifier: Apache-2.0
"""Taking records from the pools and giving them back.

A kernel never checks whether a pool has a record left: the loop makes sure of a reserve before each event.
"""

from __future__ import annotations

from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel


@inline_kernel
def take_packet(s: State) -> int:
    """Index of a packet record whose fields are stale."""
    g = s.g[0]
    index = g.free_packet
    g.free_packet = s.packet[index].next
    g.packets_left -= 1
    return index


@inline_kernel
def give_packet(s: State, index: int) -> None:
    """The packet is gone."""
    g = s.g[0]
    s.packet[index].next = g.free_packet
    g.free_packet = index
    g.packets_left += 1


@inline_kernel
def take_cell(s: State, time_ps: int, value: int) -> int:
    """Index of a cell that ends a list."""
    g = s.g[0]
    index = g.free_cell
    cell = s.cell[index]
    g.free_cell = cell.next
    g.cells_left -= 1
    cell.time_ps = time_ps
    cell.value = value
    cell.next = -1
    return index


@inline_kernel
def give_cell(s: State, index: int) -> None:
    """The cell is free."""
    g = s.g[0]
    s.cell[index].next = g.free_cell
    g.free_cell = index
    g.cells_left += 1


@inline_kernel
def take_message(s: State) -> int:
    """Index of a message record whose fields are stale."""
    g = s.g[0]
    index = g.free_message
    g.free_message = s.message[index].next
    g.messages_left -= 1
    return index


@inline_kernel
def give_message(s: State, index: int) -> None:
    """The message is over."""
    g = s.g[0]
    s.message[index].next = g.free_message
    g.free_message = index
    g.messages_left += 1


@seldom_kernel
def write_log(s: State, now_ps: int, node: int, kind: int, index: int, value: int) -> None:
    """Adds an entry to the event log."""
    g = s.g[0]
    entry = s.log[g.log]
    entry.at_ps = now_ps
    entry.node = node
    entry.kind = kind
    entry.index = index
    entry.value = value
    g.log += 1
