# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fault import FAULTS, MOST_ACTIONS
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.units import PS_PER_US

LINK = "link: [leaf0/3, spine0/1]"


def _scenario(*faults: str, fabric: str = "") -> Scenario:
    topology = "topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}"
    entries = "".join(f"  - {{{fault}}}\n" for fault in faults)
    return parse_scenario(
        f"version: 1\nname: t\nfabric: {{{topology}, link: {{rate: 400Gb/s}}{fabric}}}\nfaults:\n{entries}"
    )


def _changes(*faults: str, fabric: str = "") -> list[tuple[int, ActionKind, str, int, int]]:
    scenario = _scenario(*faults, fabric=fabric)
    return [
        (
            action.at_ps // PS_PER_US,
            action.kind,
            scenario.fabric.port_name(action.target),
            action.value,
            action.fault,
        )
        for action in scenario.actions
    ]


def _refused(*faults: str) -> str:
    with pytest.raises(InputError) as caught:
        _scenario(*faults)
    return str(caught.value)


def test_sm_down_stops_and_starts_the_subnet_manager() -> None:
    assert _changes("kind: sm_down, node: h0, at: 3us, duration: 2us") == [
        (3, ActionKind.SM_STATE, "h0/1", 0, 0),
        (5, ActionKind.SM_STATE, "h0/1", 1, 0),
    ]


def test_sma_unresponsive_silences_a_node_of_either_kind() -> None:
    assert _changes(
        "kind: sma_unresponsive, node: spine1, at: 3us", "kind: sma_unresponsive, node: h1, at: 4us"
    ) == [
        (3, ActionKind.SMA_STATE, "spine1/1", 0, 0),
        (4, ActionKind.SMA_STATE, "h1/1", 0, 1),
    ]


def test_subnet_manager_does_not_die_twice_at_a_time() -> None:
    assert "overlaps with 'sm_down0'" in _refused(
        "kind: sm_down, node: h0, at: 3us", "kind: sm_down, node: h0, at: 5us"
    )


DOWN, UP = 0, 1
STATE, RATE = ActionKind.LINK_STATE, ActionKind.LINK_RATE


def test_link_down_without_duration_lasts() -> None:
    assert _changes(f"kind: link_down, {LINK}, at: 5us") == [(5, STATE, "leaf0/3", DOWN, 0)]


def test_link_down_with_duration_comes_up_again_whatever_the_order_of_the_ends() -> None:
    expected = [(5, STATE, "leaf0/3", DOWN, 0), (7, STATE, "leaf0/3", UP, 0)]
    assert _changes(f"kind: link_down, {LINK}, at: 5us, duration: 2us") == expected
    assert _changes("kind: link_down, link: [spine0/1, leaf0/3], at: 5us, duration: 2us") == expected


def test_link_flap_goes_down_as_often_as_said() -> None:
    changes = _changes(f"kind: link_flap, {LINK}, at: 10us, down: 1us, up: 3us, count: 3")
    assert [(at, value) for at, _, _, value, _ in changes] == [
        *((10, DOWN), (11, UP), (14, DOWN), (15, UP), (18, DOWN), (19, UP)),
    ]


def test_switch_down_takes_every_cable_of_it_down() -> None:
    changes = _changes("kind: switch_down, switch: leaf1, at: 1us, duration: 1us")
    names = ["h2/1", "h3/1", "leaf1/3", "leaf1/4"]
    assert [(name, value) for _, _, name, value, _ in changes] == [
        *((name, DOWN) for name in names),
        *((name, UP) for name in names),
    ]


def test_cable_that_two_faults_hold_down_comes_up_with_the_last() -> None:
    changes = _changes(
        f"kind: link_down, {LINK}, at: 1us, duration: 5us",
        "kind: switch_down, switch: spine0, at: 3us, duration: 5us",
    )
    assert [change for change in changes if change[2] == "leaf0/3"] == [
        (1, STATE, "leaf0/3", DOWN, 0),
        (8, STATE, "leaf0/3", UP, 1),
    ]


def test_cable_that_one_fault_hands_to_the_next_stays_down() -> None:
    changes = _changes(
        f"kind: link_down, {LINK}, at: 1us, duration: 2us", f"kind: link_down, {LINK}, at: 3us, duration: 2us"
    )
    assert changes == [(1, STATE, "leaf0/3", DOWN, 0), (5, STATE, "leaf0/3", UP, 1)]


@pytest.mark.parametrize(
    ("how", "rate_bps"),
    [
        ("width: 1x", 100_000_000_000),
        ("width: 2x", 200_000_000_000),
        ("speed: HDR", 200_000_000_000),
        ("speed: SDR", 8_000_000_000),
        ("rate: 123Gb/s", 123_000_000_000),
    ],
)
def test_link_degraded_runs_slower_and_then_as_before(how: str, rate_bps: int) -> None:
    assert _changes(f"kind: link_degraded, {LINK}, at: 1us, duration: 1us, {how}") == [
        (1, RATE, "leaf0/3", rate_bps, 0),
        (2, RATE, "leaf0/3", 400_000_000_000, 0),
    ]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("", "give one of 'width', 'speed' and 'rate'"),
        (", width: 1x, speed: SDR", "give one of 'width', 'speed' and 'rate'"),
        (", speed: NDR", "faults[0].speed: 400 Gb/s is not less than the 400 Gb/s that the cable has"),
        (", rate: 500Gb/s", "faults[0].rate: 500 Gb/s is not less than"),
        (", rate: 0Gb/s", "faults[0].rate: expected more than 0"),
        (", width: 3x", "faults[0].width: expected '1x' or '2x', got '3x'"),
        (", speed: HDDR", "did you mean 'HDR'?"),
    ],
)
def test_link_degraded_to_nothing_less_is_refused(how: str, expected: str) -> None:
    assert expected in _refused(f"kind: link_degraded, {LINK}, at: 1us{how}")


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ("probability: 1", 2**32),
        ("probability: 0.5", 2**31),
        ("probability: 1e-4", 429_497),
        ("every: 256", -256),
    ],
)
def test_symbol_errors_by_probability(how: str, value: int) -> None:
    changes = _changes(f"kind: symbol_errors, {LINK}, at: 1us, duration: 1us, {how}")
    assert [(kind, v) for _, kind, _, v, _ in changes] == [
        (ActionKind.LINK_ERROR, value),
        (ActionKind.LINK_ERROR, 0),
    ]


def test_symbol_errors_by_bit_error_rate_hit_packets_of_full_size() -> None:
    (change,) = _changes(f"kind: symbol_errors, {LINK}, at: 1us, ber: 1e-8", fabric=", mtu: 1024")
    bits = 8 * (1024 + 26)
    assert change[3] == pytest.approx(2**32 * (1 - (1 - 1e-8) ** bits), abs=1)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("", "give either 'probability', 'ber' or 'every'"),
        (", probability: 0.1, ber: 0.000000001", "give either 'probability', 'ber' or 'every'"),
        (", probability: 0.1, every: 3", "give either 'probability', 'ber' or 'every'"),
        (", every: 0", "faults[0].every: expected at least 1"),
        (", probability: 0", "faults[0].probability: expected more than 0"),
        (", probability: 1.5", "faults[0].probability: expected at most 1"),
        (", probability: 1e-11", "faults[0].probability: would hit less than one packet in 2**32"),
    ],
)
def test_symbol_errors_without_a_probability_are_refused(how: str, expected: str) -> None:
    assert expected in _refused(f"kind: symbol_errors, {LINK}, at: 1us{how}")


@pytest.mark.parametrize(
    ("model", "restored"), [("", -1), (", hca_model: {base: connectx7, drain_rate: 90Gb/s}", 90 * 10**9)]
)
def test_slow_receiver_drains_as_its_model_again_afterwards(model: str, restored: int) -> None:
    changes = _changes("kind: slow_receiver, node: h2, at: 1us, duration: 1us, rate: 0Gb/s", fabric=model)
    assert changes == [
        (1, ActionKind.DRAIN_RATE, "h2/1", 0, 0),
        (2, ActionKind.DRAIN_RATE, "h2/1", restored, 0),
    ]


def test_receiver_not_ready_has_no_receive_queue_for_a_while() -> None:
    assert _changes("kind: receiver_not_ready, node: h2/1, at: 1us, duration: 3us") == [
        (1, ActionKind.RECEIVE_QUEUE, "h2/1", 0, 0),
        (4, ActionKind.RECEIVE_QUEUE, "h2/1", 1, 0),
    ]


def test_fault_without_the_duration_that_it_needs_is_refused() -> None:
    assert "required key 'duration' is missing: a time" in _refused(
        "kind: receiver_not_ready, node: h2, at: 1us"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            f"kind: link_degraded, {LINK}, at: 1us, width: 1x",
            f"kind: link_degraded, {LINK}, at: 9us, width: 2x",
        ),
        (
            f"kind: symbol_errors, {LINK}, at: 1us, duration: 9us, probability: 0.1",
            f"kind: symbol_errors, {LINK}, at: 9us, probability: 0.2",
        ),
        (
            "kind: slow_receiver, node: h0, at: 1us, rate: 1Gb/s",
            "kind: slow_receiver, node: h0/1, at: 1us, rate: 0Gb/s",
        ),
    ],
)
def test_faults_that_change_the_same_thing_at_one_time_are_refused(first: str, second: str) -> None:
    kind = first.split(",")[0].removeprefix("kind: ")
    assert f"faults[1].at: overlaps with '{kind}0', which changes the same thing" in _refused(first, second)


def test_faults_that_change_the_same_thing_one_after_the_other_are_allowed() -> None:
    first = f"kind: link_degraded, {LINK}, at: 1us, duration: 2us, width: 1x"
    second = f"kind: link_degraded, {LINK}, at: 3us, duration: 2us, width: 2x"
    # The end of the first and the start of the second fall on one moment: the start counts.
    changes = _changes(first, second)
    assert [at for at, *_ in changes] == [1, 3, 5]
    assert [value for *_, value, _ in changes] == [100_000_000_000, 200_000_000_000, 400_000_000_000]


def test_faults_are_sorted_by_time_and_described() -> None:
    scenario = _scenario(
        "kind: slow_receiver, node: h1, at: 9us, rate: 0Gb/s",
        f"kind: link_down, name: cut, {LINK}, at: 5us, duration: 2us",
    )
    assert scenario.actions == tuple(sorted(scenario.actions))
    assert isinstance(scenario.actions[0], Action)
    assert [(fault.name, fault.text, fault.start_ps, fault.end_ps) for fault in scenario.faults] == [
        ("slow_receiver0", "slow_receiver h1, rate 0Gb/s", 9 * PS_PER_US, None),
        ("cut", "link_down leaf0/3 - spine0/1", 5 * PS_PER_US, 7 * PS_PER_US),
    ]


def test_faults_with_one_name_are_refused() -> None:
    fault = f"kind: link_down, name: cut, {LINK}, at: 5us"
    assert "faults[1].name: a second fault with the name 'cut'" in _refused(fault, fault)


def test_faults_that_change_too_much_are_refused() -> None:
    flap = f"kind: link_flap, {LINK}, at: 0us, down: 1us, up: 1us, count: 1000"
    assert f"more than {MOST_ACTIONS:,} times" in _refused(*[flap] * 30)


@pytest.mark.parametrize("kind", FAULTS)
def test_fault_kind_describes_itself_and_its_keys(kind: str) -> None:
    row = FAULTS[kind]
    assert row.name == kind
    assert row.summary.endswith(".")
    assert all(info.description for key, info in row.spec.model_fields.items() if key != "kind")


ROCE = ", technology: roce"


def test_pfc_storm_pauses_one_priority_of_an_adapter_and_ends() -> None:
    assert _changes("kind: pfc_storm, node: h1, priority: 3, at: 2us, duration: 5us", fabric=ROCE) == [
        (2, ActionKind.PFC_STORM, "h1/1", 4, 0),
        (7, ActionKind.PFC_STORM, "h1/1", -4, 0),
    ]


def test_pfc_storm_without_priority_is_of_the_lowest_lossless_one_and_may_last() -> None:
    assert _changes("kind: pfc_storm, node: h1, at: 2us", fabric=ROCE) == [
        (2, ActionKind.PFC_STORM, "h1/1", 4, 0)
    ]


def test_pfc_storms_of_two_priorities_are_apart_and_of_one_overlap() -> None:
    lossless = "qos: {lossless_priorities: [3, 4]}\n"
    text = (
        "version: 1\nname: t\nfabric: {technology: roce, topology: {generator: single_switch, hosts: 2}}\n"
        "faults:\n  - {kind: pfc_storm, node: h0, priority: 3, at: 1us, duration: 4us}\n"
        "  - {kind: pfc_storm, node: h0, priority: PRIORITY, at: AT, duration: 4us}\n" + lossless
    )
    apart = parse_scenario(text.replace("PRIORITY", "4").replace("AT", "5us")).actions
    assert [(action.at_ps // PS_PER_US, action.value) for action in apart] == [
        (1, 4),
        (5, -4),
        (5, 5),
        (9, -5),
    ]
    together = parse_scenario(text.replace("PRIORITY", "4").replace("AT", "2us")).actions
    assert [action.value for action in together] == [4, 5, -4, -5]
    with pytest.raises(InputError, match="overlaps with 'pfc_storm0', which changes the same thing"):
        parse_scenario(text.replace("PRIORITY", "3").replace("AT", "2us"))


def test_pfc_storm_on_infiniband_is_refused() -> None:
    expected = "'pfc_storm' belongs to technology 'roce'; on InfiniBand use one of link_down, "
    assert expected in _refused("kind: pfc_storm, node: h1, at: 2us")


def test_faults_of_both_technologies_are_read_on_roce() -> None:
    both = [name for name, kind in FAULTS.items() if kind.technology is None]
    assert both == [
        "link_down",
        "link_flap",
        "link_degraded",
        "symbol_errors",
        "switch_down",
        "slow_receiver",
        "receiver_not_ready",
    ]
    assert _changes(f"kind: link_down, {LINK}, at: 1us", fabric=ROCE) == [
        (1, ActionKind.LINK_STATE, "leaf0/3", 0, 0)
    ]


def test_bit_errors_on_roce_count_the_bytes_of_an_ethernet_frame() -> None:
    ((_, _, _, infiniband, _),) = _changes(f"kind: symbol_errors, {LINK}, at: 1us, ber: 0.000000001")
    ((_, _, _, roce, _),) = _changes(f"kind: symbol_errors, {LINK}, at: 1us, ber: 0.000000001", fabric=ROCE)
    assert roce / infiniband == pytest.approx(4160 / 4122, rel=1e-4)
