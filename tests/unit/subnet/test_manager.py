# SPDX-License-Identifier: Apache-2.0
"""One subnet manager: what it notices, when it sweeps, and what it writes."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from timeit import repeat

import pytest

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import NEVER_PS, PeerKind, PeerMessage
from fabrictwin.model.fabric import Fabric, Link, Node, NodeKind, PortRef, Technology
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming, default_managers
from fabrictwin.subnet.manager import LateError, SubnetManager
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.routes import changed_blocks
from fabrictwin.subnet.sweep import sweep
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US
from unit.subnet.fabrics import k_ary_tree, random_fabric, routed, switch_links, two_level_tree, wired
from unit.subnet.sm_driver import Run, link_notices, node_notice, place_managers, play

US = PS_PER_US
TIMING = SubnetManagerTiming(trap_latency_ps=100 * US, smp_rtt_ps=20 * US, max_wire_smps=4)
REACTION = [
    EventKind.TRAP_SENT,
    EventKind.TRAP,
    EventKind.SWEEP,
    EventKind.SWEPT,
    EventKind.ROUTED,
    EventKind.LFT_WRITTEN,
    EventKind.LFT_WRITTEN,
    EventKind.SUBNET_UP,
]


def _cable(fabric: Fabric, a: str, b: str) -> Link:
    return next(
        link
        for link in switch_links(fabric)
        if {a, b} == {fabric.nodes[e.node].name for e in (link.a, link.b)}
    )


def _times(run: Run, kind: EventKind) -> list[int]:
    return [event.at_ps for event in run.log(kind)]


def test_lost_cable_is_answered_by_trap_sweep_and_writes_at_their_times() -> None:
    fabric = k_ary_tree(8)
    plan = routed(fabric, "ftree")
    lost = _cable(fabric, "leaf3", "spine1")
    run = play(plan, [(500 * US, lost, False)], TIMING)
    mads = sweep(plan.graph.with_down([lost]), fabric.hcas[0]).mads
    blocks = changed_blocks(plan.lft, reroute(plan, [lost]).lft)
    routed_ps = 600 * US + ceil(mads / 4) * 20 * US
    done_ps = routed_ps + ceil(len(blocks) / 4) * 20 * US
    assert [(event.at_ps, event.kind) for event in run.log()] == list(
        zip(
            [500 * US, 600 * US, 600 * US, routed_ps, routed_ps, routed_ps + 20 * US, done_ps, done_ps],
            REACTION,
            strict=True,
        )
    )
    assert [write.at_ps for write in run.writes] == [
        routed_ps + ceil(k / 4) * 20 * US for k in range(1, len(blocks) + 1)
    ]


def test_writes_turn_the_old_tables_into_the_new_ones_block_by_block() -> None:
    fabric = k_ary_tree(8)
    plan = routed(fabric, "min_hop")
    lost = _cable(fabric, "leaf3", "spine1")
    run = play(plan, [(0, lost, False)], TIMING)
    assert (run.tables() == reroute(plan, [lost]).lft).all()
    assert [write.block for write in run.writes] == sorted(write.block for write in run.writes)
    assert len({(write.node, write.block) for write in run.writes}) == len(run.writes)


def test_flap_brings_the_old_tables_back() -> None:
    fabric = k_ary_tree(4)
    plan = routed(fabric, "ftree")
    lost = switch_links(fabric)[4]
    run = play(plan, [(0, lost, False), (50_000 * US, lost, True)], TIMING)
    assert len(_times(run, EventKind.SUBNET_UP)) == 2
    assert run.writes
    assert (run.tables() == plan.lft).all()


def test_changes_during_a_sweep_wait_for_the_next_one() -> None:
    fabric = k_ary_tree(4)
    plan = routed(fabric, "ftree")
    first, second = switch_links(fabric)[4], switch_links(fabric)[20]
    run = play(plan, [(0, first, False), (300 * US, second, False)], TIMING)
    sweeps, done = _times(run, EventKind.SWEEP), _times(run, EventKind.SUBNET_UP)
    assert len(sweeps) == 2
    assert sweeps[1] == done[0]
    assert (run.tables() == reroute(plan, [first, second]).lft).all()


def test_changes_before_the_sweep_are_seen_by_the_same_sweep() -> None:
    fabric = two_level_tree(4, 2, 2)
    plan = routed(fabric, "ftree")
    spine = fabric.index_of["spine0"]
    lost = [link for link in fabric.links if spine in (link.a.node, link.b.node)]
    run = play(plan, [(7 * US, link, False) for link in lost], TIMING)
    assert len(_times(run, EventKind.SWEEP)) == 1
    assert (run.tables()[:4] == reroute(plan, lost).lft[:4]).all()


def test_trap_without_a_route_is_made_up_for_by_the_light_sweep() -> None:
    fabric = wired([1, 1, 0], [(0, 1), (0, 2), (1, 2)])
    plan = routed(fabric, "explicit", tables={"sw0": {"h0": 1}, "sw2": {"h0": 1}})
    timing = SubnetManagerTiming(sweep_interval_ps=3 * PS_PER_S)
    run = play(plan, [(3 * US, _cable(fabric, "sw0", "sw2"), False)], timing, place_managers(fabric, h1=0))
    assert run.kinds()[:2] == [EventKind.TRAP_LOST, EventKind.SWEEP]
    assert _times(run, EventKind.SWEEP) == [3 * PS_PER_S]


def test_sm_that_is_cut_off_writes_to_nobody_until_it_is_back() -> None:
    fabric = two_level_tree(3, 2, 2)
    plan = routed(fabric, "ftree")
    own = next(link for link in fabric.links if fabric.hcas[0] in (link.a.node, link.b.node))
    lost = _cable(fabric, "leaf1", "spine0")
    back_ps = 30 * PS_PER_S + US
    run = play(plan, [(0, own, False), (0, lost, False), (back_ps, own, True)], TIMING)
    assert run.kinds()[:2] == [EventKind.TRAP_LOST, EventKind.TRAP_LOST]
    assert min(write.at_ps for write in run.writes) > back_ps
    assert (run.tables() == reroute(plan, [lost]).lft).all()


def test_dying_switch_sends_no_trap() -> None:
    fabric = two_level_tree(3, 2, 2)
    spine = fabric.index_of["spine1"]
    lost = [link for link in fabric.links if spine in (link.a.node, link.b.node)]
    run = play(routed(fabric, "ftree"), [(0, link, False) for link in lost], TIMING)
    traps = [event.text for event in run.log(EventKind.TRAP)]
    assert len(traps) == 3
    assert not any("from spine1" in text for text in traps)


def test_switches_that_are_cut_off_are_written_when_they_are_back() -> None:
    fabric = wired([1, 1, 1, 1], [(0, 1), (1, 2), (2, 3), (1, 3)])
    plan = routed(fabric, "min_hop")
    lost, away = _cable(fabric, "sw2", "sw3"), _cable(fabric, "sw1", "sw3")
    run = play(plan, [(0, lost, False), (0, away, False), (10**12, away, True)], TIMING)
    sw3 = fabric.index_of["sw3"]
    assert all(write.at_ps > 10**12 for write in run.writes if write.node == sw3)
    assert (run.tables() == reroute(plan, [lost]).lft).all()


@pytest.mark.parametrize("engine", ["ftree", "dfsssp"])
def test_no_change_is_no_reaction(engine: str) -> None:
    run = play(routed(k_ary_tree(4), engine), [], TIMING)
    assert (run.writes, run.events, run.steps) == ([], [], 0)
    assert run.lps[0].next_ps == NEVER_PS


def test_manager_without_hosts_runs_on_the_first_switch() -> None:
    fabric = wired([0, 0, 0], [(0, 1), (1, 2), (0, 2)])
    assert [manager.node for manager in default_managers(fabric)] == [0]
    plan = routed(fabric, "min_hop")
    lost = _cable(fabric, "sw0", "sw2")
    assert (play(plan, [(0, lost, False)], TIMING).tables() == reroute(plan, [lost]).lft).all()


# What it is told, and how


@pytest.mark.parametrize("seed", range(12))
def test_result_does_not_depend_on_steps_or_on_the_order_of_notices(seed: int) -> None:
    fabric = random_fabric(seed)
    plan = routed(fabric, "min_hop")
    timing = SubnetManagerTiming((1 + 50 * (seed % 3)) * US, 20 * US, 1 + seed % 5)
    links = [fabric.links[(7 * n + seed) % len(fabric.links)] for n in range(6)]
    notices = []
    for number, link in enumerate(links):
        at_ps = number * (97 + 13 * seed) * US
        notices += link_notices(at_ps, link, up=False) + link_notices(at_ps + 3 * PS_PER_MS, link, up=True)
    slowly = Run(plan, timing, notices=notices, step_of=lambda n: (n * seed) % 7 * US).to(PS_PER_S * 30)
    at_once = SubnetManager(plan, timing, slowly.managers, 0)
    at_once.hear(notices[::-1])
    at_once.advance(PS_PER_S * 30)
    spoken = at_once.speak()
    assert spoken.writes == slowly.writes
    assert spoken.events == slowly.events
    assert slowly.events


def test_change_that_is_none_is_no_news() -> None:
    fabric = k_ary_tree(4)
    link = switch_links(fabric)[0]
    run = play(routed(fabric, "ftree"), [(5 * US, link, True)], TIMING)
    assert run.events == []


def test_lookahead_is_the_trap_latency_unless_a_sweep_is_shorter() -> None:
    fabric = wired([1, 1], [(0, 1)])
    ports = fabric.nodes[0].ports
    plan, managers = routed(fabric, "min_hop"), default_managers(fabric)
    assert SubnetManager(plan, TIMING, managers, 0).notice_lookahead_ps == 100 * US
    patient = SubnetManagerTiming(trap_latency_ps=PS_PER_S, smp_rtt_ps=20 * US, max_wire_smps=4)
    assert SubnetManager(plan, patient, managers, 0).notice_lookahead_ps == ceil((ports + 3) / 4) * 20 * US


def test_sweep_on_command_happens_at_once_and_changes_nothing() -> None:
    fabric = k_ary_tree(4)
    run = Run(
        routed(fabric, "ftree"), TIMING, notices=[node_notice(9 * US, ActionKind.SM_SWEEP, fabric.hcas[0], 1)]
    ).to(PS_PER_S)
    assert _times(run, EventKind.SWEEP) == [9 * US]
    assert "heavy sweep (command)" in run.log(EventKind.SWEEP)[0].text
    assert run.writes == []


def test_what_comes_too_late_is_refused() -> None:
    fabric = k_ary_tree(4)
    manager = SubnetManager(routed(fabric, "ftree"), TIMING, default_managers(fabric), 0)
    reached_ps = PS_PER_MS + manager.notice_lookahead_ps
    manager.advance(reached_ps)
    manager.hear(link_notices(PS_PER_MS, fabric.links[0], up=False))
    with pytest.raises(LateError, match="a notice of 999999999 ps reached a subnet manager 1 ps too late"):
        manager.hear(link_notices(PS_PER_MS - 1, fabric.links[0], up=False))
    manager.hear([node_notice(reached_ps, ActionKind.SM_STATE, fabric.hcas[0], 0)])
    with pytest.raises(LateError, match="a notice"):
        manager.hear([node_notice(reached_ps - 1, ActionKind.SM_STATE, fabric.hcas[0], 0)])
    with pytest.raises(LateError, match="a message"):
        manager.hear_peer(1, [PeerMessage(PS_PER_MS - 1, PeerKind.GET, 3, 0, 1)])


# Nodes that do not answer


def test_switch_that_does_not_answer_is_found_by_the_light_sweep_and_routed_around() -> None:
    fabric = two_level_tree(4, 2, 2)
    plan = routed(fabric, "ftree")
    spine = fabric.index_of["spine0"]
    notices = [
        node_notice(2 * PS_PER_S, ActionKind.SMA_STATE, spine, 0),
        node_notice(25 * PS_PER_S, ActionKind.SMA_STATE, spine, 1),
    ]
    run = Run(plan, TIMING, notices=notices)
    run.to(20 * PS_PER_S)
    # SwitchInfo is asked for four times, 200 ms apart.
    assert _times(run, EventKind.LIGHT_SWEEP) == [10_800 * PS_PER_MS]
    around = reroute(plan, nodes=[spine])
    others = [number for number, node in enumerate(plan.graph.switch_node) if node != spine]
    assert (run.tables()[others] == around.lft[others]).all()
    assert spine not in {write.node for write in run.writes}
    run.to(40 * PS_PER_S)
    assert _times(run, EventKind.LIGHT_SWEEP)[1:] == [30 * PS_PER_S]
    assert (run.tables() == plan.lft).all()


def test_requests_to_a_silent_switch_time_out_four_at_a_time() -> None:
    fabric = two_level_tree(6, 2, 2)
    spine = fabric.index_of["spine0"]
    run = Run(routed(fabric, "ftree"), TIMING, notices=[node_notice(0, ActionKind.SMA_STATE, spine, 0)]).to(
        20 * PS_PER_S
    )
    (begin_ps,), (end_ps,) = _times(run, EventKind.SWEEP), _times(run, EventKind.SWEPT)
    (timeout,) = run.log(EventKind.SMP_TIMEOUT)
    assert timeout.text == "no answer to 6 requests from spine0: taken for gone"
    mads = sweep(run.plan.graph.with_down(nodes=[spine]), fabric.hcas[0]).mads
    assert end_ps - begin_ps == 2 * 800 * PS_PER_MS + TIMING.smp_time_ps(mads)


def test_hca_that_does_not_answer_is_missed_at_the_next_heavy_sweep_only() -> None:
    fabric = two_level_tree(4, 2, 2)
    plan = routed(fabric, "ftree")
    host = fabric.index_of["h5"]
    lost = _cable(fabric, "leaf0", "spine0")
    notices = [
        node_notice(0, ActionKind.SMA_STATE, host, 0),
        *link_notices(50 * PS_PER_S, lost, up=False),
    ]
    run = Run(plan, TIMING, notices=notices)
    assert run.to(49 * PS_PER_S).events == []
    run.to(60 * PS_PER_S)
    leaf = plan.graph.switch_of[fabric.index_of["leaf2"]]
    assert run.tables()[leaf, plan.lid_of[PortRef(host, 1)]] == 255


def test_hosts_without_a_switch_have_nobody_to_ask() -> None:
    nodes = [Node(f"h{n}", NodeKind.HCA, 1 + n, 1, "native_hca", port_guids=(16 + n,)) for n in range(2)]
    cable = Link(PortRef(0, 1), PortRef(1, 1), 10**11, 1000)
    fabric = Fabric(Technology.INFINIBAND, tuple(nodes), (cable,))
    mute = node_notice(5 * US, ActionKind.SMA_STATE, 1, 0)
    notices = [*link_notices(0, cable, up=False), *link_notices(9 * US, cable, up=True), mute]
    run = Run(routed(fabric, "min_hop"), TIMING, notices=notices).to(40 * PS_PER_S)
    assert run.writes == []
    assert len(_times(run, EventKind.TRAP_LOST)) == 2


def test_block_that_a_switch_does_not_take_is_written_later() -> None:
    fabric = two_level_tree(4, 2, 2)
    plan = routed(fabric, "ftree")
    lost = _cable(fabric, "leaf1", "spine0")
    calm = play(plan, [(0, lost, False)], TIMING)
    victim = calm.writes[-1].node
    first, last = calm.writes[0].at_ps, calm.writes[-1].at_ps
    notices = [
        *link_notices(0, lost, up=False),
        node_notice(first - TIMING.smp_rtt_ps, ActionKind.SMA_STATE, victim, 0),
        node_notice(last, ActionKind.SMA_STATE, victim, 1),
    ]
    run = Run(plan, TIMING, notices=notices).to(PS_PER_S * 5)
    (timeout,) = run.log(EventKind.SMP_TIMEOUT)
    assert timeout.at_ps == last - TIMING.smp_rtt_ps + 800 * PS_PER_MS
    assert [event.text.split(":")[0] for event in run.log(EventKind.SWEEP)] == [
        "heavy sweep (trap 128)",
        "heavy sweep (SMP timeout)",
    ]
    assert min(write.at_ps for write in run.writes if write.node == victim) > timeout.at_ps
    assert (run.tables() == calm.tables()).all()


# Speed


def test_advance_costs_little_when_nothing_is_to_do() -> None:
    fabric = k_ary_tree(4)
    manager = SubnetManager(routed(fabric, "ftree"), TIMING, default_managers(fabric), 0)
    assert min(repeat(lambda: manager.advance(5), number=10_000, repeat=5)) / 10_000 < 2e-6


def test_reaction_of_a_fabric_of_1024_hosts_takes_little_time_besides_routing() -> None:
    fabric = k_ary_tree(16)
    plan = routed(fabric, "ftree")
    lost = _cable(fabric, "leaf3", "spine1")
    play(plan, [(0, lost, False)], TIMING)

    def react() -> None:
        play(plan, [(0, lost, False)], TIMING)

    def route() -> None:
        reroute(plan, [lost])

    assert min(repeat(react, number=1, repeat=3)) - min(repeat(route, number=1, repeat=3)) < 0.05


def test_managers_of_a_fabric_are_one_by_default() -> None:
    fabric = k_ary_tree(4)
    host = fabric.nodes[fabric.hcas[0]]
    assert default_managers(fabric) == (Manager(fabric.hcas[0], 1, 0, host.port_guid(1)),)


def test_log_is_in_the_order_of_what_happens() -> None:
    fabric = k_ary_tree(4)
    run = play(routed(fabric, "ftree"), [(0, switch_links(fabric)[4], False)], TIMING)
    assert run.kinds() == REACTION
    assert all(first.at_ps <= second.at_ps for first, second in pairwise(run.log()))
