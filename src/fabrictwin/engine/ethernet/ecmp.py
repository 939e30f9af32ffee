# SPDX-License-Identifier: Apache-2.0
"""ECMP: which of the next hops of a destination a packet takes.

**Models**: docs/models/rocev2.md section 6. **Not**: a particular vendor's hash; a good one is taken.
**State**: ``route`` (group by switch and destination), ``GROUP``, ``member``, ``FLOWLET``.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel, seldom_kernel

FLOWLETS = 1024
"""Rows of a switch's table of flowlets, by hash; of two flows in one row each begins a flowlet anew."""

_NOWHERE = -1


@inline_kernel
def _flow_key(s: State, packet_index: int) -> int:
    packet = s.packet[packet_index]
    return np.int64(packet.dlid) << 16 | np.int64(packet.entropy)


@inline_kernel
def _pick(s: State, node: int, key: int, count: int) -> int:
    """A number below ``count`` from a key, another one in each switch."""
    return draw_below(0, Stream.PATH, s.buffer_rule[node].hash_seed, key, count)


@inline_kernel
def choose_output(s: State, packet_index: int, node: int, now_ps: int) -> int:
    """The port that a packet leaves a switch by, -1: none."""
    packet = s.packet[packet_index]
    record = s.node[node]
    group = s.route[record.switch * s.par[0].lids + packet.dlid]
    count = np.int64(s.group[group].count)
    if count == 0:
        return _NOWHERE
    at = 0
    if count > 1:
        key = _flow_key(s, packet_index)
        if s.par[0].flowlet_ps > 0:
            return _follow_flowlet(s, packet_index, node, group, key, now_ps)
        if s.par[0].spraying:
            key = _spread(s, packet_index, key)
        at = _pick(s, node, key, count)
    out = record.port0 + np.int64(s.member[s.group[group].first + at]) - 1
    if s.port[out].up and out != packet.port:
        return out
    return _repair(s, packet_index, node, group, now_ps)


@seldom_kernel
def write_route(s: State, node: int, lid: int, group: int) -> None:
    """A switch has other outputs towards a destination; flowlets on their way there choose anew."""
    switch = np.int64(s.node[node].switch)
    s.route[switch * s.par[0].lids + lid] = group
    if s.par[0].flowlet_ps > 0:
        for row in range(FLOWLETS):
            flowlet = s.flowlet[switch * FLOWLETS + row]
            if flowlet.key >> 16 == lid:
                flowlet.key = -1


@inline_kernel
def _spread(s: State, packet_index: int, key: int) -> int:
    """A key that is another one for every packet, and for every time that it is sent."""
    packet = s.packet[packet_index]
    return key ^ (packet.psn << 32) ^ (packet.start_ps << 20)


@seldom_kernel
def _repair(s: State, packet_index: int, node: int, group: int, now_ps: int) -> int:
    """Chooses among the outputs whose links are up."""
    record = s.node[node]
    first = np.int64(s.group[group].first)
    up = np.int64(0)
    for i in range(s.group[group].count):
        out = record.port0 + np.int64(s.member[first + i]) - 1
        if s.port[out].up and out != s.packet[packet_index].port:
            up += 1
    if up == 0:
        return _NOWHERE
    at = _pick(s, node, _flow_key(s, packet_index), up)
    for i in range(s.group[group].count):
        out = record.port0 + np.int64(s.member[first + i]) - 1
        if s.port[out].up and out != s.packet[packet_index].port:
            if at == 0:
                return out
            at -= 1
    return _NOWHERE


@seldom_kernel
def _follow_flowlet(s: State, packet_index: int, node: int, group: int, key: int, now_ps: int) -> int:
    """The output of the flowlet before, unless the flow has paused."""
    row = draw_below(0, Stream.PATH, s.buffer_rule[node].hash_seed + 1, key, FLOWLETS)
    flowlet = s.flowlet[s.node[node].switch * FLOWLETS + row]
    out = flowlet.out + 0
    if flowlet.key != key or now_ps - flowlet.last_ps > s.par[0].flowlet_ps or not s.port[out].up:
        count = np.int64(s.group[group].count)
        at = _pick(s, node, _spread(s, packet_index, key), count)
        out = s.node[node].port0 + np.int64(s.member[s.group[group].first + at]) - 1
        if not s.port[out].up:
            out = _repair(s, packet_index, node, group, now_ps)
    flowlet.key = key
    flowlet.last_ps = now_ps
    flowlet.out = max(out, np.int64(0))
    return out
