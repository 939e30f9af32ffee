# SPDX-License-Identifier: Apache-2.0
"""Who makes way for whom, and when a standby takes over."""

from __future__ import annotations

from fabrictwin.subnet.sm_state import Polling, SmInfo, SmState, find_successor, find_superior

LOW, MIDDLE, HIGH = (1, -9), (5, -30), (5, -20)


def test_master_hands_over_to_the_highest_that_is_ready() -> None:
    others = {0: SmInfo(SmState.STANDBY, MIDDLE), 2: SmInfo(SmState.STANDBY, HIGH)}
    assert find_successor(LOW, others) == 2
    assert find_successor(MIDDLE, others) == 2
    assert find_successor(HIGH, {0: SmInfo(SmState.STANDBY, MIDDLE)}) is None


def test_master_waits_for_one_that_is_still_discovering() -> None:
    assert find_successor(LOW, {2: SmInfo(SmState.DISCOVERING, HIGH)}) is None
    assert find_successor(LOW, {2: SmInfo(SmState.NOT_ACTIVE, HIGH)}) is None
    assert find_successor(LOW, {2: SmInfo(SmState.MASTER, HIGH)}) == 2


def test_discovering_one_makes_way_for_any_master_and_for_those_that_rank_higher() -> None:
    master = {1: SmInfo(SmState.MASTER, LOW), 2: SmInfo(SmState.STANDBY, HIGH)}
    assert find_superior(MIDDLE, master) == 1
    assert find_superior(MIDDLE, {1: SmInfo(SmState.STANDBY, LOW)}) is None
    assert find_superior(MIDDLE, {2: SmInfo(SmState.DISCOVERING, HIGH)}) == 2
    assert find_superior(MIDDLE, {2: SmInfo(SmState.NOT_ACTIVE, HIGH)}) is None
    assert find_superior(MIDDLE, {}) is None


def test_polls_without_answer_are_counted_until_there_are_more_than_the_retry_number() -> None:
    polling = Polling(1, retry_number=4)
    ticks = 0
    while not polling.is_over:
        ticks += 1
        polling.missed += 1
    assert ticks == 5


def test_any_master_is_an_answer_and_is_polled_from_then_on() -> None:
    polling = Polling(1, retry_number=4)
    polling.missed = 3
    polling.hear(2, SmInfo(SmState.MASTER, LOW), HIGH)
    assert (polling.number, polling.missed) == (2, 0)


def test_standby_is_an_answer_only_if_it_is_the_one_polled_and_ranks_higher() -> None:
    polling = Polling(1, retry_number=4)
    polling.missed = 3
    polling.hear(2, SmInfo(SmState.STANDBY, HIGH), MIDDLE)
    polling.hear(1, SmInfo(SmState.STANDBY, LOW), MIDDLE)
    polling.hear(1, SmInfo(SmState.DISCOVERING, HIGH), MIDDLE)
    assert (polling.number, polling.missed) == (1, 3)
    polling.hear(1, SmInfo(SmState.STANDBY, HIGH), MIDDLE)
    assert (polling.number, polling.missed) == (1, 0)
