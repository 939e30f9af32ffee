# SPDX-License-Identifier: Apache-2.0
"""A subnet manager as a logical process on the bus: notices in, blocks of forwarding tables out.

On RoCE it is the underlay, and what goes out are routes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fabrictwin.model.command import apply_command, parse_command
from fabrictwin.model.controller import (
    LFT_WRITE,
    NEVER_PS,
    NOTICE,
    PEER_MESSAGE,
    ROUTE_WRITE,
    Bulletin,
    Spoken,
    SubnetEvent,
    pack_records,
    unpack_notices,
    unpack_peer_messages,
)
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.checkpoint import Snapshot
from fabrictwin.runtime.convert import WindowData, decode
from fabrictwin.runtime.records import BY_NAME
from fabrictwin.runtime.rest import Rest
from fabrictwin.subnet.manager import SubnetManager
from fabrictwin.subnet.underlay import Underlay
from fabrictwin.units import PS_PER_NS

SUBNET_MANAGER = "subnet_manager"


class SmProcess:
    """One subnet manager.

    Args:
        blueprint: The scenario.
        name: Its name on the bus.
        rest: What it has said and heard but promises.

    Attributes:
        name: Its name on the bus.
        number: Its number.
        manager: What it is.
        scenario: The scenario, as it is now.
        counts: What it has done, by kind of event.
        writes: Blocks of forwarding tables that it has written.
        routes: Routes of RoCE switches that it has changed.
    """

    def __init__(self, blueprint: Blueprint, name: str) -> None:
        self.name = name
        self.rest = Rest()
        self.number = int(name.removeprefix("sm"))
        self.scenario: Scenario = blueprint.scenario
        self.manager: SubnetManager | Underlay = blueprint.make_manager(self.number)
        self.counts: dict[str, int] = {}
        self.writes = 0
        self.routes = 0
        pairs = blueprint.channels
        self._shards = tuple(to for sender, to in pairs if sender == name and to.startswith("switch"))
        self._peers = tuple(to for sender, to in pairs if sender == name and to.startswith("sm"))
        peer_ps, notice_ps = self.manager.peer_lookahead_ps, self.manager.notice_lookahead_ps
        self._promises = dict.fromkeys(self._shards, notice_ps) | dict.fromkeys(self._peers, peer_ps)
        self._reached = dict.fromkeys((*self._shards, *self._peers), 0)
        self.reached_ps = 0
        self._spoken_ps = -1
        self._events: list[SubnetEvent] = []
        self._commands: list[Mapping[str, Any]] = []
        self._notices = [np.zeros(0, NOTICE)]
        self._messages = {peer: [np.zeros(0, PEER_MESSAGE)] for peer in self._peers}
        self._bulletin = Bulletin(blueprint.scenario.actions)

    @property
    def next_ps(self) -> int:
        """Fabric time of the next thing that it does by itself, or that is done to it."""
        return min(self.manager.next_ps, self._bulletin.next_ps)

    def advance(self, to_ps: int) -> int:
        """Does everything before a fabric time, or before what others promise."""
        horizon_ps = min(to_ps, *self._promises.values())
        if horizon_ps > self.reached_ps:
            self._pass(horizon_ps)
        return self.reached_ps

    def _pass(self, to_ps: int) -> None:
        self.manager.hear(self._bulletin.take(to_ps))
        self.manager.advance(to_ps)
        self.reached_ps = to_ps

    def speak(self, granted_ps: int) -> Mapping[str, WindowData]:
        """Blocks for the switches, messages for the other subnet managers."""
        if self.reached_ps <= self._spoken_ps:
            return {}
        self._spoken_ps = self.reached_ps
        spoken = self.manager.speak()
        self._note(spoken)
        said = {shard: self._window(self.manager.lookahead_ps, _blocks(spoken)) for shard in self._shards}
        for peer in self._peers:
            messages = spoken.messages.get(int(peer.removeprefix("sm")), [])
            records = {"sm_message": pack_records(messages, PEER_MESSAGE)} if messages else {}
            said[peer] = self._window(self.manager.peer_lookahead_ps, records)
        self.rest.count_said(said)
        return said

    def _note(self, spoken: Spoken) -> None:
        self.writes += len(spoken.writes)
        self.routes += len(spoken.routes)
        self._events += spoken.events
        for event in spoken.events:
            self.counts[event.kind] = self.counts.get(event.kind, 0) + 1

    def _window(self, lookahead_ps: int, records: dict[str, np.ndarray]) -> WindowData:
        promise_ps = self.reached_ps + lookahead_ps
        return WindowData(promise_ps, promise_ps, self.reached_ps, records)

    def hear(self, sender: str, payload: bytes) -> None:
        """Takes in notices of a shard, or messages of another subnet manager."""
        window = decode(payload)
        self.rest.heard += window.weight
        notices, messages = window.records.get("notice"), window.records.get("sm_message")
        if notices is not None:
            self._notices.append(notices)
            self.manager.hear(unpack_notices(notices))
        if messages is not None:
            self._messages[sender].append(messages)
            self.manager.hear_peer(int(sender.removeprefix("sm")), unpack_peer_messages(messages))
        # A window may have been said before time was skipped.
        self._promises[sender] = max(self._promises[sender], window.packets_promise_ps)
        self._reached[sender] = window.reached_ps

    def waits_for(self, to_ps: int) -> Collection[str]:
        """Processes that keep it from a fabric time, or that have not said how they are at it."""
        if self.reached_ps >= to_ps:
            return [name for name, reached_ps in self._reached.items() if reached_ps < to_ps]
        return [name for name, promise_ps in self._promises.items() if promise_ps <= self.reached_ps]

    def apply(self, command: Mapping[str, Any]) -> None:
        """Takes a command of the director, before its fabric time."""
        self.scenario = apply_command(self.scenario, parse_command(command))
        self._bulletin.change(self.scenario.actions)
        self._commands.append(command)

    def save(self) -> Snapshot:
        """All that it needs to go on from here: what it has heard, for that decides what it is."""
        self._notices = [np.concatenate(self._notices)]
        arrays = {"notices": self._notices[0]}
        for peer, messages in self._messages.items():
            messages[:] = [np.concatenate(messages)]
            arrays[peer] = messages[0]
        plain = {
            "commands": list(self._commands),
            "promises": dict(self._promises),
            "rest": self.rest.save(),
            "reached": dict(self._reached),
            "reached_ps": self.reached_ps,
            "spoken_ps": self._spoken_ps,
            "events": [tuple(event) for event in self._events],
        }
        return Snapshot(plain, arrays)

    def load(self, snapshot: Snapshot) -> None:
        """Goes on where it was saved: a new one hears the same, and comes to the same."""
        plain = snapshot.plain
        for command in plain["commands"]:
            self.apply(command)
        self._notices = [snapshot.arrays["notices"]]
        self.manager.hear(unpack_notices(snapshot.arrays["notices"]))
        for peer in self._peers:
            self._messages[peer] = [snapshot.arrays[peer]]
            self.manager.hear_peer(int(peer.removeprefix("sm")), unpack_peer_messages(snapshot.arrays[peer]))
        self._spoken_ps = int(plain["spoken_ps"])
        self._pass(int(plain["reached_ps"]))
        self._note(self.manager.speak())
        self._events = [SubnetEvent(*event) for event in plain["events"]]
        self.rest.load(plain["rest"])
        self._promises, self._reached = dict(plain["promises"]), dict(plain["reached"])

    def begin(self, said: Mapping[str, int]) -> None:
        """Goes on with others from here; it owes nobody an answer."""

    def skip_to(self, quiet_ps: int) -> None:
        """Nobody does anything before a fabric time."""
        for name, promise_ps in self._promises.items():
            self._promises[name] = max(promise_ps, quiet_ps)

    def report(self) -> np.ndarray:
        """How far it is; a subnet manager never keeps a fabric busy."""
        report = np.zeros(1, BY_NAME["report"].dtype)
        report["reached_ps"] = self.reached_ps
        report["next_event_ps"] = self.next_ps
        report["blocked_since_ps"] = NEVER_PS
        report["idle"] = 1
        return report

    def take_events(self) -> Sequence[bytes]:
        """What it has done since the last call."""
        events, self._events = self._events, []
        return [json.dumps(describe_subnet_event(event)).encode() for event in events]


def describe_subnet_event(event: SubnetEvent) -> dict[str, Any]:
    """A line of the event log, as in the result."""
    fabric_ns = event.at_ps / PS_PER_NS
    return {"fabric_ns": fabric_ns, "source": SUBNET_MANAGER, "kind": event.kind, "text": event.text}


def _blocks(spoken: Spoken) -> dict[str, np.ndarray]:
    said = {}
    if spoken.writes:
        said["lft_write"] = pack_records(spoken.writes, LFT_WRITE)
    if spoken.routes:
        said["route_write"] = pack_records(spoken.routes, ROUTE_WRITE)
    return said
