# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.model.hpcc import HPCC_PROFILES, Hpcc, HpccSpec
from fabrictwin.units import PS_PER_US
from unit.model.roce_scenarios import parse_roce, refused_roce


def _hpcc(keys: str) -> Hpcc:
    parsed = parse_roce(f"congestion_control: {{algorithm: hpcc, {keys}}}\n").congestion_control
    assert parsed.algorithm == "hpcc"
    assert isinstance(parsed.rates, Hpcc)
    return parsed.rates


def test_paper_profile_has_the_values_of_the_paper() -> None:
    assert _hpcc("profile: paper") == Hpcc(
        eta_q16=62_259,
        max_stage=5,
        base_rtt_ps=13 * PS_PER_US,
        flows=100,
        min_rate_bps=100_000_000,
        telemetry_bytes=42,
    )


def test_parameters_of_a_scenario_replace_those_of_the_profile() -> None:
    hpcc = _hpcc("profile: htsim, eta: 1, telemetry: 0B, max_stage: 0")
    assert (hpcc.eta_q16, hpcc.telemetry_bytes, hpcc.max_stage) == (1 << 16, 0, 0)
    assert hpcc.base_rtt_ps == 12 * PS_PER_US


def test_every_profile_has_every_parameter_and_a_source() -> None:
    for name, profile in HPCC_PROFILES.items():
        assert name == profile.name
        assert set(profile.parameters) == set(HpccSpec.model_fields)
        assert profile.source


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "{algorithm: hpcc, eta: 0.9}",
            "congestion_control: parameters of hpcc need a 'profile' for the others: one of paper, htsim",
        ),
        (
            "{algorithm: hpcc, profile: paper, eta: 1.5}",
            "congestion_control.eta: expected a number above 0, at most 1, got 1.5",
        ),
        (
            "{algorithm: hpcc, profile: paper, base_rtt: 2ms}",
            "congestion_control.base_rtt: expected a time from 1ns to 1ms, got 2ms",
        ),
        ("{algorithm: hpcc, profile: paper, flows: 0}", "congestion_control.flows: expected at least 1"),
        (
            "{algorithm: hpcc, profile: paper, telemetry: 1KB}",
            "congestion_control.telemetry: expected at most 256",
        ),
        (
            "{algorithm: hpcc, profile: paper, etta: 0.9}",
            "unknown key 'etta'; did you mean 'eta'?",
        ),
    ],
)
def test_hpcc_that_is_wrong_is_refused(keys: str, expected: str) -> None:
    assert expected in refused_roce(f"congestion_control: {keys}\n")


def test_hpcc_with_acknowledgements_of_whole_messages_is_refused() -> None:
    text = refused_roce(
        "  hca_model: {base: connectx7_roce, loss_recovery: go_back_0}\n"
        "congestion_control: {algorithm: hpcc}\n"
    )
    assert "hpcc needs an acknowledgement of every packet" in text
