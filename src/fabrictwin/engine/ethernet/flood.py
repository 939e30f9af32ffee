# SPDX-License-Identifier: Apache-2.0
"""Flooding: a switch that knows a host's IP address and not its MAC address sends what is for it everywhere.

**Models**: docs/models/rocev2.md section 6 (Guo et al., SIGCOMM 2016, section 4.2). **Not**: one place in the
buffer for all copies: each takes its own.
**Events in**: STORED. **Out**: PORT_FREE of every port.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import FLOODED_TTL
from fabrictwin.engine.ethernet.switch import offer
from fabrictwin.engine.link import serve_later
from fabrictwin.engine.pools import give_packet, take_packet
from fabrictwin.engine.state import State
from fabrictwin.jit import seldom_kernel


@seldom_kernel
def flood(s: State, packet_index: int, now_ps: int) -> None:
    """Offers a copy of a packet to every output but that to where it came from."""
    came_by = np.int64(s.packet[packet_index].port)
    node_index = np.int64(s.port[came_by].node)
    node = s.node[node_index]
    for out in range(node.port0, node.port0 + node.ports):
        if out == came_by or not s.port[out].up or s.port[out].peer < 0:
            continue
        copy = take_packet(s)
        s.packet[copy] = s.packet[packet_index]
        s.packet[copy].ttl = FLOODED_TTL
        if offer(s, copy, np.int64(out), node_index, now_ps) >= 0:
            serve_later(s, np.int64(out), max(now_ps, s.port[out].data_free_ps))
    give_packet(s, packet_index)
    s.g[0].last_live_ps = now_ps
