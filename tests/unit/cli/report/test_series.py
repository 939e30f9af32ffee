# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.cli.report.series import (
    by_group,
    cdf,
    deepest_drops,
    largest,
    middles_ps,
    rates_bps,
    round_steps,
    shares,
    short_label,
    spreads,
    time_axis,
)
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US


@pytest.mark.parametrize(
    ("end_ps", "unit"),
    [
        (0, "ns"),
        (PS_PER_US, "ns"),
        (10 * PS_PER_US, "us"),
        (2 * PS_PER_MS, "us"),
        (PS_PER_S, "ms"),
        (30 * PS_PER_S, "s"),
    ],
)
def test_time_axis_unit_gives_at_least_ten(end_ps: int, unit: str) -> None:
    assert time_axis(end_ps).unit == unit


def test_rates_bps_first_step_counts_from_zero() -> None:
    counters = np.array([[50, 0], [150, 10]], dtype=np.int64)
    times_ps = np.array([1_000, 3_000], dtype=np.int64)
    expected = [[400e9, 0.0], [400e9, 40e9]]
    assert rates_bps(counters, times_ps).tolist() == expected


def test_shares_of_uneven_steps_are_per_step() -> None:
    counters = np.array([[500], [1_500]], dtype=np.int64)
    times_ps = np.array([1_000, 3_000], dtype=np.int64)
    assert shares(counters, times_ps).tolist() == [[0.5], [0.5]]


def test_middles_ps_lie_between_the_samples() -> None:
    assert middles_ps(np.array([1_000, 3_000], dtype=np.int64)).tolist() == [500.0, 2_000.0]


def test_by_group_columns_of_a_group_are_summed() -> None:
    columns = np.array([[1.0, 2.0, 4.0]])
    grouped = by_group(columns, ["b", "a", "b"])
    assert {name: values.tolist() for name, values in grouped.items()} == {"b": [5.0], "a": [2.0]}


def test_largest_come_first_without_those_that_are_zero() -> None:
    totals = np.array([0, 5, 9, 0])
    assert largest(totals, 3) == [2, 1]
    assert largest(totals, 1) == [2]


def test_deepest_drops_find_the_column_that_stopped_and_not_the_noisy_one() -> None:
    steps = np.arange(200)
    noisy = np.where(steps % 2, 60.0, 140.0)
    stopped = np.where((steps > 100) & (steps < 140), 0.0, 100.0)
    steady = np.full(200, 100.0)
    assert deepest_drops(np.stack([noisy, stopped, steady], axis=1), 5, np.zeros(3, bool)) == [1]


def test_deepest_drops_do_not_take_the_start_for_a_fall() -> None:
    steps = np.arange(200)
    late = np.where(steps < 60, 0.0, 100.0)
    late_and_hit = np.where((steps < 60) | (steps > 180), 0.0, 100.0)
    assert deepest_drops(np.stack([late, late_and_hit], axis=1), 5, np.zeros(2, bool)) == [1]


@pytest.mark.parametrize(("done", "expected"), [(True, [1]), (False, [0, 1])])
def test_deepest_drops_take_no_end_for_a_fall_where_all_is_done(done: bool, expected: list[int]) -> None:
    steps = np.arange(200)
    early = np.where(steps < 120, 100.0, 0.0)
    early_and_hit = np.where((steps < 24) | ((steps > 48) & (steps < 150)), 100.0, 0.0)
    assert deepest_drops(np.stack([early, early_and_hit], axis=1), 5, np.full(2, done)) == expected


def test_deepest_drops_of_nothing_are_none() -> None:
    assert deepest_drops(np.zeros((200, 2)), 5, np.zeros(2, bool)) == []


def test_round_steps_enclose_the_values() -> None:
    assert round_steps(2.2, 70.0) == [1, 2, 5, 10, 20, 50, 100, 200, 500]
    assert round_steps(3.0, 3.0)[0] <= 3.0 <= round_steps(3.0, 3.0)[-1]


def test_short_label_keeps_what_fits_and_both_ends_of_what_does_not() -> None:
    assert short_label("leaf0/5 → spine1/2") == "leaf0/5 → spine1/2"
    long = short_label("a08-p1-dgx-04-c01-mlx5_5/1 → MF0-A09-P1-IBLEAF-04-04/12")
    assert long == "a08-p1-dg…-mlx5_5/1 → MF0-A09-P…-04-04/12"


def test_spreads_ignore_the_noise_of_single_steps() -> None:
    noisy = np.where(np.arange(200) % 2, 0.0, 1.0)
    moving = np.linspace(0.0, 0.5, 200)
    noise, movement = spreads(np.stack([noisy, moving], axis=1))
    assert noise < 0.2 < movement


def test_cdf_of_many_values_is_thinned_but_keeps_both_ends() -> None:
    x, y = cdf(np.arange(1, 100_001, dtype=np.int64)[::-1])
    assert len(x) == 1_000
    assert (x[0], x[-1]) == (1.0, 100_000.0)
    assert (y[0], y[-1]) == (1e-5, 1.0)
