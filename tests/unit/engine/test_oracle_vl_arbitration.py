# SPDX-License-Identifier: Apache-2.0
"""The VL arbitration oracle against the statements of the standard (IBTA 7.6.9; models.md section 1.5)."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reference.vl_arbitration import VlArbiter


def serve(arbiter: VlArbiter, eligible: set[int], packets: int, wire_bytes: int = 64) -> list[int]:
    served = []
    for _ in range(packets):
        vl = arbiter.choose(eligible)
        assert vl is not None
        arbiter.sent(wire_bytes)
        served.append(vl)
    return served


def test_weights_are_shared_in_units_of_64_bytes() -> None:
    arbiter = VlArbiter((), [(0, 3), (1, 1)], 0)
    assert serve(arbiter, {0, 1}, 8) == [0, 0, 0, 1, 0, 0, 0, 1]


def test_a_packet_may_overdraw_the_remaining_weight_once() -> None:
    arbiter = VlArbiter((), [(0, 1), (1, 20)], 0)
    assert serve(arbiter, {0, 1}, 4, wire_bytes=1050) == [0, 1, 1, 0]


def test_an_entry_of_weight_zero_is_skipped() -> None:
    arbiter = VlArbiter((), [(0, 0), (1, 1), (2, 0)], 0)
    assert serve(arbiter, {0, 1, 2}, 3) == [1, 1, 1]
    assert arbiter.choose({0, 2}) is None


def test_a_vl_without_packets_loses_its_turn() -> None:
    arbiter = VlArbiter((), [(0, 2), (1, 2)], 0)
    assert serve(arbiter, {1}, 3) == [1, 1, 1]
    assert serve(arbiter, {0, 1}, 3) == [1, 0, 0]


def test_limit_zero_lets_one_high_packet_pass_between_low_ones() -> None:
    arbiter = VlArbiter([(0, 255)], [(1, 255)], 0)
    assert serve(arbiter, {0, 1}, 5, wire_bytes=4122) == [0, 1, 0, 1, 0]


def test_limit_255_starves_the_low_table() -> None:
    arbiter = VlArbiter([(0, 1)], [(1, 1)], 255)
    assert set(serve(arbiter, {0, 1}, 300, wire_bytes=4122)) == {0}


def test_limit_is_counted_in_4096_bytes_and_renewed_by_a_low_packet() -> None:
    arbiter = VlArbiter([(0, 255)], [(1, 255)], 1)
    assert serve(arbiter, {0, 1}, 11, wire_bytes=1024) == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]


def test_high_goes_on_beyond_the_limit_while_low_has_nothing() -> None:
    arbiter = VlArbiter([(0, 255)], [(1, 255)], 0)
    assert serve(arbiter, {0}, 3) == [0, 0, 0]
    assert serve(arbiter, {0, 1}, 2) == [1, 0]


def test_nothing_eligible_chooses_nothing() -> None:
    assert VlArbiter([(0, 1)], [(1, 1)], 0).choose(set()) is None


@given(st.lists(st.integers(1, 255), min_size=2, max_size=8))
def test_backlogged_vls_get_bandwidth_in_proportion_to_their_weights(weights: list[int]) -> None:
    arbiter = VlArbiter((), list(enumerate(weights)), 0)
    rounds = 3
    served = Counter(serve(arbiter, set(range(len(weights))), rounds * sum(weights)))
    assert [served[vl] for vl in range(len(weights))] == [rounds * weight for weight in weights]
