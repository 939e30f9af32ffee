# SPDX-License-Identifier: Apache-2.0
"""All logical processes of a fabric in one process: who speaks is heard at once."""

from __future__ import annotations

from collections.abc import Sequence

from fabrictwin.engine.partition import Partition
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.shard import Shard
from fabrictwin.model.controller import Bulletin, Controller, SubnetEvent


class ShardGroup:
    """All shards of a fabric, and its controllers.

    Args:
        plan: The scenario and its rows.
        partition: Who simulates what.
        controllers: What runs beside the fabric, by number.
        trace: Record every packet and FCP.

    Attributes:
        partition: Who simulates what.
        shards: The logical processes, by number.
        now_ps: Fabric time that everybody has reached.
        events: What the controllers have said of themselves.
    """

    def __init__(
        self,
        plan: Plan,
        partition: Partition,
        controllers: Sequence[Controller] = (),
        *,
        trace: bool = False,
    ) -> None:
        self.partition = partition
        self.shards = [Shard(plan, partition, number, trace=trace) for number in range(len(partition.names))]
        self.now_ps = 0
        self.events: list[SubnetEvent] = []
        self._controllers = controllers
        self._bulletin = Bulletin(plan.scenario.actions)

    def change(self, plan: Plan) -> None:
        """From the fabric time reached on, the scenario is another."""
        for shard in self.shards:
            shard.change(plan, self.now_ps)
        self._bulletin.change(plan.scenario.actions)

    def advance(self, target_ps: int) -> None:
        """Brings everybody to a fabric time: all events before it are done."""
        while self.now_ps < target_ps:
            reach_ps = min([target_ps, *map(self._written_ps, self._controllers)])
            self._advance_shards(reach_ps)
            self.now_ps = reach_ps
            self._advance_controllers(target_ps)

    def _written_ps(self, controller: Controller) -> int:
        """Before which fabric time a controller will not write any more."""
        heard_ps = self.now_ps + controller.notice_lookahead_ps
        return min(max(controller.next_ps, self.now_ps), heard_ps) + controller.lookahead_ps

    def _advance_controllers(self, target_ps: int) -> None:
        """Lets the controllers hear what has changed, and go on as far as that goes."""
        if not self._controllers:
            return
        limits_ps = [min(self.now_ps + each.notice_lookahead_ps, target_ps) for each in self._controllers]
        notices = [notice for shard in self.shards for notice in shard.take_notices()]
        notices += self._bulletin.take(max(limits_ps))
        for controller in self._controllers:
            controller.hear(notices)
        next_ps = 0
        while next_ps < min(limits_ps):
            next_ps = min(controller.next_ps for controller in self._controllers)
            for number, controller in enumerate(self._controllers):
                controller.advance(min(limits_ps[number], next_ps + controller.peer_lookahead_ps))
                self._listen_to(number, controller)

    def _listen_to(self, number: int, controller: Controller) -> None:
        spoken = controller.speak()
        self.events += spoken.events
        for other, messages in spoken.messages.items():
            self._controllers[other].hear_peer(number, messages)
        for shard in self.shards:
            shard.write_tables(spoken.writes)
            shard.write_routes(spoken.routes)

    def _advance_shards(self, target_ps: int) -> None:
        while any(shard.reached_ps < target_ps for shard in self.shards):
            busy = [self._step(shard, target_ps) for shard in self.shards]
            if not any(busy):
                self._skip(target_ps)

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
