# SPDX-License-Identifier: Apache-2.0
"""A scenario that changes during a run: faults that are scheduled anew, workloads that are added or stopped.

Rows of the arrays keep their numbers: what is added stands behind what is there. Actions that were scheduled
for later are made void and scheduled anew, so that what holds is always what the scenario says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabrictwin.engine import build_traffic as traffic
from fabrictwin.engine import state as st
from fabrictwin.engine.build_actions import action_rows, queue_events
from fabrictwin.engine.build_rates import build_rates, is_closed_loop
from fabrictwin.engine.codes import NEVER, EventKind
from fabrictwin.engine.faults import LFT_WRITE, ROUTE_WRITE, VOID
from fabrictwin.engine.plan import Plan, make_plan
from fabrictwin.errors import InputError
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import LFT_BLOCK_BYTES, LftWrite, RouteWrite, unpack_ports
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario


def change_plan(plan: Plan, scenario: Scenario) -> Plan:
    """Rows for a scenario that has changed.

    Raises:
        InputError: It needs a data VL that no workload used at the start.
    """
    changed = make_plan(scenario, plan.forwarding)
    if changed.vls > plan.vls:
        name = scenario.jobs[-1].name
        raise InputError.of(
            f"workload {name!r} needs VL {changed.vls - 2}, but this run began with VLs 0 to {plan.vls - 2}: "
            "expected a service level whose VL a workload of the scenario uses",
            field="sl",
        )
    return replace(changed, vls=plan.vls)


def change_state(state: st.State, old: Plan, plan: Plan, owned: np.ndarray, at_ps: int) -> None:
    """Makes the arrays of a shard those of a changed scenario.

    Args:
        state: The arrays, at a fabric time up to ``at_ps``.
        old: The rows as they are.
        plan: The rows as they are to be.
        owned: [nodes] bool, the nodes that the shard simulates.
        at_ps: Fabric time from which on the change holds.
    """
    if plan.scenario.actions != old.scenario.actions:
        _schedule_anew(state, plan, owned, at_ps)
    if plan.scenario.jobs == old.scenario.jobs:
        return
    _append(state, "requester", traffic.build_requesters(plan), int(old.first_qp[-1]))
    _append(state, "responder", traffic.build_responders(plan), int(old.first_qp[-1]))
    _append(state, "flow", traffic.build_flows(plan), len(old.flows))
    _append(state, "code", traffic.build_code(plan), traffic.count_code(old))
    ranks = traffic.build_ranks(plan)
    stops_ps = ranks.stop_ps.copy()
    _append(state, "rank", ranks, len(old.ranks))
    state.rank.stop_ps[:] = stops_ps
    if plan.scenario.fabric.technology is Technology.ROCE:
        for name, array in build_rates(plan).items():
            _append(state, name, array, int(old.first_qp[-1]))
        state.par[0].closed_loop = int(is_closed_loop(plan))
    elif plan.scenario.congestion_control.control == "qp":
        _append(state, "cc", traffic.build_cc(plan), int(old.first_qp[-1]))
    state.par[0].management = int(any(flow.management for _, flow in plan.flows))
    first = len(old.ranks)
    added = np.arange(first, len(plan.ranks))
    _make_room(state, len(added))
    queue_events(state, int(EventKind.RANK), added, ranks.node[added], ranks.paced_ps[added], owned)


def _append(state: st.State, name: str, changed: st.Records, count: int) -> None:
    """Keeps the first rows of an array as they are in motion, and puts the others behind them."""
    changed[:count] = getattr(state, name)[:count]
    state.put(name, changed)


def _schedule_anew(state: st.State, plan: Plan, owned: np.ndarray, at_ps: int) -> None:
    action = state.action
    is_ordered = ~np.isin(action.kind, (LFT_WRITE, ROUTE_WRITE))
    action.kind[(action.at_ps >= at_ps) & is_ordered] = VOID
    rows = [row for row in action_rows(plan) if row[0] >= at_ps]
    _add_actions(state, st.table(rows, st.ACTION)[: len(rows)], owned)


def write_tables(state: st.State, writes: list[LftWrite], owned: np.ndarray) -> None:
    """Schedules writes of forwarding tables; those of other shards' switches are left out.

    Args:
        state: The arrays.
        writes: Blocks, none of which holds before the fabric time reached.
        owned: [nodes] bool, the nodes that the shard simulates.
    """
    mine = [write for write in writes if owned[write.node]]
    if not mine:
        return
    first = len(state.lft_blocks) // LFT_BLOCK_BYTES
    blocks = np.frombuffer(b"".join(write.ports for write in mine), np.uint8)
    state.put("lft_blocks", np.concatenate([state.lft_blocks, blocks]))
    rows = [
        (write.at_ps, LFT_WRITE, int(state.node.port0[write.node]), write.node, write.block, first + number)
        for number, write in enumerate(mine)
    ]
    _add_actions(state, st.table(rows, st.ACTION), owned)


def write_routes(state: st.State, writes: list[RouteWrite], owned: np.ndarray) -> None:
    """Schedules writes of routes; those of other shards' switches are left out.

    Args:
        state: The arrays.
        writes: Routes, none of which holds before the fabric time reached.
        owned: [nodes] bool, the nodes that the shard simulates.
    """
    mine = [write for write in writes if owned[write.node]]
    if not mine:
        return
    numbers = _number_groups(state, [unpack_ports(write.ports) for write in mine])
    rows = [
        (write.at_ps, ROUTE_WRITE, int(state.node.port0[write.node]), write.node, write.lid, number)
        for write, number in zip(mine, numbers, strict=True)
    ]
    _add_actions(state, st.table(rows, st.ACTION), owned)


def _number_groups(state: st.State, wanted: list[tuple[int, ...]]) -> list[int]:
    """Numbers of groups of outputs; those that are not there yet are added."""
    known = [tuple(state.member[row.first : row.first + row.count].tolist()) for row in state.group]
    numbers = {ports: number for number, ports in reversed(list(enumerate(known)))}
    added = [ports for ports in dict.fromkeys(wanted) if ports not in numbers]
    numbers |= {ports: len(known) + number for number, ports in enumerate(added)}
    if added:
        group = st.records(len(added), st.GROUP)
        group.count[:] = [len(ports) for ports in added]
        group["first"][:] = len(state.member) + np.cumsum([0, *group.count[:-1]])
        state.put("group", np.concatenate([state.group, group]).view(np.recarray))
        member = np.array([port for ports in added for port in ports], np.uint8)
        state.put("member", np.concatenate([state.member, member]))
    return [numbers[ports] for ports in wanted]


def _add_actions(state: st.State, actions: st.Records, owned: np.ndarray) -> None:
    if len(actions) == 0:
        return
    first = len(state.action)
    state.put("action", np.concatenate([state.action, actions]).view(np.recarray))
    _make_room(state, len(actions))
    numbers = np.arange(first, first + len(actions))
    queue_events(state, int(EventKind.ACTION), numbers, actions.node, actions.at_ps, owned)


def _make_room(state: st.State, events: int) -> None:
    g = state.g[0]
    while True:
        waiting = g.sorted_count + g.wheel_count + g.heap_count
        if min(g.chunks_left, len(state.heap) - g.heap_count, len(state.sorted) - waiting) > events:
            return
        st.grow(state, events + 1)


def next_link_change(state: st.State, owned: np.ndarray, from_ps: int) -> int:
    """When a cable of a shard's nodes goes down or comes up next, as far as is known; NEVER: it does not."""
    action = state.action
    changes = action[(action.kind == ActionKind.LINK_STATE) & (action.at_ps >= from_ps)]
    times_ps = changes.at_ps[owned[changes.node]]
    return int(times_ps.min()) if len(times_ps) else NEVER
