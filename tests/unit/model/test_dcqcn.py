# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.model.dcqcn import DCQCN_PROFILES, Dcqcn, DcqcnSpec
from fabrictwin.units import PS_PER_US
from unit.model.roce_scenarios import parse_roce, refused_roce

MBPS = 10**6
ONE = 1 << 30


def _dcqcn(keys: str, link: str = "100Gb/s") -> Dcqcn:
    parsed = parse_roce(
        f"  link: {{rate: {link}}}\ncongestion_control: {{algorithm: dcqcn, {keys}}}\n"
    ).congestion_control
    assert parsed.algorithm == "dcqcn"
    assert isinstance(parsed.rates, Dcqcn)
    return parsed.rates


def test_paper_profile_has_the_values_of_the_paper() -> None:
    assert _dcqcn("profile: paper") == Dcqcn(
        cnp_interval_ps=50 * PS_PER_US,
        alpha_timer_ps=55 * PS_PER_US,
        g_q30=ONE // 256,
        initial_alpha_q30=ONE,
        rate_timer_ps=55 * PS_PER_US,
        byte_counter_bytes=10_000_000,
        threshold=5,
        rate_ai_bps=40 * MBPS,
        rate_hai_bps=400 * MBPS,
        min_rate_bps=MBPS,
        min_decrease_q16=0,
        rate_reduce_interval_ps=0,
        clamp_target=False,
    )


def test_connectx_profile_has_the_values_of_the_vendor() -> None:
    assert _dcqcn("profile: connectx") == Dcqcn(
        cnp_interval_ps=4 * PS_PER_US,
        alpha_timer_ps=PS_PER_US,
        g_q30=(1024 - 1019) * (ONE // 1024),
        initial_alpha_q30=1023 * (ONE // 1024),
        rate_timer_ps=300 * PS_PER_US,
        byte_counter_bytes=32_767,
        threshold=1,
        rate_ai_bps=5 * MBPS,
        rate_hai_bps=50 * MBPS,
        min_rate_bps=MBPS,
        min_decrease_q16=1 << 15,
        rate_reduce_interval_ps=4 * PS_PER_US,
        clamp_target=False,
    )


@pytest.mark.parametrize(("link", "times"), [("25Gb/s", 1), ("100Gb/s", 4), ("400Gb/s", 16)])
def test_hpcc_profile_raises_in_proportion_to_the_link(link: str, times: int) -> None:
    dcqcn = _dcqcn("profile: hpcc", link)
    assert (dcqcn.rate_ai_bps, dcqcn.rate_hai_bps) == (5 * times * MBPS, 50 * times * MBPS)
    assert (dcqcn.g_q30, dcqcn.initial_alpha_q30, dcqcn.byte_counter_bytes) == (ONE // 256, ONE, 0)
    assert (dcqcn.threshold, dcqcn.min_rate_bps, dcqcn.min_decrease_q16) == (1, 100 * MBPS, 0)


def test_rate_that_a_scenario_writes_is_not_scaled() -> None:
    dcqcn = _dcqcn("profile: hpcc, rate_ai: 7Mb/s")
    assert (dcqcn.rate_ai_bps, dcqcn.rate_hai_bps) == (7 * MBPS, 200 * MBPS)


def test_parameters_of_a_scenario_replace_those_of_the_profile() -> None:
    dcqcn = _dcqcn("profile: paper, g: 0.0625, min_decrease: 1/4, clamp_target: true, byte_counter: 0B")
    assert (dcqcn.g_q30, dcqcn.min_decrease_q16) == (ONE // 16, 1 << 14)
    assert (dcqcn.clamp_target, dcqcn.byte_counter_bytes) == (True, 0)


def test_dcqcn_without_a_profile_is_connectx() -> None:
    control = parse_roce("congestion_control: {algorithm: dcqcn}\n").congestion_control
    same = parse_roce("congestion_control: {algorithm: dcqcn, profile: connectx}\n").congestion_control
    assert control == same


def test_no_congestion_control_has_no_dcqcn() -> None:
    control = parse_roce("congestion_control: {algorithm: none}\n").congestion_control
    assert (control.algorithm, control.rates) == ("none", None)
    assert parse_roce("").congestion_control == control


def test_every_profile_has_every_parameter_and_a_source() -> None:
    for name, profile in DCQCN_PROFILES.items():
        assert name == profile.name
        assert set(profile.parameters) == set(DcqcnSpec.model_fields)
        assert profile.source


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "{algorithm: dcqcn, g: 1/256}",
            "congestion_control: parameters of dcqcn need a 'profile' for the others",
        ),
        (
            "{algorithm: dcqcn, profile: papr}",
            "congestion_control.profile: unknown profile 'papr'; did you mean 'paper'?",
        ),
        (
            "{algorithm: swift}",
            "algorithm: 'swift' is not available yet; on RoCE use one of none, dcqcn, timely, hpcc",
        ),
        (
            "{algorithm: ib_cca}",
            "'ib_cca' belongs to technology 'infiniband'; on RoCE use one of none, dcqcn, timely, hpcc",
        ),
        ("{algorithm: dcqn}", "unknown algorithm 'dcqn'; did you mean 'dcqcn'?"),
        ("{profile: paper}", "required key 'algorithm' is missing: one of none, dcqcn, timely, hpcc"),
        (
            "{algorithm: dcqcn, profile: paper, g: 2}",
            "congestion_control.g: expected a number above 0, at most 1, got 2",
        ),
        (
            "{algorithm: dcqcn, profile: paper, g: 0}",
            "congestion_control.g: expected a number above 0, at most 1, got 0",
        ),
        (
            "{algorithm: dcqcn, profile: paper, g: x}",
            "congestion_control.g: expected a number such as 0.125 or 1/8, got 'x'",
        ),
        (
            "{algorithm: dcqcn, profile: paper, min_decrease: 1}",
            "congestion_control.min_decrease: expected a number from 0 to less than 1, got 1",
        ),
        (
            "{algorithm: dcqcn, profile: paper, threshold: 0}",
            "congestion_control.threshold: expected at least 1",
        ),
        (
            "{algorithm: dcqcn, profile: paper, alpha_timer: 0us}",
            "congestion_control.alpha_timer: expected more than 0",
        ),
        (
            "{algorithm: dcqcn, profile: paper, rate_timr: 1us}",
            "unknown key 'rate_timr'; did you mean 'rate_timer'?",
        ),
        (
            "{algorithm: none, profile: paper, ccti_min: 1}",
            "congestion_control.ccti_min: unknown key 'ccti_min'",
        ),
    ],
)
def test_dcqcn_that_is_wrong_is_refused(keys: str, expected: str) -> None:
    assert expected in refused_roce(f"congestion_control: {keys}\n")
