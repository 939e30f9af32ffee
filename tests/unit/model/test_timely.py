# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.model.timely import TIMELY_PROFILES, Timely, TimelySpec
from fabrictwin.units import PS_PER_US
from unit.model.roce_scenarios import parse_roce, refused_roce

MBPS = 10**6


def _timely(keys: str, link: str = "100Gb/s") -> Timely:
    parsed = parse_roce(
        f"  link: {{rate: {link}}}\ncongestion_control: {{algorithm: timely, {keys}}}\n"
    ).congestion_control
    assert parsed.algorithm == "timely"
    assert isinstance(parsed.rates, Timely)
    return parsed.rates


def test_paper_profile_has_the_values_of_the_paper() -> None:
    assert _timely("profile: paper") == Timely(
        ewma_q16=57_344,
        beta_q16=52_429,
        t_low_ps=50 * PS_PER_US,
        t_high_ps=500 * PS_PER_US,
        min_rtt_ps=20 * PS_PER_US,
        delta_bps=10 * MBPS,
        hai_threshold=5,
        hai_factor=5,
        min_decrease_q16=32_768,
        min_rate_bps=100 * MBPS,
    )


@pytest.mark.parametrize(("link", "times"), [("10Gb/s", 1), ("100Gb/s", 10)])
def test_hpcc_profile_raises_in_proportion_to_the_link(link: str, times: int) -> None:
    assert _timely("profile: hpcc", link).delta_bps == 10 * times * MBPS
    assert _timely("profile: hpcc, delta: 7Mb/s", link).delta_bps == 7 * MBPS


def test_every_profile_has_every_parameter_and_a_source() -> None:
    for name, profile in TIMELY_PROFILES.items():
        assert name == profile.name
        assert set(profile.parameters) == set(TimelySpec.model_fields)
        assert profile.source


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "{algorithm: timely, beta: 0.5}",
            "congestion_control: parameters of timely need a 'profile' for the others: one of paper, hpcc",
        ),
        (
            "{algorithm: timely, profile: connectx}",
            "congestion_control.profile: unknown profile 'connectx'",
        ),
        (
            "{algorithm: timely, profile: paper, ewma: 0}",
            "congestion_control.ewma: expected a number above 0, at most 1, got 0",
        ),
        (
            "{algorithm: timely, profile: paper, beta: 1}",
            "congestion_control.beta: expected a number from 0 to less than 1, got 1",
        ),
        (
            "{algorithm: timely, profile: paper, t_low: 500us}",
            "congestion_control.t_low: t_low must be less than t_high",
        ),
        (
            "{algorithm: timely, profile: paper, min_rtt: 0us}",
            "congestion_control.min_rtt: expected more than 0",
        ),
        (
            "{algorithm: timely, profile: paper, rate_ai: 5Mb/s}",
            "congestion_control.rate_ai: unknown key 'rate_ai'",
        ),
    ],
)
def test_timely_that_is_wrong_is_refused(keys: str, expected: str) -> None:
    assert expected in refused_roce(f"congestion_control: {keys}\n")
