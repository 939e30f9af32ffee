# SPDX-License-Identifier: Apache-2.0
"""The head-of-queue oracle against the statements of the standard (IBTA 18.2.5.4; models.md section 1.7)."""

from __future__ import annotations

from reference.hoq import HeadOfQueue


def test_life_begins_when_the_packet_becomes_the_candidate() -> None:
    assert HeadOfQueue(life_ps=100, stall_count=7).new_candidate(40) == 140


def test_life_without_end_sets_no_timer() -> None:
    assert HeadOfQueue(life_ps=None, stall_count=7).new_candidate(40) is None


def test_each_candidate_has_a_timer_of_its_own() -> None:
    hoq = HeadOfQueue(life_ps=100, stall_count=7)
    hoq.new_candidate(0)
    first = hoq.candidate
    hoq.no_candidate()
    hoq.new_candidate(50)
    assert hoq.candidate != first


def test_discards_in_a_row_stall_the_vl_for_eight_lives() -> None:
    hoq = HeadOfQueue(life_ps=100, stall_count=3)
    assert [hoq.expire(now) for now in (100, 200, 300)] == [False, False, True]
    assert hoq.is_stalled(300)
    assert hoq.is_stalled(1099)
    assert not hoq.is_stalled(1100)


def test_a_packet_that_is_sent_restarts_the_count() -> None:
    hoq = HeadOfQueue(life_ps=100, stall_count=2)
    assert not hoq.expire(100)
    hoq.sent()
    assert not hoq.expire(300)
