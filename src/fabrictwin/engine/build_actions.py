# SPDX-License-Identifier: Apache-2.0
"""What changes during a run, as events of the engine."""

from __future__ import annotations

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.build_fabric import drain_fs
from fabrictwin.engine.codes import NEVER, EventKind
from fabrictwin.engine.plan import (
    Plan,
)
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.state import table
from fabrictwin.jit import kernel
from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.controller import DIRECT_KINDS
from fabrictwin.model.fabric import Fabric
from fabrictwin.units import femtoseconds_per_byte

_BOTH_ENDS = (ActionKind.LINK_STATE, ActionKind.LINK_RATE, ActionKind.LINK_ERROR)


def _engine_value(fabric: Fabric, action: Action) -> int:
    if action.kind is ActionKind.LINK_RATE:
        return femtoseconds_per_byte(action.value)
    if action.kind is ActionKind.DRAIN_RATE and action.value > 0:
        return drain_fs(fabric, action.target, action.value)
    return action.value


def action_rows(plan: Plan) -> list[tuple[int, int, int, int, int, int]]:
    """An ACTION for each end that a scenario's actions change."""
    fabric = plan.scenario.fabric
    rows: list[tuple[int, int, int, int, int, int]] = []
    for action in plan.scenario.actions:
        if action.kind in DIRECT_KINDS:
            continue
        ends = [action.target]
        if action.kind in _BOTH_ENDS:
            ends = [fabric.link_at[action.target].a, fabric.link_at[action.target].b]
        for end in ends:
            port = plan.ports.of(end)
            rows.append((action.at_ps, int(action.kind), port, end.node, _engine_value(fabric, action), -1))
    return rows


def build_actions(plan: Plan) -> st.Records:
    """[actions] ACTION."""
    return table(action_rows(plan) or [(NEVER, 0, 0, -1, 0, -1)], st.ACTION)


@kernel
def queue_events(  # type: ignore[no-untyped-def]
    s: st.State, kind: int, numbers, nodes, times_ps, owned
) -> None:
    """Schedules an event for each number whose node a shard owns."""
    for i in range(len(numbers)):
        if nodes[i] >= 0 and owned[nodes[i]]:
            push_event(s, times_ps[i], np.int64(nodes[i]), kind, numbers[i], numbers[i])


def queue_first_events(state: st.State, ranks: int, owned: np.ndarray) -> None:
    """Schedules what is known at the start: actions, and the beginning of every rank."""
    for kind, rows, count, times_ps in (
        (EventKind.ACTION, state.action, len(state.action), state.action.at_ps),
        (EventKind.RANK, state.rank, ranks, state.rank.paced_ps),
    ):
        numbers = np.arange(count)
        queue_events(state, int(kind), numbers, rows.node[:count].copy(), times_ps[:count].copy(), owned)
