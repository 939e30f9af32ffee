# SPDX-License-Identifier: Apache-2.0
"""Shards in one process, over an in-process bus: who speaks is heard at once."""

from __future__ import annotations

from fabrictwin.engine.build import Plan
from fabrictwin.engine.partition import Partition
from fabrictwin.engine.shard import Shard


class ShardGroup:
    """All shards of a fabric.

    Args:
        plan: The scenario and its rows.
        partition: Who simulates what.
        trace: Record every packet and FCP.

    Attributes:
        partition: Who simulates what.
        shards: The logical processes, by number.
        now_ps: Fabric time that every shard has reached.
    """

    def __init__(self, plan: Plan, partition: Partition, *, trace: bool = False) -> None:
        self.partition = partition
        self.shards = [Shard(plan, partition, number, trace=trace) for number in range(len(partition.names))]
        self.now_ps = 0

    def advance(self, target_ps: int) -> None:
        """Brings every shard to a fabric time: all events before it are done."""
        while any(shard.reached_ps < target_ps for shard in self.shards):
            busy = [self._step(shard, target_ps) for shard in self.shards]
            if not any(busy):
                self._skip(target_ps)
        self.now_ps = target_ps

    def _step(self, shard: Shard, target_ps: int) -> bool:
        """Lets a shard go on; whether anything but time went by."""
        before_ps = shard.reached_ps
        if before_ps >= target_ps or shard.advance(target_ps) == before_ps:
            return False
        return self._exchange(shard) or shard.next_ps <= shard.horizon_ps

    def _exchange(self, shard: Shard) -> bool:
        """Everybody hears what a shard has to say; whether it was more than promises."""
        windows = shard.speak()
        for other, window in windows.items():
            self.shards[other].hear(shard.number, window)
        return any(window.weight or len(window.fcps) for window in windows.values())

    def _skip(self, target_ps: int) -> None:
        """Nothing is under way and nobody has anything to do: time jumps to what comes next."""
        quiet_ps = min(target_ps, *(shard.next_ps for shard in self.shards))
        for shard in self.shards:
            shard.skip_to(quiet_ps)

    def settle(self) -> None:
        """Makes the arrays of every shard readable at the fabric time reached."""
        for shard in self.shards:
            shard.settle()
        if len(self.shards) == 1:
            return
        for shard in self.shards:
            self._exchange(shard)
        for shard in self.shards:
            shard.settle()
