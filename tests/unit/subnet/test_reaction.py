# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import Fabric, Link
from fabrictwin.model.subnet_manager import SubnetManagerTiming
from fabrictwin.subnet.reaction import SWEEP_INTERVAL_PS, EventKind, LinkChange, Reaction, link_changes, react
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.routes import Routes, changed_blocks
from fabrictwin.subnet.sweep import sweep
from unit.subnet.fabrics import k_ary_tree, routed, switch_links, two_level_tree, wired

US = 10**6
TIMING = SubnetManagerTiming(trap_latency_ps=100 * US, smp_rtt_ps=20 * US, max_wire_smps=4)


def _kinds(reaction: Reaction) -> list[str]:
    return [event.kind for event in reaction.events]


def _final_tables(plan: Routes, reaction: Reaction) -> np.ndarray:
    lft = plan.lft.copy()
    for write in reaction.writes:
        lft[plan.graph.switch_of[write.node], write.block * 64 : write.block * 64 + 64] = write.ports
    return lft


def _cable(fabric: Fabric, a: str, b: str) -> Link:
    return next(
        link
        for link in switch_links(fabric)
        if {a, b} == {fabric.nodes[e.node].name for e in (link.a, link.b)}
    )


def test_lost_cable_is_answered_by_trap_sweep_and_writes_at_their_times() -> None:
    fabric = k_ary_tree(8)
    plan = routed(fabric, "ftree")
    lost = _cable(fabric, "leaf3", "spine1")
    reaction = react(plan, [LinkChange(500 * US, lost, False)], TIMING)
    assert _kinds(reaction) == [EventKind.TRAP, EventKind.SWEEP, EventKind.ROUTED, EventKind.SUBNET_UP]
    mads = sweep(plan.graph.with_down([lost]), fabric.hcas[0]).mads
    blocks = changed_blocks(plan.lft, reroute(plan, [lost]).lft)
    routed_ps = 600 * US + ceil(mads / 4) * 20 * US
    assert [event.at_ps for event in reaction.events] == [
        600 * US,
        600 * US,
        routed_ps,
        routed_ps + ceil(len(blocks) / 4) * 20 * US,
    ]
    assert [write.at_ps for write in reaction.writes] == [
        routed_ps + ceil(k / 4) * 20 * US for k in range(1, len(blocks) + 1)
    ]


def test_writes_turn_the_old_tables_into_the_new_ones_block_by_block() -> None:
    fabric = k_ary_tree(8)
    plan = routed(fabric, "min_hop")
    lost = _cable(fabric, "leaf3", "spine1")
    reaction = react(plan, [LinkChange(0, lost, False)], TIMING)
    assert (_final_tables(plan, reaction) == reroute(plan, [lost]).lft).all()
    assert [write.block for write in reaction.writes] == sorted(write.block for write in reaction.writes)
    assert len({(write.node, write.block) for write in reaction.writes}) == len(reaction.writes)


def test_flap_brings_the_old_tables_back() -> None:
    fabric = k_ary_tree(4)
    plan = routed(fabric, "ftree")
    lost = switch_links(fabric)[4]
    changes = [LinkChange(0, lost, False), LinkChange(50_000 * US, lost, True)]
    reaction = react(plan, changes, TIMING)
    assert _kinds(reaction).count(EventKind.SUBNET_UP) == 2
    assert (_final_tables(plan, reaction) == plan.lft).all()


def test_changes_during_a_sweep_wait_for_the_next_one() -> None:
    fabric = k_ary_tree(4)
    plan = routed(fabric, "ftree")
    first, second = switch_links(fabric)[4], switch_links(fabric)[20]
    reaction = react(plan, [LinkChange(0, first, False), LinkChange(300 * US, second, False)], TIMING)
    sweeps = [event.at_ps for event in reaction.events if event.kind == EventKind.SWEEP]
    done = [event.at_ps for event in reaction.events if event.kind == EventKind.SUBNET_UP]
    assert len(sweeps) == 2
    assert sweeps[1] == done[0]
    assert (_final_tables(plan, reaction) == reroute(plan, [first, second]).lft).all()


def test_changes_before_the_sweep_are_seen_by_the_same_sweep() -> None:
    fabric = two_level_tree(4, 2, 2)
    plan = routed(fabric, "ftree")
    spine = fabric.index_of["spine0"]
    changes = [
        LinkChange(7 * US, link, False) for link in fabric.links if spine in (link.a.node, link.b.node)
    ]
    reaction = react(plan, changes, TIMING)
    assert _kinds(reaction).count(EventKind.SWEEP) == 1
    assert (_final_tables(plan, reaction)[:4] == reroute(plan, [c.link for c in changes]).lft[:4]).all()


def test_trap_without_a_route_is_made_up_for_by_the_light_sweep() -> None:
    fabric = wired([1, 1, 0], [(0, 1), (0, 2), (1, 2)])
    plan = routed(fabric, "explicit", tables={"sw0": {"h0": 1}, "sw2": {"h0": 1}})
    change = LinkChange(3 * US, _cable(fabric, "sw0", "sw2"), False)
    reaction = react(plan, [change], TIMING, sm_node=fabric.index_of["h1"])
    assert _kinds(reaction)[:2] == [EventKind.TRAP_LOST, EventKind.SWEEP]
    assert [e.at_ps for e in reaction.events if e.kind == EventKind.SWEEP] == [SWEEP_INTERVAL_PS]


def test_sm_that_is_cut_off_writes_to_nobody_until_it_is_back() -> None:
    fabric = two_level_tree(3, 2, 2)
    plan = routed(fabric, "ftree")
    own = next(link for link in fabric.links if fabric.hcas[0] in (link.a.node, link.b.node))
    lost = _cable(fabric, "leaf1", "spine0")
    back_ps = 3 * SWEEP_INTERVAL_PS + US
    changes = [LinkChange(0, own, False), LinkChange(0, lost, False), LinkChange(back_ps, own, True)]
    reaction = react(plan, changes, TIMING)
    assert _kinds(reaction)[:2] == [EventKind.TRAP_LOST, EventKind.TRAP_LOST]
    assert min(write.at_ps for write in reaction.writes) > back_ps
    assert (_final_tables(plan, reaction) == reroute(plan, [lost]).lft).all()


def test_dying_switch_sends_no_trap() -> None:
    fabric = two_level_tree(3, 2, 2)
    spine = fabric.index_of["spine1"]
    changes = [LinkChange(0, link, False) for link in fabric.links if spine in (link.a.node, link.b.node)]
    reaction = react(routed(fabric, "ftree"), changes, TIMING)
    traps = [event.text for event in reaction.events if event.kind == EventKind.TRAP]
    assert len(traps) == 3
    assert not any("from spine1" in text for text in traps)


def test_switches_that_are_cut_off_are_written_when_they_are_back() -> None:
    fabric = wired([1, 1, 1, 1], [(0, 1), (1, 2), (2, 3), (1, 3)])
    plan = routed(fabric, "min_hop")
    lost = _cable(fabric, "sw2", "sw3")
    away = _cable(fabric, "sw1", "sw3")
    changes = [
        LinkChange(0, lost, False),
        LinkChange(0, away, False),
        LinkChange(10**12, away, True),
    ]
    reaction = react(plan, changes, TIMING)
    sw3 = fabric.index_of["sw3"]
    assert all(write.at_ps > 10**12 for write in reaction.writes if write.node == sw3)
    assert (_final_tables(plan, reaction) == reroute(plan, [lost]).lft).all()


@pytest.mark.parametrize("engine", ["ftree", "dfsssp"])
def test_no_change_is_no_reaction(engine: str) -> None:
    reaction = react(routed(k_ary_tree(4), engine), [], TIMING)
    assert (reaction.writes, reaction.events) == ((), ())


def test_link_changes_are_the_link_states_among_the_actions() -> None:
    fabric = wired([1, 1], [(0, 1)])
    link = switch_links(fabric)[0]
    actions = [
        Action(9, ActionKind.LINK_STATE, link.b, 1),
        Action(2, ActionKind.LINK_RATE, link.a, 10**9),
        Action(5, ActionKind.LINK_STATE, link.a, 0),
    ]
    assert link_changes(fabric, actions) == [LinkChange(5, link, False), LinkChange(9, link, True)]
