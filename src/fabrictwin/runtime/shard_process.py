# SPDX-License-Identifier: Apache-2.0
"""A shard of the fabric as a logical process on the bus: windows in, windows out."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fabrictwin.engine.change import change_plan
from fabrictwin.engine.codes import NEVER
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.result import describe_event
from fabrictwin.engine.shard import Shard, Window
from fabrictwin.engine.state import CC_OUT, FCP_OUT, PACKET, State
from fabrictwin.model.command import apply_command, parse_command
from fabrictwin.model.controller import (
    NOTICE,
    Notice,
    pack_records,
    unpack_lft_writes,
    unpack_route_writes,
)
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.checkpoint import Snapshot
from fabrictwin.runtime.convert import HEAD_BYTES, WindowData, decode, encode, read_head
from fabrictwin.runtime.records import BY_NAME
from fabrictwin.runtime.rest import Rest
from fabrictwin.runtime.turns import share_turns

_NO_PACKETS = np.zeros(0, PACKET)
_NO_FCPS = np.zeros(0, FCP_OUT)
_NO_REACTIONS = np.zeros(0, CC_OUT)


class ShardProcess:
    """One shard.

    Args:
        blueprint: The scenario.
        name: Its name on the bus.

    Attributes:
        name: Its name on the bus.
        rest: What it has said and heard but promises.
        owned: [nodes] whether it simulates the node.
    """

    def __init__(self, blueprint: Blueprint, name: str) -> None:
        self.name = name
        self.rest = Rest()
        self._names = blueprint.partition.names
        self._numbers = {other: number for number, other in enumerate(self._names)}
        self._shard = Shard(blueprint.plan, blueprint.partition, self._numbers[name])
        self.owned = self._shard.owned
        self._managers = _Managers(blueprint, name)
        self._turns = share_turns(
            {
                self._names[other]: (ahead.packets_ps, self._shard.incoming[other].packets_ps)
                for other, ahead in self._shard.outgoing.items()
                if blueprint.takes_turns and len(ahead.ports)
            }
        )
        self._paces = len(blueprint.shards) == 2 and not blueprint.takes_turns
        self._spoken_ps = -1
        self._logged = 0
        self._commands: list[Mapping[str, Any]] = []

    @property
    def plan(self) -> Plan:
        """Names of the rows of its arrays."""
        return self._shard.plan

    @property
    def state(self) -> State:
        """Its arrays."""
        return self._shard.state

    @property
    def senders(self) -> list[str]:
        """The shards that say something to it."""
        return [self._names[other] for other in self._shard.incoming]

    @property
    def reached_ps(self) -> int:
        """Fabric time that it has reached."""
        return self._shard.reached_ps

    @property
    def next_ps(self) -> int:
        """Fabric time of the next thing that it does by itself."""
        return self._shard.next_ps

    def settle(self) -> None:
        """Makes its arrays readable at the fabric time that it has reached."""
        self._shard.settle()

    def advance(self, to_ps: int) -> int:
        """Simulates up to a fabric time, or as far as others promise."""
        if self._turns.waiting:
            return self._shard.reached_ps
        to_ps = min(to_ps, self._managers.promise_ps)
        return self._shard.advance(min(to_ps, self._shard.stride_ps) if self._paces else to_ps)

    def speak(self, granted_ps: int) -> Mapping[str, WindowData]:
        """What crosses its boundary, by who hears it."""
        said = self._managers.tell(self._shard, granted_ps)
        self.rest.count_said(said)
        shard, turns = self._shard, self._turns
        if shard.reached_ps > self._spoken_ps:
            self._spoken_ps = shard.reached_ps
            self.rest.said += shard.collect()
            for other in shard.outgoing:
                self._say(said, other, shard.pack(other, HEAD_BYTES))
        elif turns.owed:
            for name in sorted(turns.owed):
                self._say(said, self._numbers[name], None)
        return said

    def _say(self, said: dict[str, WindowData], other: int, packed: np.ndarray | None) -> None:
        name, window = self._names[other], self._shard.repeat(other)
        said[name] = WindowData(
            window.packets_ps,
            window.fcps_ps,
            window.reached_ps,
            calm_promise_ps=window.calm_ps,
            heard=self._turns.say(name),
            packed=packed,
        )

    def hear(self, sender: str, payload: bytes) -> None:
        """Takes in what another process has said."""
        number = self._numbers.get(sender)
        if number is None:
            self._hear_manager(sender, decode(payload))
            return
        window = read_head(payload)
        taken = -1 if window is None else self._shard.unpack(payload, HEAD_BYTES)
        if window is None or taken < 0:
            window = decode(payload)
            taken = window.weight
            self._shard.hear(number, _unpack(window))
        else:
            self._shard.trust(
                number,
                window.reached_ps,
                window.packets_promise_ps,
                window.fcps_promise_ps,
                window.calm_promise_ps,
            )
        self.rest.heard += taken
        self._turns.hear(sender, window.sequence, window.heard)

    def _hear_manager(self, sender: str, window: WindowData) -> None:
        self.rest.heard += window.weight
        writes = window.records.get("lft_write")
        if writes is not None:
            self._shard.write_tables(unpack_lft_writes(writes))
        routes = window.records.get("route_write")
        if routes is not None:
            self._shard.write_routes(unpack_route_writes(routes))
        self._managers.hear(sender, window.packets_promise_ps)

    def waits_for(self, to_ps: int) -> Collection[str]:
        """Processes that keep it from a fabric time, or that have not said how they are at it."""
        incoming, reached_ps = self._shard.incoming, self._shard.reached_ps
        if reached_ps >= to_ps:
            return [self._names[other] for other, channel in incoming.items() if channel.reached_ps < to_ps]
        if self._turns.waiting:
            return self._turns.waiting | self._turns.answers
        late = {self._names[other] for other, channel in incoming.items() if channel.horizon_ps <= reached_ps}
        late.update(self._managers.late(reached_ps))
        # Where no promise keeps it, a port waits for credits that may be under way.
        late = late or {self._names[other] for other, channel in incoming.items() if channel.fcps_ps < NEVER}
        return late | self._turns.answers

    def apply(self, command: Mapping[str, Any]) -> None:
        """Takes a command of the director, before its fabric time."""
        order = parse_command(command)
        plan = change_plan(self.plan, apply_command(self.plan.scenario, order))
        self._shard.change(plan, order.at_ps)
        self._managers.forget()
        self._commands.append(command)

    def save(self) -> Snapshot:
        """All that it needs to go on from here."""
        shard, arrays = self._shard.save()
        plain = {
            "shard": shard,
            "managers": self._managers.save(),
            "turns": self._turns.save(),
            "rest": self.rest.save(),
            "commands": list(self._commands),
            "spoken_ps": self._spoken_ps,
            "logged": self._logged,
        }
        return Snapshot(plain, arrays)

    def load(self, snapshot: Snapshot) -> None:
        """Goes on where it was saved."""
        plain = snapshot.plain
        self._commands = list(plain["commands"])
        plan = self.plan
        for command in self._commands:
            plan = change_plan(plan, apply_command(plan.scenario, parse_command(command)))
        self._shard.load(plan, plain["shard"], snapshot.arrays)
        self._managers.load(plain["managers"])
        self._turns.load(plain["turns"])
        self.rest.load(plain["rest"])
        self._spoken_ps = int(plain["spoken_ps"])
        self._logged = int(plain["logged"])

    def begin(self, said: Mapping[str, int]) -> None:
        """Goes on with others from here."""
        self._turns.begin(said)

    def skip_to(self, quiet_ps: int) -> None:
        """Nobody does anything before a fabric time."""
        self._shard.skip_to(quiet_ps)
        self._managers.skip_to(quiet_ps)

    def report(self) -> np.ndarray:
        """How far it is."""
        self._shard.settle()
        shard, totals, outlook = self._shard, self._shard.state.g[0], self._shard.outlook()
        report = np.zeros(1, BY_NAME["report"].dtype)
        report["reached_ps"] = shard.reached_ps
        report["next_event_ps"] = shard.next_ps
        report["last_live_ps"] = outlook.last_live_ps
        report["blocked_since_ps"] = outlook.blocked_since_ps
        report["outstanding"] = totals.outstanding
        report["events"] = totals.events
        report["packet_hops"] = totals.packet_hops
        report["idle"] = outlook.is_idle
        return report

    def take_events(self) -> Sequence[bytes]:
        """What its nodes have logged since the last call."""
        first, self._logged = self._logged, int(self._shard.state.g[0].log)
        entries = self._shard.state.log[first : self._logged]
        return [json.dumps(describe_event(self.plan, entry)).encode() for entry in entries]


class _Managers:
    """The channels between a shard of switches and the subnet managers.

    A cable changes only by what is known or what the director orders; so a promise to a subnet manager
    reaches up to the next change that is known, however far the shard itself is.
    """

    def __init__(self, blueprint: Blueprint, name: str) -> None:
        pairs = blueprint.channels
        self._lookahead_ps = blueprint.notice_lookahead_ps
        self._heard = {
            sender: blueprint.write_lookahead_ps for sender, to in pairs if (to, sender[:2]) == (name, "sm")
        }
        self._told = {to: (-1, -1) for sender, to in pairs if (sender, to[:2]) == (name, "sm")}
        self._next_notice_ps = -1

    @property
    def promise_ps(self) -> int:
        """Fabric time before which no forwarding table changes any more."""
        return min(self._heard.values(), default=NEVER)

    def hear(self, sender: str, promise_ps: int) -> None:
        self._heard[sender] = max(self._heard[sender], promise_ps)

    def skip_to(self, quiet_ps: int) -> None:
        for sender, promise_ps in self._heard.items():
            self._heard[sender] = max(promise_ps, quiet_ps)

    def save(self) -> dict[str, Any]:
        return {"heard": dict(self._heard), "told": dict(self._told), "next_notice_ps": self._next_notice_ps}

    def load(self, plain: Mapping[str, Any]) -> None:
        self._heard = dict(plain["heard"])
        self._told = {to: (quiet_ps, granted_ps) for to, (quiet_ps, granted_ps) in plain["told"].items()}
        self._next_notice_ps = int(plain["next_notice_ps"])

    def late(self, reached_ps: int) -> list[str]:
        return [sender for sender, promise_ps in self._heard.items() if promise_ps <= reached_ps]

    def forget(self) -> None:
        """The changes that were known are others now."""
        self._next_notice_ps = -1

    def tell(self, shard: Shard, granted_ps: int) -> dict[str, WindowData]:
        """What the subnet managers are to hear: changes of cables, and how far there will be none."""
        if not self._told:
            return {}
        if self._next_notice_ps < shard.reached_ps:
            self._next_notice_ps = shard.next_notice_ps
        quiet_ps = max(shard.reached_ps, min(self._next_notice_ps, granted_ps))
        at_grant = shard.reached_ps == granted_ps
        notices = shard.take_notices()
        told = (quiet_ps, granted_ps if at_grant else -1)
        if not notices and all(told == before for before in self._told.values()):
            return {}
        self._told = dict.fromkeys(self._told, told)
        promise_ps = quiet_ps + self._lookahead_ps
        window = WindowData(promise_ps, promise_ps, shard.reached_ps, _pack_notices(notices))
        return dict.fromkeys(self._told, window)


def _pack_notices(notices: Sequence[Notice]) -> dict[str, np.ndarray]:
    return {"notice": pack_records(notices, NOTICE)} if notices else {}


def _unpack(window: WindowData) -> Window:
    found = window.records
    return Window(
        window.reached_ps,
        window.packets_promise_ps,
        window.fcps_promise_ps,
        window.calm_promise_ps,
        found.get("packet", _NO_PACKETS),
        found.get("fcp", _NO_FCPS),
        found.get("reaction", _NO_REACTIONS),
    )


def load_kernels(blueprint: Blueprint) -> None:
    """Loads everything that a shard needs compiled, so that processes forked from this one have it."""
    process = ShardProcess(blueprint, blueprint.partition.names[0])
    window = encode(WindowData(0, 0, 0), 1)
    process.advance(0)
    for sender in process.senders:
        process.hear(sender, window)
    process.speak(0)
    process.report()
