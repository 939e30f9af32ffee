# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.congestion import CCTS, PROFILES, CongestionControl
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.units import PS_PER_US


def _scenario(keys: str) -> Scenario:
    topology = "{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 1, spines: 1}"
    return parse_scenario(
        f"version: 1\nname: t\nfabric: {{topology: {topology}}}\ncongestion_control: {{{keys}}}\n"
    )


def _control(keys: str) -> CongestionControl:
    return _scenario(f"algorithm: ib_cca, {keys}").congestion_control


def _refused(keys: str) -> str:
    with pytest.raises(InputError) as caught:
        _scenario(keys)
    return str(caught.value)


def test_congestion_control_none_has_no_parameters() -> None:
    assert _scenario("algorithm: none").congestion_control == CongestionControl()


def test_congestion_control_none_may_keep_parameters_for_a_comparison() -> None:
    assert _scenario("algorithm: none, threshold: 3").congestion_control == CongestionControl()


def test_congestion_control_default_profile_is_the_balanced_one() -> None:
    assert _control("") == _control("profile: balanced")
    assert _control("").cct == CCTS["mellanox_default"]


def test_congestion_control_recommended_profile_has_the_published_values() -> None:
    control = _control("profile: gran_ipdps10")
    assert (control.threshold, control.marking_rate, control.packet_size_blocks) == (15, 0, 8)
    assert (control.ccti_increase, control.ccti_limit, control.ccti_min, control.ccti_timer) == (
        1,
        127,
        0,
        150,
    )
    assert control.control == "qp"
    assert control.reaction_latency_ps == PS_PER_US


@pytest.mark.parametrize("profile", PROFILES)
def test_congestion_control_profile_is_complete_and_can_be_changed(profile: str) -> None:
    control = _control(f"profile: {profile}, ccti_timer: 7")
    assert control.ccti_timer == 7
    assert len(control.cct) > control.ccti_limit


@pytest.mark.parametrize(
    ("table", "index", "entry", "rate"),
    [
        ("mellanox_default", 32, (0, 3), 0.25),
        ("mellanox_default", 64, (0, 14), 0.067),
        ("mellanox_default", 127, (0, 57), 0.017),
        ("simula_optimal", 32, (3, 2), 0.80),
        ("simula_optimal", 64, (3, 11), 0.42),
        ("simula_optimal", 127, (3, 46), 0.148),
    ],
)
def test_congestion_control_table_has_the_published_values(
    table: str, index: int, entry: tuple[int, int], rate: float
) -> None:
    """Rate of a flow: 1 / (1 + multiplier / 2**shift) of the link's."""
    shift, multiplier = CCTS[table][index]
    assert (shift, multiplier) == entry
    assert float(1 / (1 + Fraction(multiplier, 2**shift))) == pytest.approx(rate, abs=0.005)
    assert len(CCTS[table]) == 128


def test_congestion_control_takes_a_table_of_its_own() -> None:
    control = _control("cct: [{shift: 0, multiplier: 0}, {shift: 3, multiplier: 46}], ccti_limit: 1")
    assert control.cct == ((0, 0), (3, 46))


@pytest.mark.parametrize(
    ("mask", "ports"),
    [
        ("none", []),
        ("hca_facing", ["leaf0/1", "leaf1/1"]),
        ("all", ["leaf0/1", "leaf0/2", "leaf1/1", "leaf1/2", "spine0/1", "spine0/2"]),
        ("[spine0/2, leaf0/1]", ["leaf0/1", "spine0/2"]),
    ],
)
def test_congestion_control_victim_mask_names_switch_ports(mask: str, ports: list[str]) -> None:
    scenario = _scenario(f"algorithm: ib_cca, victim_mask: {mask}")
    names = [scenario.fabric.port_name(port) for port in scenario.congestion_control.victim_ports]
    assert names == ports


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("threshold: 3", "congestion_control: required key 'algorithm' is missing: one of none, ib_cca"),
        ("algorithm: ib_cca, treshold: 3", "unknown key 'treshold'; did you mean 'threshold'?"),
        (
            "algorithm: ib_cca, ccti_limit: 128",
            "congestion_control.ccti_limit: ccti_limit must be less than the 128",
        ),
        (
            "algorithm: ib_cca, ccti_limit: 3, ccti_min: 4",
            "congestion_control.ccti_min: ccti_min must not be above",
        ),
        ("algorithm: ib_cca, ccti_timer: 0", "congestion_control.ccti_timer: expected at least 1, got 0"),
        (
            "algorithm: ib_cca, ccti_timer: 10us",
            "congestion_control.ccti_timer: expected a whole number, got '10us'",
        ),
        ("algorithm: ib_cca, control: sq", "expected 'qp' or 'sl', got 'sq'"),
        ("algorithm: ib_cca, cct: simula", "unknown table 'simula'; did you mean 'simula_optimal'?"),
        ("algorithm: ib_cca, cct: [{shift: 4, multiplier: 1}]", "entry 0 is out of range"),
        ("algorithm: ib_cca, cct: [{shift: 1, multiplier: 16384}]", "entry 0 is out of range"),
        ("algorithm: ib_cca, cct: [{shift: 1.0, multiplier: 1}]", "entry 0 is out of range"),
        ("algorithm: ib_cca, cct: [{shift: x, multiplier: 1}]", "entry 0 is out of range"),
        (
            "algorithm: ib_cca, cct: [3]",
            "expected a list of {shift: 0 to 3, multiplier: 0 to 16383}, entry 0 is 3",
        ),
        ("algorithm: ib_cca, cct: []", "expected the name of a table or a list of"),
        (
            "algorithm: ib_cca, victim_mask: hca",
            "expected none, hca_facing, all or a list of ports, got 'hca'",
        ),
        ("algorithm: ib_cca, victim_mask: [leaf0]", "expected a port such as 'leaf0/1', got 'leaf0'"),
        (
            "algorithm: ib_cca, victim_mask: [leaf0/9]",
            "congestion_control.victim_mask[0]: no cable at 'leaf0/9'",
        ),
        (
            "algorithm: ib_cca, victim_mask: [h0/1]",
            "congestion_control.victim_mask[0]: 'h0' is an HCA; expected a switch",
        ),
        (
            "algorithm: ib_cca, reaction_latency: 0us",
            "congestion_control.reaction_latency: expected more than 0",
        ),
    ],
)
def test_congestion_control_that_is_wrong_is_refused(keys: str, expected: str) -> None:
    assert expected in _refused(keys)
