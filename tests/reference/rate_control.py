# SPDX-License-Identifier: Apache-2.0
"""Congestion control of the queue pairs of one HCA (infiniband.md section 11)."""

from __future__ import annotations

from reference.events import Kind
from reference.ib_cc import CCTI_TIMER_UNIT_PS, CctIndex, entry_of, injection_rate_delay_ps
from reference.queue_pair import QueuePair
from reference.world import World


class RateControl:
    """Keeps a CCTI for each queue pair, or for each port and SL."""

    def __init__(self, world: World, node: int, queue_pairs: list[QueuePair]) -> None:
        self.world = world
        self.node = node
        self.queue_pairs = queue_pairs
        self.parameters = world.case.congestion_control
        self.indices: dict[tuple[int, ...], CctIndex] = {}
        self.applied: dict[tuple[int, ...], int] = {}

    def _entity(self, queue_pair: QueuePair) -> tuple[int, ...]:
        if self.parameters.control == "sl":
            return (queue_pair.src.number, queue_pair.sl)
        return (queue_pair.index,)

    def _number(self, entity: tuple[int, ...]) -> int:
        """Orders the events of entities."""
        return entity[0] if len(entity) == 1 else entity[0] * 16 + entity[1]

    def delay_ps(self, queue_pair: QueuePair, wire_ps: int) -> int:
        """Injection-rate delay after a packet."""
        ccti = self.applied.get(self._entity(queue_pair), self.parameters.ccti_min)
        return injection_rate_delay_ps(entry_of(self.parameters.cct, ccti), wire_ps)

    def becn(self, queue_pair: QueuePair) -> None:
        """A packet with BECN has come for a queue pair."""
        at_ps = self.world.now_ps + self.parameters.reaction_latency_ps // 2
        self.world.calendar.at(
            at_ps,
            self.node,
            Kind.CC_NOTIFY,
            0,
            queue_pair.index,
            lambda: self._notify(self._entity(queue_pair)),
        )

    def _notify(self, entity: tuple[int, ...]) -> None:
        if entity not in self.indices:
            self.indices[entity] = CctIndex(
                self.parameters.ccti_min,
                self.parameters.ccti_limit,
                self.parameters.ccti_increase,
                self.parameters.ccti_timer * CCTI_TIMER_UNIT_PS,
            )
        index = self.indices[entity]
        before_ps = index.expires_ps
        if index.notify(self.world.now_ps):
            self._apply(entity, index.ccti)
        if before_ps is None:
            self._set_timer(entity, index)

    def _set_timer(self, entity: tuple[int, ...], index: CctIndex) -> None:
        if index.expires_ps is not None:
            self.world.calendar.at(
                index.expires_ps,
                self.node,
                Kind.CC_TIMER,
                0,
                self._number(entity),
                lambda: self._expire(entity, index),
            )

    def _expire(self, entity: tuple[int, ...], index: CctIndex) -> None:
        index.expire(self.world.now_ps)
        self._apply(entity, index.ccti)
        self._set_timer(entity, index)

    def _apply(self, entity: tuple[int, ...], ccti: int) -> None:
        at_ps = self.world.now_ps + (self.parameters.reaction_latency_ps + 1) // 2

        def apply() -> None:
            self.applied[entity] = ccti

        self.world.calendar.at(at_ps, self.node, Kind.CC_APPLY, 0, self._number(entity), apply)
