# SPDX-License-Identifier: Apache-2.0
"""A shard: the part of a fabric that one logical process simulates, and the promises between shards.

Conservative synchronisation (Chandy, Misra, Bryant): a shard may go up to the least promise over its incoming
channels. A promise is the sender's own fabric time plus the channel's lookahead, and that comes from the
cables: nothing that has not started yet has an effect at the other end before the propagation delay and the
shortest wire time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabrictwin.engine.build import Plan, build_state
from fabrictwin.engine.cbfc import wire_time
from fabrictwin.engine.codes import FCP_BYTES, NEVER, Status
from fabrictwin.engine.loop import RESERVE, announce, run, settle, take_in
from fabrictwin.engine.state import Records, State, grow


@dataclass(frozen=True)
class Window:
    """What one shard says to another in one step.

    Attributes:
        promise_ps: No later message on this channel has an effect before this fabric time.
        packets: PACKET records, ``port`` being the receiving port.
        fcps: FCP_OUT records, ``pv`` being the sender's side that hears them.
    """

    promise_ps: int
    packets: Records
    fcps: Records


class Shard:
    """One logical process.

    Attributes:
        number: Its number.
        state: Its arrays; rows of nodes that it does not own mean nothing.
    """

    def __init__(self, plan: Plan, owner: np.ndarray, number: int, *, trace: bool) -> None:
        self.number = number
        owned = owner == number
        self.state: State = build_state(plan, owned, trace=trace)
        self.ports = np.flatnonzero(owned[self.state.port.node]).astype(np.int32)
        self._owner_of_port = owner[self.state.port.node]
        self.lookahead_ps = self._lookaheads()

    def _lookaheads(self) -> dict[int, int]:
        """Lookahead of each outgoing channel, by the shard at its end."""
        ahead: dict[int, int] = {}
        for index in self.state.boundary:
            port = self.state.port[index]
            other = int(self._owner_of_port[port.peer])
            link_ps = int(port.delay_ps) + int(wire_time(FCP_BYTES, int(port.fs_per_byte)))
            ahead[other] = min(ahead.get(other, NEVER), link_ps)
        return ahead

    def advance(self, horizon_ps: int) -> None:
        """Simulates every event before a fabric time."""
        while run(self.state, horizon_ps) == Status.GROW:
            grow(self.state, RESERVE)

    def speak(self, now_ps: int) -> dict[int, Window]:
        """What this shard has to say at its fabric time, by the shard that hears it; empties the outbox."""
        if not self.lookahead_ps:
            return {}
        announce(self.state, now_ps - 1)
        g = self.state.g[0]
        packets = self.state.out_packet[: g.out_packets].copy()
        fcps = self.state.out_fcp[: g.out_fcps].copy()
        g.out_packets = 0
        g.out_fcps = 0
        packet_to = self._owner_of_port[packets.port]
        fcp_to = self._owner_of_port[fcps.pv // self.state.par[0].vls]
        return {
            other: Window(now_ps + ahead_ps, packets[packet_to == other], fcps[fcp_to == other])
            for other, ahead_ps in self.lookahead_ps.items()
        }

    def hear(self, window: Window) -> None:
        """Takes in what another shard has said."""
        while self._room() < len(window.packets) + len(window.fcps) + RESERVE:
            grow(self.state, len(window.packets) + len(window.fcps) + RESERVE)
        take_in(self.state, window.packets, window.fcps)

    def _room(self) -> int:
        g = self.state.g[0]
        heap_left = len(self.state.heap) - g.heap_count
        sorted_left = len(self.state.sorted) - g.sorted_count
        return int(min(g.packets_left, g.cells_left, g.events_left, heap_left, sorted_left))

    def settle(self, now_ps: int) -> None:
        """Works out all FCPs up to a fabric time, so that the arrays can be read."""
        settle(self.state, self.ports, now_ps)

    @property
    def is_idle(self) -> bool:
        """Whether no packet is here, nothing is under way, and all messages are acknowledged or failed."""
        g = self.state.g[0]
        return bool(g.live == 0 and g.outstanding == 0 and g.packets_left == len(self.state.packet))


class ShardGroup:
    """Shards in one process, over an in-process bus.

    Attributes:
        shards: The logical processes.
        owner: [nodes] number of the shard that owns each node.
        now_ps: Fabric time that every shard has reached.
    """

    def __init__(self, plan: Plan, count: int, *, trace: bool) -> None:
        self.owner = split_nodes(plan, count)
        self.shards = [Shard(plan, self.owner, number, trace=trace) for number in range(count)]
        self.now_ps = 0

    def advance(self, target_ps: int) -> None:
        """Brings every shard to a fabric time: all events before it are done."""
        reached = [self.now_ps] * len(self.shards)
        promises = {
            (shard.number, other): self.now_ps + ahead
            for shard in self.shards
            for other, ahead in shard.lookahead_ps.items()
        }
        while min(reached) < target_ps:
            for shard in self.shards:
                incoming = [ps for (_, to), ps in promises.items() if to == shard.number]
                horizon_ps = min([target_ps, *incoming])
                if horizon_ps <= reached[shard.number]:
                    continue
                shard.advance(horizon_ps)
                reached[shard.number] = horizon_ps
                for other, window in shard.speak(horizon_ps).items():
                    self.shards[other].hear(window)
                    promises[shard.number, other] = window.promise_ps
        self.now_ps = target_ps

    def settle(self) -> None:
        """Makes the arrays of every shard readable at the fabric time reached."""
        for shard in self.shards:
            shard.settle(self.now_ps - 1)
        if len(self.shards) == 1:
            return
        for shard in self.shards:
            for other, window in shard.speak(self.now_ps).items():
                self.shards[other].hear(window)
        for shard in self.shards:
            shard.settle(self.now_ps - 1)


def split_nodes(plan: Plan, count: int) -> np.ndarray:
    """Number of the shard of each node: equal runs of nodes in index order."""
    nodes = len(plan.scenario.fabric.nodes)
    return np.arange(nodes, dtype=np.int64) * count // max(1, nodes)
