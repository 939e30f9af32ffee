# SPDX-License-Identifier: Apache-2.0
"""The congestion-control oracle against the statements of the standard (IBTA A10; models.md section 2)."""

from __future__ import annotations

import pytest

from reference.ib_cc import CctIndex, Marker, entry_of, injection_rate_delay_ps, threshold_blocks


def marker(rate: int = 0, in_victim_mask: bool = False) -> Marker:
    return Marker(threshold_blocks=10, packet_size_blocks=4, marking_rate=rate, in_victim_mask=in_victim_mask)


@pytest.mark.parametrize(("threshold", "blocks"), [(0, None), (1, 1920), (8, 1024), (15, 128)])
def test_threshold_15_is_the_tightest_and_0_is_off(threshold: int, blocks: int | None) -> None:
    assert threshold_blocks(threshold, 2048) == blocks


def test_marks_only_above_the_threshold_and_from_the_packet_size_on() -> None:
    assert not marker().mark(17, 10)
    assert marker().mark(17, 11)
    assert not marker().mark(3, 11)
    assert marker().mark(4, 11)


def test_marking_is_off_without_a_threshold() -> None:
    assert not Marker(None, 0, 0, True).mark(17, 1000)


def test_marking_rate_leaves_eligible_packets_alone_between_marks() -> None:
    root = marker(rate=2)
    assert [root.mark(17, 11) for _ in range(7)] == [True, False, False, True, False, False, True]


def test_packets_that_are_not_eligible_do_not_count_for_the_marking_rate() -> None:
    root = marker(rate=1)
    assert root.mark(17, 11)
    assert not root.mark(17, 0)
    assert not root.mark(17, 11)
    assert root.mark(17, 11)


def test_victim_marks_only_in_the_victim_mask() -> None:
    for in_mask in (False, True):
        victim = marker(in_victim_mask=in_mask)
        victim.blocked = True
        assert victim.mark(17, 11) is in_mask


def test_victim_is_a_root_again_after_its_packet_has_left() -> None:
    victim = marker()
    victim.blocked = True
    assert not victim.mark(17, 11)
    victim.packet_left()
    assert victim.mark(17, 11)


def test_becn_raises_the_ccti_up_to_the_limit() -> None:
    index = CctIndex(minimum=0, limit=5, increase=2, timer_ps=100)
    assert [index.notify(0) for _ in range(4)] == [True, True, True, False]
    assert index.ccti == 5


def test_first_becn_starts_from_the_minimum() -> None:
    index = CctIndex(minimum=3, limit=10, increase=1, timer_ps=100)
    index.notify(0)
    assert index.ccti == 4


def test_timer_runs_from_leaving_the_minimum_and_is_not_restarted() -> None:
    index = CctIndex(minimum=1, limit=10, increase=1, timer_ps=100)
    index.notify(5)
    index.notify(50)
    assert (index.ccti, index.expires_ps) == (3, 105)
    index.expire(105)
    assert (index.ccti, index.expires_ps) == (2, 205)
    index.expire(205)
    assert (index.ccti, index.expires_ps) == (1, None)


def test_rate_is_the_wire_rate_over_one_plus_the_entry() -> None:
    wire_ps = 80_000
    assert injection_rate_delay_ps((0, 3), wire_ps) == 3 * wire_ps
    assert injection_rate_delay_ps((3, 2), wire_ps) == wire_ps // 4
    assert injection_rate_delay_ps((0, 0), wire_ps) == 0


def test_table_that_is_too_short_answers_with_its_last_entry() -> None:
    assert entry_of([(0, 0), (0, 1)], 7) == (0, 1)
