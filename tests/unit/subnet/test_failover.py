# SPDX-License-Identifier: Apache-2.0
"""Several subnet managers: election, takeover, handover, and what they leave of the tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import Notice
from fabrictwin.model.fabric import Fabric, Link
from fabrictwin.model.subnet_manager import SubnetManagerTiming
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.sm_state import SmState
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US
from unit.subnet.fabrics import routed, switch_links, two_level_tree
from unit.subnet.sm_driver import Run, link_notices, node_notice, place_managers

S = PS_PER_S
TIMING = SubnetManagerTiming()
FABRIC = two_level_tree(4, 2, 2)
PLAN = routed(FABRIC, "ftree")
MASTER, STANDBY, DEAD = SmState.MASTER, SmState.STANDBY, SmState.NOT_ACTIVE


def _process(at_ps: int, host: str, up: int) -> Notice:
    return node_notice(at_ps, ActionKind.SM_STATE, FABRIC.index_of[host], up)


def _run(*notices: Notice, timing: SubnetManagerTiming = TIMING, **priorities: int) -> Run:
    return Run(PLAN, timing, place_managers(FABRIC, **priorities), notices)


def _cable_of(fabric: Fabric, name: str) -> Link:
    node = fabric.index_of[name]
    return next(link for link in fabric.links if node in (link.a.node, link.b.node))


def test_at_the_start_the_highest_priority_and_lowest_guid_is_master() -> None:
    assert _run(h4=5, h2=5, h0=1).states() == [STANDBY, MASTER, STANDBY]


def test_polling_alone_changes_nothing_and_says_nothing() -> None:
    run = _run(h0=1, h3=5).to(100 * S)
    assert (run.states(), run.events, run.writes) == ([STANDBY, MASTER], [], [])
    assert run.steps > 10


def test_managers_that_start_together_elect_by_their_sminfo() -> None:
    hosts = {"h4": 5, "h2": 5, "h0": 1}
    stops = [_process(1 * S, host, 0) for host in hosts]
    starts = [_process(2 * S, host, 1) for host in hosts]
    run = _run(*stops, *starts, **hosts)
    assert run.to(2 * S).states() == [DEAD] * 3
    assert run.to(3 * S).states() == [STANDBY, MASTER, STANDBY]


def test_standby_takes_over_when_the_master_dies_and_changes_no_table() -> None:
    run = _run(_process(7 * S, "h3", 0), h0=1, h3=5)
    assert run.to(59 * S).states() == [STANDBY, DEAD]
    run.to(61 * S)
    assert run.states() == [MASTER, DEAD]
    assert [event.at_ps for event in run.log(EventKind.POLL_MISSED)] == [n * 10 * S for n in (2, 3, 4, 5)]
    assert [event.at_ps for event in run.log(EventKind.TAKEOVER)] == [60 * S]
    assert run.writes == []


def test_of_two_standbys_the_higher_takes_over_and_the_other_polls_it() -> None:
    run = _run(_process(7 * S, "h3", 0), _process(100 * S, "h5", 0), h0=1, h3=5, h5=3)
    assert run.to(90 * S).states() == [STANDBY, DEAD, MASTER]
    assert run.to(170 * S).states() == [MASTER, DEAD, DEAD]


def test_standby_without_an_equal_rank_polls_whoever_it_has_made_way_for() -> None:
    lowest_only = SubnetManagerTiming(sminfo_polling_timeout_ps=5 * S)
    run = _run(_process(0, "h3", 0), timing=lowest_only, h0=1, h3=5, h5=3)
    run.to(40 * S)
    texts = [event.text for event in run.log(EventKind.SM_STATE)]
    assert "SM on h0: STANDBY (found h5, DISCOVERING)" in texts
    assert "SM on h5: MASTER (nobody else is, and nobody ranks higher)" in texts


def test_manager_that_comes_back_with_a_higher_rank_is_handed_over_to_within_one_sweep() -> None:
    run = _run(_process(0, "h3", 0), _process(100 * S, "h3", 1), h0=1, h3=5)
    assert run.to(99 * S).states() == [MASTER, DEAD]
    run.to(101 * S)
    assert run.states() == [STANDBY, MASTER]
    assert [event.text for event in run.log(EventKind.HANDOVER)] == [
        "SM on h0: HANDOVER sent to h3",
        "SM on h0: ACKNOWLEDGE from h3",
    ]
    assert run.writes == []


def test_manager_that_comes_back_with_a_lower_rank_stands_by() -> None:
    run = _run(_process(0, "h0", 0), _process(10 * S, "h0", 1), h0=1, h3=5).to(11 * S)
    assert run.states() == [STANDBY, MASTER]
    assert run.log(EventKind.HANDOVER) == []


def test_raised_priority_is_answered_by_a_handover() -> None:
    raised = node_notice(4 * S, ActionKind.SM_PRIORITY, FABRIC.index_of["h0"], 9)
    run = _run(raised, h0=1, h3=5).to(5 * S)
    assert run.states() == [MASTER, STANDBY]
    assert [event.text.split(": ")[1] for event in run.log(EventKind.TRAP)] == ["trap 144 from h0"]


def test_link_that_breaks_without_a_master_is_answered_by_the_next_one() -> None:
    lost = next(link for link in switch_links(FABRIC) if FABRIC.port_name(link.a).startswith("leaf1"))
    run = _run(_process(7 * S, "h3", 0), *link_notices(20 * S, lost, up=False), h0=1, h3=5)
    assert run.to(59 * S).writes == []
    run.to(70 * S)
    assert (run.tables() == reroute(PLAN, [lost]).lft).all()
    assert {write.at_ps // S for write in run.writes} == {60}


def test_blocks_of_a_manager_that_dies_while_it_writes_are_not_sent_any_more() -> None:
    slow = SubnetManagerTiming(max_wire_smps=1)
    lost = next(link for link in switch_links(FABRIC) if FABRIC.port_name(link.a).startswith("leaf1"))
    calm = _run(*link_notices(0, lost, up=False), timing=slow, h0=1, h3=5).to(S)
    assert len(calm.writes) >= 3
    death_ps = calm.writes[1].at_ps - TIMING.smp_rtt_ps
    run = _run(
        *link_notices(0, lost, up=False),
        _process(death_ps, "h3", 0),
        timing=slow,
        h0=1,
        h3=5,
    )
    assert [write.at_ps for write in run.to(S).writes] == [calm.writes[0].at_ps]
    run.to(70 * S)
    assert run.states() == [MASTER, DEAD]
    assert (run.tables() == calm.tables()).all()
    assert len(run.writes) == len(calm.writes)


def test_successor_writes_only_what_its_predecessor_has_not() -> None:
    lost = next(link for link in switch_links(FABRIC) if FABRIC.port_name(link.a).startswith("leaf1"))
    run = _run(*link_notices(0, lost, up=False), _process(5 * S, "h3", 0), h0=1, h3=5)
    written = list(run.to(4 * S).writes)
    run.to(70 * S)
    assert run.states() == [MASTER, DEAD]
    assert run.writes == written
    assert written


def test_parted_managers_are_both_master_until_the_cable_is_back() -> None:
    own = _cable_of(FABRIC, "h3")
    run = _run(*link_notices(3 * S, own, up=False), *link_notices(100 * S, own, up=True), h0=1, h3=5)
    assert run.to(99 * S).masters() == [0, 1]
    assert run.to(120 * S).states() == [STANDBY, MASTER]
    assert (run.tables() == PLAN.lft).all()


def test_master_on_a_host_that_does_not_answer_is_given_up_and_comes_back() -> None:
    host = FABRIC.index_of["h3"]
    mute = [node_notice(at_ps, ActionKind.SMA_STATE, host, up) for at_ps, up in ((3 * S, 0), (100 * S, 1))]
    run = _run(*mute, h0=1, h3=5)
    assert run.to(99 * S).masters() == [0, 1]
    assert run.to(130 * S).states() == [STANDBY, MASTER]


@pytest.mark.parametrize("period_s", [5, 10])
def test_takeover_begins_five_to_six_periods_after_the_death(period_s: int) -> None:
    timing = SubnetManagerTiming(sminfo_polling_timeout_ps=period_s * S)
    delays = []
    for phase in range(10):
        death_ps = 20 * S + phase * period_s * S // 10 + 3 * PS_PER_MS
        run = _run(_process(death_ps, "h3", 0), timing=timing, h0=1, h3=5).to(100 * S)
        delays.append(run.log(EventKind.TAKEOVER)[0].at_ps - death_ps)
    assert all(5 * period_s * S <= delay <= 6 * period_s * S for delay in delays)
    assert max(delays) - min(delays) > 0.8 * period_s * S


def test_death_while_an_answer_is_under_way_counts_that_poll() -> None:
    run = _run(_process(10 * S + 15 * PS_PER_US, "h3", 0), h0=1, h3=5).to(100 * S)
    assert run.log(EventKind.TAKEOVER)[0].at_ps == 70 * S
    run = _run(_process(10 * S + 5 * PS_PER_US, "h3", 0), h0=1, h3=5).to(100 * S)
    assert run.log(EventKind.TAKEOVER)[0].at_ps == 60 * S


def test_managers_that_start_while_others_discover_find_each_other() -> None:
    notices = [
        *(_process(at_ps, host, 0) for at_ps, host in ((1, "h1"), (2, "h4"), (4, "h6"))),
        _process(3, "h4", 1),
        _process(150 * PS_PER_US + 4, "h1", 1),
    ]
    assert _run(*notices, h1=0, h4=0, h6=0).to(S).states() == [MASTER, STANDBY, DEAD]


def test_master_that_was_cut_off_reads_what_another_has_written() -> None:
    host = FABRIC.index_of["h4"]
    mute = [node_notice(at_ps, ActionKind.SMA_STATE, host, up) for at_ps, up in ((0, 0), (61 * S, 1))]
    run = _run(*mute, _process(61 * S, "h1", 0), _process(61 * S, "h1", 1), h1=0, h4=1)
    run.to(60 * S + 900 * PS_PER_MS)
    assert (run.tables() != PLAN.lft).any()
    run.to(100 * S)
    assert run.states() == [STANDBY, MASTER]
    assert (run.tables() == PLAN.lft).all()


HOSTS = ("h1", "h4", "h6", "h7")


@st.composite
def _lives(draw: st.DrawFn) -> tuple[dict[str, int], list[Notice], set[str]]:
    """(priorities, deaths and starts, who is alive at the end)."""
    count = draw(st.integers(1, len(HOSTS)))
    priorities = {host: draw(st.integers(0, 2)) for host in HOSTS[:count]}
    alive = set(priorities)
    notices = []
    # Times close together, so that sweeps, handovers and takeovers are interrupted.
    gaps = st.sampled_from([1, 10 * PS_PER_US, 150 * PS_PER_US, 2 * PS_PER_MS, 9 * S, 55 * S])
    at_ps = 0
    for _ in range(draw(st.integers(0, 12))):
        at_ps += draw(gaps)
        host = draw(st.sampled_from(sorted(priorities)))
        up = host not in alive
        (alive.add if up else alive.discard)(host)
        notices.append(_process(at_ps, host, int(up)))
    return priorities, notices, alive


@settings(deadline=None, max_examples=150)
@given(_lives(), st.integers(1, 10_000_000))
def test_in_the_end_the_highest_living_manager_is_the_only_master(
    lives: tuple[dict[str, int], list[Notice], set[str]], step_ps: int
) -> None:
    priorities, notices, alive = lives
    run = _run(*notices, **priorities)
    run.step_of = lambda number: 1 + number * step_ps % 10_000_000
    last_ps = max((notice.at_ps for notice in notices), default=0)
    run.to(last_ps + 200 * S)
    living = [number for number, host in enumerate(priorities) if host in alive]
    highest = [max(living, key=lambda number: run.managers[number].rank)] if living else []
    assert run.masters() == highest
    assert all(run.states()[number] is STANDBY for number in living if number not in highest)
    assert run.writes == []


@settings(deadline=None, max_examples=40)
@given(_lives(), st.integers(1, 10_000_000))
def test_what_managers_say_does_not_depend_on_the_steps(
    lives: tuple[dict[str, int], list[Notice], set[str]], step_ps: int
) -> None:
    priorities, notices, _ = lives
    lost = switch_links(FABRIC)[3]
    notices = [*notices, *link_notices(40 * PS_PER_US, lost, up=False), *link_notices(30 * S, lost, up=True)]
    runs = [_run(*notices, **priorities) for _ in range(2)]
    runs[0].step_of = lambda number: 1 + number * step_ps % 10_000_000
    for run in runs:
        run.to(300 * S)
    assert sorted(runs[0].writes) == sorted(runs[1].writes)
    assert sorted(runs[0].events) == sorted(runs[1].events)


@st.composite
def _troubles(draw: st.DrawFn) -> tuple[dict[str, int], list[Notice]]:
    """Cables, agents and processes that fail and all come back in the end."""
    priorities = {host: draw(st.integers(0, 2)) for host in HOSTS[: draw(st.integers(1, 3))]}
    gaps = st.sampled_from([0, 40 * PS_PER_US, 700 * PS_PER_US, 3 * S, 12 * S, 61 * S])
    failed: set[tuple[str, int]] = set()
    notices: list[Notice] = []

    def toggle(at_ps: int, what: str, index: int) -> None:
        up = (what, index) in failed
        (failed.discard if up else failed.add)((what, index))
        if what == "cable":
            notices.extend(link_notices(at_ps, FABRIC.links[index], up=up))
        elif what == "agent":
            notices.append(node_notice(at_ps, ActionKind.SMA_STATE, index, int(up)))
        else:
            notices.append(_process(at_ps, list(priorities)[index % len(priorities)], int(up)))

    at_ps = 0
    sizes = {"cable": len(FABRIC.links), "agent": len(FABRIC.nodes), "process": len(priorities)}
    for _ in range(draw(st.integers(1, 14))):
        at_ps += draw(gaps)
        what = draw(st.sampled_from(sorted(sizes)))
        toggle(at_ps, what, draw(st.integers(0, sizes[what] - 1)))
    for what, index in sorted(failed):
        at_ps += draw(gaps)
        toggle(at_ps, what, index)
    return priorities, notices


@settings(deadline=None, max_examples=150)
@given(_troubles())
def test_when_everything_is_well_again_so_are_the_tables(
    troubles: tuple[dict[str, int], list[Notice]],
) -> None:
    priorities, notices = troubles
    run = _run(*notices, **priorities)
    run.to(max(notice.at_ps for notice in notices) + 300 * S)
    ranks = [manager.rank for manager in run.managers]
    assert run.masters() == [ranks.index(max(ranks))]
    assert (run.tables() == PLAN.lft).all()
