# SPDX-License-Identifier: Apache-2.0
"""A shard: the part of a fabric that one logical process simulates, and what it promises to others.

Conservative synchronisation (Chandy, Misra, Bryant): a shard may go up to the least promise over its incoming
channels. A promise is the sender's own fabric time plus the channel's lookahead, which comes from the models:
a packet has no effect before the propagation delay and the receiver's pipeline, an FCP none before the
propagation delay and its wire time. An FCP matters only to a port that waits for credits. So a shard goes as
far as packets are promised, and stops by itself where a port would need an FCP that may be under way
(docs/decisions/0009 and 0010).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fabrictwin.engine.batches import BATCH_HEAD_BYTES, NO_ROOM, put_batches, take_batches
from fabrictwin.engine.build import build_state
from fabrictwin.engine.cbfc import wire_time
from fabrictwin.engine.change import change_state, next_link_change, write_routes, write_tables
from fabrictwin.engine.codes import DATA_OVERHEAD_BYTES, FCP_BYTES, NEVER, CcRole, LogKind, Status
from fabrictwin.engine.ethernet.loop import run_ethernet
from fabrictwin.engine.loop import RESERVE, collect, may_resynchronise, next_step, run, settle, take_in
from fabrictwin.engine.observe import blocked_since
from fabrictwin.engine.outlook import Outlook
from fabrictwin.engine.partition import Partition
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.snapshot import load_arrays, save_arrays
from fabrictwin.engine.state import ARRAYS, CC_OUT, FCP_OUT, PACKET, State, grow
from fabrictwin.engine.state_type import STATE
from fabrictwin.jit import entry_point
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import LftWrite, Notice, RouteWrite
from fabrictwin.model.fabric import Technology

_HARMFUL = (ActionKind.LINK_STATE, ActionKind.LINK_RATE, ActionKind.LINK_ERROR)
"""Actions on a cable after which an FCP may matter at once (it re-synchronises, or starts a link)."""

# What a step calls, so often that looking at the arguments' types each time would cost as much as the work.
_NO_PACKETS, _NO_FCPS, _NO_REACTIONS = (
    np.zeros(0, ARRAYS[name]) for name in ("out_packet", "out_fcp", "out_cc")
)
_NOBODY = np.zeros(0, np.int64)
_BYTES, _PAYLOAD = np.zeros(0, np.uint8), np.frombuffer(b"", np.uint8)
_KEPT = ("packets_ps", "fcps_ps", "calm_ps", "reached_ps")
"""What is put aside of an incoming channel."""


class _Code(NamedTuple):
    """What every step calls: to find out the types of the arguments would cost as much again."""

    run: Callable[..., Any]
    collect: Callable[..., Any]
    take_in: Callable[..., Any]
    put_batches: Callable[..., Any]
    take_batches: Callable[..., Any]
    next_step: Callable[..., Any]


@cache
def _code(ethernet: bool) -> _Code:
    return _Code(
        entry_point(run_ethernet if ethernet else run, STATE, 0),
        entry_point(collect, STATE, _NOBODY),
        entry_point(take_in, STATE, _NO_PACKETS, _NO_FCPS, _NO_REACTIONS),
        entry_point(put_batches, STATE, _NOBODY, _NOBODY, 0, 0, _BYTES),
        entry_point(take_batches, STATE, _PAYLOAD, 0, _NOBODY),
        entry_point(next_step, STATE),
    )


@dataclass(slots=True)
class Window:
    """What one logical process says to another in one step.

    Attributes:
        reached_ps: The sender's own fabric time.
        packets_ps: No later message on this channel but an FCP has an effect before this fabric time.
        fcps_ps: No later FCP on this channel arrives before this fabric time.
        calm_ps: No FCP that does more than to advertise credits is sent before this fabric time.
        packets: PACKET records, ``port`` being the receiving port.
        fcps: FCP_OUT records, ``pv`` being the sender's side that hears them.
        reactions: CC_OUT records: to congestion control, or from it.
    """

    reached_ps: int
    packets_ps: int
    fcps_ps: int
    calm_ps: int = NEVER
    packets: np.ndarray = field(default_factory=lambda: _NO_PACKETS)
    fcps: np.ndarray = field(default_factory=lambda: _NO_FCPS)
    reactions: np.ndarray = field(default_factory=lambda: _NO_REACTIONS)

    @property
    def weight(self) -> int:
        """Messages in it that keep a fabric busy."""
        return len(self.packets) + len(self.reactions)


@dataclass(slots=True)
class _Channel:
    """One direction between two shards, as either end sees it.

    Attributes:
        packets_ps: Outgoing: lookahead of packets. Incoming: their promise.
        fcps_ps: The same of FCPs.
        ports: Outgoing: the ports that face the other shard.
        faults_ps: When cables of this channel go down, come up or change, sorted.
        reached_ps: Incoming: the sender's fabric time.
        calm_ps: Incoming: what the sender said last.
        horizon_ps: Incoming: how far the receiver may go, if no port of it needs an FCP.
        packed: Outgoing: the bytes of the last window that was packed.
    """

    packets_ps: int = NEVER
    fcps_ps: int = NEVER
    ports: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    faults_ps: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    reached_ps: int = 0
    calm_ps: int = NEVER
    horizon_ps: int = 0
    packed: np.ndarray = field(default_factory=lambda: _BYTES)

    def look_ahead(self) -> None:
        """Works out how far the receiver may go; after every change of an incoming channel."""
        # The sender has spoken after every fault before the time that it had reached.
        calm_ps = min(self.calm_ps, self.next_fault_ps(self.reached_ps)) if len(self.faults_ps) else NEVER
        if self.packets_ps <= calm_ps:
            self.horizon_ps = self.packets_ps
        else:
            self.horizon_ps = max(calm_ps, min(self.fcps_ps, self.packets_ps))

    def next_fault_ps(self, from_ps: int) -> int:
        """When a cable of this channel changes next, from a fabric time on."""
        at = int(np.searchsorted(self.faults_ps, from_ps)) if len(self.faults_ps) else 0
        return int(self.faults_ps[at]) if at < len(self.faults_ps) else NEVER


class Shard:
    """One logical process.

    Args:
        plan: The scenario and its rows.
        partition: Who simulates what.
        number: Which shard this is.
        trace: Record every packet and FCP.

    Attributes:
        number: Its number.
        plan: The scenario, as it is now, and its rows.
        owned: [nodes] bool, the nodes that it simulates.
        state: Its arrays; rows of nodes that it does not own mean nothing.
        outgoing: Lookaheads, by the number of the shard that hears.
        incoming: Promises, by the number of the shard that speaks.
        horizon_ps: Fabric time that it may go to, as far as it has heard.
    """

    def __init__(self, plan: Plan, partition: Partition, number: int, *, trace: bool = False) -> None:
        self.number = number
        self.plan = plan
        self.owned = np.asarray(partition.owner == number)
        self._noticed = 0
        self._ethernet = plan.scenario.fabric.technology is Technology.ROCE
        role = _cc_role(partition, number)
        self.state: State = build_state(plan, self.owned, trace=trace, cc_role=role)
        self._watch_scalars()
        self._vls = int(self.state.par[0].vls)
        self._counts = np.zeros(4, np.int64)
        self._batch = np.zeros(5, np.int64)
        self._code = _code(self._ethernet)
        self._outboxes: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.ports = np.flatnonzero(self.owned[self.state.port.node]).astype(np.int32)
        self._owner_of_port = partition.owner[self.state.port.node]
        self._partition = partition
        self._owner = np.asarray(partition.owner, np.int64)
        self._cc = partition.congestion_control
        self.outgoing: dict[int, _Channel] = {}
        self.incoming: dict[int, _Channel] = {}
        self._open_link_channels()
        self._trip_ps = self._measure_trip()
        self._open_cc_channels(plan, partition)
        self.watch_faults()

    def _watch_scalars(self) -> None:
        """Finds the scalars that every step needs in the arrays."""
        self._g = g = np.asarray(self.state.g).view(np.ndarray)
        self._now_ps, self._known_ps, self._log = g["now_ps"], g["credits_known_ps"], g["log"]

    def _open_link_channels(self) -> None:
        for index in self.state.boundary:
            port = self.state.port[index]
            other = int(self._owner_of_port[port.peer])
            pipeline_ps = self._pipeline_ps(int(port.peer_node), int(port.fs_per_byte))
            fcp_ps = int(wire_time(FCP_BYTES, int(port.fs_per_byte)))
            ahead = self.outgoing.setdefault(other, _Channel())
            ahead.packets_ps = min(ahead.packets_ps, int(port.delay_ps) + pipeline_ps)
            ahead.fcps_ps = min(ahead.fcps_ps, int(port.delay_ps) + fcp_ps)
            back = self.state.port[port.peer]
            pipeline_ps = self._pipeline_ps(int(port.node), int(back.fs_per_byte))
            heard = self.incoming.setdefault(other, _Channel())
            heard.packets_ps = min(heard.packets_ps, int(back.delay_ps) + pipeline_ps)
            heard.fcps_ps = min(heard.fcps_ps, int(back.delay_ps) + fcp_ps)

    def _pipeline_ps(self, node: int, fs_per_byte: int) -> int:
        """From a packet's first byte at a node to the first thing that it can cause there."""
        record = self.state.node[node]
        stored_ps = int(wire_time(DATA_OVERHEAD_BYTES, fs_per_byte)) if record.stores else 0
        return int(record.forwarding_ps) + stored_ps

    def _measure_trip(self) -> int:
        """Lookaheads to a neighbour and back."""
        trips = [ahead.packets_ps + self.incoming[other].packets_ps for other, ahead in self.outgoing.items()]
        return min(trips, default=NEVER)

    def _open_cc_channels(self, plan: Plan, partition: Partition) -> None:
        control = plan.scenario.congestion_control
        if self._cc is None or control.algorithm != "ib_cca":
            return
        adapters = {int(partition.owner[node]) for node in plan.scenario.fabric.hcas}
        if self.number == self._cc:
            others = adapters
        else:
            others = {self._cc} if self.number in adapters else set()
        to_cc_ps = control.reaction_latency_ps // 2
        to_hca_ps = control.reaction_latency_ps - to_cc_ps
        out_ps, in_ps = (to_hca_ps, to_cc_ps) if self.number == self._cc else (to_cc_ps, to_hca_ps)
        for other in sorted(others):
            self.outgoing[other] = _Channel(packets_ps=out_ps)
            self.incoming[other] = _Channel(packets_ps=in_ps)

    def watch_faults(self) -> None:
        """Notes when cables between shards change; after every new action."""
        action = self.state.action
        harmful = action[np.isin(action.kind, _HARMFUL) & (action.at_ps < NEVER)]
        facing = self._owner_of_port[self.state.port.peer[self.state.boundary]]
        for other, ahead in self.outgoing.items():
            ahead.ports = self.state.boundary[facing == other]
            ahead.faults_ps = np.sort(harmful.at_ps[np.isin(harmful.port, ahead.ports)])
            self.incoming[other].faults_ps = ahead.faults_ps
            self.incoming[other].look_ahead()
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Works out how far it may go, and up to where FCPs are known; after every change of a channel."""
        channels = self.incoming.values()
        self.horizon_ps = min([channel.horizon_ps for channel in channels], default=NEVER)
        self._known_ps[0] = min([channel.fcps_ps for channel in channels], default=NEVER)

    def _calm_ps(self, ahead: _Channel, now_ps: int) -> int:
        """Before which fabric time no FCP on a channel will re-synchronise credits or start a link."""
        if ahead.faults_ps[0] < now_ps and may_resynchronise(self.state, ahead.ports):
            return now_ps
        return ahead.next_fault_ps(now_ps)

    @property
    def reached_ps(self) -> int:
        """Fabric time reached: every event before it is done."""
        return int(self._now_ps.item())

    @property
    def next_ps(self) -> int:
        """Fabric time of the next thing that it does by itself; NEVER: nothing."""
        return int(self._code.next_step(self.state))

    @property
    def stride_ps(self) -> int:
        """Fabric time to stop at and speak, so that this shard and its only neighbour work at the same time.

        There and back again a promise is worth the lookaheads of both ways, and two windows are under way.
        If both shards went as far as they may, one would be long and one short, and each shard would
        wait while the other is at the long one.
        """
        reached_ps = self.reached_ps
        is_skipping = self.horizon_ps > reached_ps + self._trip_ps
        return NEVER if is_skipping else reached_ps + (self._trip_ps + 1) // 2

    def advance(self, to_ps: int) -> int:
        """Simulates every event before a fabric time, or as far as it may go; returns the time reached."""
        to_ps = min(to_ps, self.horizon_ps)
        run_fast = self._code.run
        while run_fast(self.state, to_ps) == Status.GROW:
            grow(self.state, RESERVE)
        return self.reached_ps

    def speak(self) -> dict[int, Window]:
        """What this shard has to say at its fabric time, by the shard that hears it; empties the outbox.

        The records are only valid until it advances again.
        """
        if not self.outgoing:
            return {}
        self.collect()
        _, packets, fcps, reactions = self._counts.tolist()
        windows = {other: self.repeat(other) for other in self.outgoing}
        if packets:
            self._deal_packets(windows, self._outbox("out_packet", packets))
        if fcps:
            self._deal_fcps(windows, self._outbox("out_fcp", fcps))
        if reactions:
            out_reactions = self._outbox("out_cc", reactions)
            for other, window in windows.items():
                window.reactions = _select(out_reactions, self._reactions_to(other, out_reactions))
        return windows

    def collect(self) -> int:
        """Empties the outbox for :meth:`pack`; returns how many records it held."""
        self._code.collect(self.state, self._counts)
        _, packets, fcps, reactions = self._counts.tolist()
        self._outbox_bytes = (
            packets * PACKET.itemsize
            + fcps * FCP_OUT.itemsize
            + reactions * CC_OUT.itemsize
            + 3 * BATCH_HEAD_BYTES
        )
        return int(packets + fcps + reactions)

    def pack(self, other: int, start: int) -> np.ndarray:
        """What of the outbox another shard is to hear, as bytes that are valid until the next window.

        Args:
            other: The shard that hears it.
            start: Bytes to leave free in front.
        """
        ahead = self.outgoing[other]
        if len(ahead.packed) < start + self._outbox_bytes:
            ahead.packed = np.zeros(2 * (start + self._outbox_bytes), np.uint8)
        center = -1 if self._cc is None else self._cc
        put_fast = self._code.put_batches
        size = put_fast(self.state, self._counts, self._owner, other, center, ahead.packed[start:])
        return ahead.packed[: start + size]

    def _deal_packets(self, windows: dict[int, Window], packets: np.ndarray) -> None:
        if len(windows) == 1:
            next(iter(windows.values())).packets = packets
            return
        owner = self._owner_of_port[packets["port"]]
        for other, window in windows.items():
            window.packets = _select(packets, owner == other)

    def _deal_fcps(self, windows: dict[int, Window], fcps: np.ndarray) -> None:
        if len(windows) == 1:
            next(iter(windows.values())).fcps = fcps
            return
        owner = self._owner_of_port[fcps["pv"] // self._vls]
        for other, window in windows.items():
            window.fcps = _select(fcps, owner == other)

    def repeat(self, other: int) -> Window:
        """What this shard promises another one, without anything that crosses."""
        now_ps, ahead = self.reached_ps, self.outgoing[other]
        return Window(
            now_ps,
            _later(now_ps, ahead.packets_ps),
            _later(now_ps, ahead.fcps_ps),
            self._calm_ps(ahead, now_ps) if len(ahead.faults_ps) else NEVER,
            _NO_PACKETS,
            _NO_FCPS,
            _NO_REACTIONS,
        )

    def _outbox(self, name: str, count: int) -> np.ndarray:
        """The first records of an array as a plain array, which is much faster to handle than records."""
        array = getattr(self.state, name)
        known, plain = self._outboxes.get(name, (None, _NOBODY))
        if known is not array:
            plain = np.asarray(array).view(np.ndarray)
            self._outboxes[name] = (array, plain)
        return plain[:count]

    def _reactions_to(self, other: int, reactions: np.ndarray) -> np.ndarray:
        if other == self._cc:
            return np.ones(len(reactions), bool)
        return np.asarray(self._partition.owner[self.state.cc.node[reactions["entity"]]] == other)

    def hear(self, sender: int, window: Window) -> None:
        """Takes in what another shard has said."""
        while not self._code.take_in(self.state, window.packets, window.fcps, window.reactions):
            grow(self.state, len(window.packets) + len(window.fcps) + len(window.reactions) + RESERVE)
        self.trust(sender, window.reached_ps, window.packets_ps, window.fcps_ps, window.calm_ps)

    def unpack(self, payload: bytes, start: int) -> int:
        """Takes in the records that another shard has packed.

        Args:
            payload: A serialised Window.
            start: Where its batches begin.

        Returns:
            How many records they are; negative: there are others among them, and none is taken.
        """
        data = np.frombuffer(payload, np.uint8)
        take_fast = self._code.take_batches
        while (taken := take_fast(self.state, data, start, self._batch)) == NO_ROOM:
            grow(self.state, len(payload) // CC_OUT.itemsize + RESERVE)
        return int(taken)

    def trust(self, sender: int, reached_ps: int, packets_ps: int, fcps_ps: int, calm_ps: int) -> None:
        """Takes what another shard promises, once what it has said is taken in; see :class:`Window`."""
        channel = self.incoming[sender]
        # A window may have been said before time was skipped.
        channel.packets_ps = max(channel.packets_ps, packets_ps)
        channel.fcps_ps = max(channel.fcps_ps, fcps_ps)
        channel.calm_ps = calm_ps
        channel.reached_ps = reached_ps
        channel.look_ahead()
        self._look_ahead()

    def skip_to(self, quiet_ps: int) -> None:
        """Nobody does anything before a fabric time, and nothing is under way: all channels promise it."""
        for channel in self.incoming.values():
            channel.packets_ps = max(channel.packets_ps, quiet_ps)
            channel.fcps_ps = max(channel.fcps_ps, quiet_ps)
            channel.look_ahead()
        self._look_ahead()

    def change(self, plan: Plan, at_ps: int) -> None:
        """From a fabric time on that it has not passed, the scenario is another."""
        change_state(self.state, self.plan, plan, self.owned, at_ps)
        self.plan = plan
        self.watch_faults()

    def write_tables(self, writes: list[LftWrite]) -> None:
        """Takes blocks of forwarding tables, none of which holds before the fabric time reached."""
        write_tables(self.state, writes, self.owned)

    def write_routes(self, writes: list[RouteWrite]) -> None:
        """Takes routes of RoCE switches, none of which holds before the fabric time reached."""
        write_routes(self.state, writes, self.owned)

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that it needs to go on from here: plain values, and copies of its arrays."""
        heard = {
            str(other): [getattr(channel, name) for name in _KEPT] for other, channel in self.incoming.items()
        }
        return {"noticed": self._noticed, "heard": heard}, save_arrays(self.state)

    def load(self, plan: Plan, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Goes on where :meth:`save` was called.

        Args:
            plan: The scenario as it was then, and its rows.
            plain: The plain values.
            arrays: The arrays, which are copied.

        Raises:
            SnapshotError: They are not those of a shard.
        """
        self.plan = plan
        self.state = load_arrays(arrays)
        self._watch_scalars()
        self._noticed = int(plain["noticed"])
        for other, values in plain["heard"].items():
            for name, value in zip(_KEPT, values, strict=True):
                setattr(self.incoming[int(other)], name, int(value))
        self.watch_faults()

    def take_notices(self) -> list[Notice]:
        """Cables of its nodes that have gone down or come up since the last call."""
        logged = int(self._log.item())
        if logged == self._noticed:
            return []
        log = self.state.log[self._noticed : logged]
        self._noticed = logged
        first = self.plan.ports.first
        return [
            Notice(
                int(entry.at_ps),
                int(entry.node),
                int(entry.index) - int(first[entry.node]) + 1,
                ActionKind.LINK_STATE,
                int(entry.kind == LogKind.LINK_UP),
            )
            for entry in log[(log.kind == LogKind.LINK_DOWN) | (log.kind == LogKind.LINK_UP)]
        ]

    @property
    def next_notice_ps(self) -> int:
        """When a cable of its nodes goes down or comes up next, as far as is known; NEVER: it does not."""
        return next_link_change(self.state, self.owned, self.reached_ps)

    def outlook(self) -> Outlook:
        """How it is, at a look-around; its arrays must be settled."""
        blocked_since_ps = blocked_since(self.state, self.reached_ps)
        return Outlook(self.is_idle, int(self._g["last_live_ps"].item()), int(blocked_since_ps))

    def settle(self) -> None:
        """Works out all FCPs up to the fabric time reached, so that the arrays can be read."""
        settle(self.state, self.ports, self.reached_ps - 1)

    @property
    def is_idle(self) -> bool:
        """Whether no packet is here, nothing is under way, and all messages are acknowledged or failed."""
        g = self._g
        return not (g["live"].item() or g["outstanding"].item()) and (
            g["packets_left"].item() == len(self.state.packet)
        )


def _select(array: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """A copy of the records that are chosen, each in one piece: NumPy would copy them field by field."""
    return array.view(f"V{array.itemsize}")[chosen].view(array.dtype)


def _later(now_ps: int, ahead_ps: int) -> int:
    return NEVER if ahead_ps == NEVER else now_ps + ahead_ps


def _cc_role(partition: Partition, number: int) -> CcRole:
    if partition.congestion_control is None:
        return CcRole.TOGETHER
    return CcRole.REACTION_POINTS if partition.congestion_control == number else CcRole.ADAPTERS
