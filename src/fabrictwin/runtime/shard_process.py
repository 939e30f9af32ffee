# SPDX-License-Identifier: Apache-2.0
"""A shard of the fabric as a logical process on the bus: windows in, windows out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from fabrictwin.engine.codes import NEVER
from fabrictwin.engine.shard import Shard, Window
from fabrictwin.engine.state import CC_OUT, FCP_OUT, PACKET, State, records
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.convert import WindowData
from fabrictwin.runtime.records import BY_NAME

_REACTIONS = "reaction"


class ShardProcess:
    """One shard.

    Args:
        blueprint: The scenario.
        name: Its name on the bus.

    Attributes:
        name: Its name on the bus.
        plan: Names of the rows of its arrays.
        owned: [nodes] whether it simulates the node.
    """

    def __init__(self, blueprint: Blueprint, name: str) -> None:
        self.name = name
        self.plan = blueprint.plan
        number = blueprint.partition.names.index(name)
        self.owned = np.asarray(blueprint.partition.owner == number)
        self._names = blueprint.partition.names
        self._shard = Shard(blueprint.plan, blueprint.partition, number)

    @property
    def state(self) -> State:
        """Its arrays."""
        return self._shard.state

    @property
    def senders(self) -> list[str]:
        """Who says something to it."""
        return [self._names[other] for other in self._shard.incoming]

    @property
    def reached_ps(self) -> int:
        """Fabric time that it has reached."""
        return self._shard.reached_ps

    def settle(self) -> None:
        """Makes its arrays readable at the fabric time that it has reached."""
        self._shard.settle()

    def advance(self, to_ps: int) -> int:
        """Simulates up to a fabric time, or as far as others promise."""
        return self._shard.advance(to_ps)

    def speak(self) -> Mapping[str, WindowData]:
        """What crosses its boundary, by who hears it."""
        return {self._names[other]: _pack(window) for other, window in self._shard.speak().items()}

    def hear(self, sender: str, window: WindowData) -> None:
        """Takes in what another shard has said."""
        self._shard.hear(self._names.index(sender), _unpack(window))

    def waits_for(self, to_ps: int) -> Collection[str]:
        """Shards that keep it from a fabric time, or that have not said how they are at it."""
        incoming, reached_ps = self._shard.incoming, self._shard.reached_ps
        if reached_ps >= to_ps:
            late = [other for other, channel in incoming.items() if channel.reached_ps < to_ps]
        else:
            late = [other for other, channel in incoming.items() if channel.horizon_ps <= reached_ps]
            # Where no promise keeps it, a port waits for credits that may be under way.
            late = late or [other for other, channel in incoming.items() if channel.fcps_ps < NEVER]
        return [self._names[other] for other in late]

    def apply(self, command: Mapping[str, Any]) -> None:
        """Takes a command of the director."""
        raise NotImplementedError(f"commands come with the engine's: {command}")

    def skip_to(self, quiet_ps: int) -> None:
        """Nobody does anything before a fabric time."""
        self._shard.skip_to(quiet_ps)

    def report(self) -> np.ndarray:
        """How far it is."""
        shard, totals = self._shard, self._shard.state.g[0]
        report = np.zeros(1, BY_NAME["report"].dtype)
        report["reached_ps"] = shard.reached_ps
        report["next_event_ps"] = shard.next_ps
        report["last_live_ps"] = totals.last_live_ps
        report["blocked_since_ps"] = NEVER
        report["outstanding"] = totals.outstanding
        report["events"] = totals.events
        report["packet_hops"] = totals.packet_hops
        report["idle"] = shard.is_idle
        return report


def _pack(window: Window) -> WindowData:
    return WindowData(
        window.packets_ps,
        window.fcps_ps,
        window.reached_ps,
        {"packet": window.packets, "fcp": window.fcps, _REACTIONS: window.reactions},
        calm_promise_ps=window.calm_ps,
    )


def _unpack(window: WindowData) -> Window:
    found = window.records
    return Window(
        window.reached_ps,
        window.packets_promise_ps,
        window.fcps_promise_ps,
        window.calm_promise_ps,
        _of(found.get("packet"), PACKET),
        _of(found.get("fcp"), FCP_OUT),
        _of(found.get(_REACTIONS), CC_OUT),
    )


def _of(array: np.ndarray | None, dtype: np.dtype[Any]) -> Any:
    return records(0, dtype) if array is None else array.view(dtype).view(np.recarray)


def load_kernels(blueprint: Blueprint) -> None:
    """Loads everything that a shard needs compiled, so that processes forked from this one have it."""
    process = ShardProcess(blueprint, blueprint.partition.names[0])
    window = WindowData(0, 0, 0)
    process.advance(0)
    for sender in process.senders:
        process.hear(sender, window)
    process.speak()
    process.settle()
    process.report()
