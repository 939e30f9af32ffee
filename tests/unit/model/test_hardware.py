# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.model.fabric import MM_PER_M, PROPAGATION_PS_PER_MM, Technology
from fabrictwin.model.hardware import (
    ETHERNET_SWITCH_MODELS,
    HCA_MODELS,
    ROCE_HCA_MODELS,
    SWITCH_MODELS,
    EthernetSwitchModel,
    HcaModel,
    SwitchModel,
    check_ethernet_switch_model,
    check_hca_model,
    check_switch_model,
)
from fabrictwin.model.hardware.ecn import PROBABILITY_UNIT, EcnProfile
from fabrictwin.model.hardware.ethernet_switch_model import ALPHA_UNIT, PfcWatchdog
from fabrictwin.model.hardware.headroom import HEADROOM_PROFILES, headroom_bytes
from fabrictwin.model.hardware.link_speed import link_rate_bps
from fabrictwin.units import PS_PER_MS, PS_PER_NS, femtoseconds_per_byte, show_rate, show_size, show_time

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "models" / "hardware.md"
SPECTRUM4 = ETHERNET_SWITCH_MODELS["spectrum4"]
QUANTUM2, CONNECTX7 = SWITCH_MODELS["quantum2"], HCA_MODELS["connectx7"]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _switch_row(model: SwitchModel) -> str:
    cells = (
        f"`{model.name}`",
        model.title,
        f"up to {model.ports}" if model.any_radix else str(model.ports),
        show_rate(model.rate_bps),
        show_time(model.forwarding_latency_ps),
        show_size(model.buffer_per_vl_bytes),
        str(model.data_vls),
        _yes(model.llr),
        model.source,
    )
    return f"| {' | '.join(cells)} |"


def _ethernet_switch_row(model: EthernetSwitchModel) -> str:
    ecn = model.ecn
    assert ecn is not None
    cells = (
        f"`{model.name}`",
        model.title,
        f"up to {model.ports}" if model.any_radix else str(model.ports),
        show_rate(model.rate_bps),
        show_time(model.forwarding_latency_ps),
        f"{model.shared_buffer_bytes:,} B",
        f"{model.reserve_bytes:,} B",
        f"{model.alpha_q16 / ALPHA_UNIT:g}",
        f"{model.xon_offset_bytes:,} B",
        f"`{model.headroom_profile}`",
        f"{ecn.kmin_bytes:,} to {ecn.kmax_bytes:,} B, {ecn.pmax_q16 / PROBABILITY_UNIT:.2g}",
        _yes(model.llr),
        model.source,
    )
    return f"| {' | '.join(cells)} |"


def _roce_hca_row(model: HcaModel) -> str:
    cells = (
        f"`{model.name}`",
        model.title,
        show_rate(model.rate_bps),
        show_time(model.tx_latency_ps),
        show_time(model.rx_latency_ps),
        f"{model.receive_buffer_bytes:,} B",
        f"`{model.headroom_profile}`",
        f"{model.xon_offset_bytes:,} B",
        model.source,
    )
    return f"| {' | '.join(cells)} |"


def _hca_row(model: HcaModel) -> str:
    cells = (
        f"`{model.name}`",
        model.title,
        show_rate(model.rate_bps),
        show_time(model.tx_latency_ps),
        show_time(model.rx_latency_ps),
        show_size(model.receive_buffer_bytes),
        _yes(model.llr),
        model.source,
    )
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", SWITCH_MODELS)
def test_switch_model_row_is_sound_and_documented(name: str) -> None:
    model = SWITCH_MODELS[name]
    assert model.name == name
    assert check_switch_model(model, mtu_bytes=4096) == []
    assert _switch_row(model) in DOCUMENT.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", HCA_MODELS)
def test_hca_model_row_is_sound_and_documented(name: str) -> None:
    model = HCA_MODELS[name]
    assert model.name == name
    assert check_hca_model(model, mtu_bytes=4096) == []
    assert _hca_row(model) in DOCUMENT.read_text(encoding="utf-8").splitlines()


def test_ethernet_document_rows_are_those_of_the_tables() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    expected = [_ethernet_switch_row(model) for model in ETHERNET_SWITCH_MODELS.values()]
    expected += [_roce_hca_row(model) for model in ROCE_HCA_MODELS.values()]
    assert [line for line in expected if line not in lines] == []


def test_document_has_no_row_that_the_tables_lack() -> None:
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    expected = [_switch_row(model) for model in SWITCH_MODELS.values()]
    expected += [_ethernet_switch_row(model) for model in ETHERNET_SWITCH_MODELS.values()]
    expected += [_hca_row(model) for model in HCA_MODELS.values()]
    expected += [_roce_hca_row(model) for model in ROCE_HCA_MODELS.values()]
    assert [row for row in rows if row in expected] == expected
    assert {row.split("`")[1] for row in rows if row not in expected} == {
        "hoq_life",
        "leaf_hoq_life",
        "vl_stall_count",
        "credit_block",
        "ack_every",
        "ack_timeout",
        "retry_count",
        "rnr_retry",
        "rnr_timer",
        *HEADROOM_PROFILES,
    }


@pytest.mark.parametrize("name", ETHERNET_SWITCH_MODELS)
def test_ethernet_switch_model_row_is_sound(name: str) -> None:
    model = ETHERNET_SWITCH_MODELS[name]
    assert model.name == name
    assert model.technology is Technology.ROCE
    assert check_ethernet_switch_model(model, mtu_bytes=4096) == []
    assert (model.data_vls, model.pause_quanta, model.watchdog) == (8, 65_535, None)


@pytest.mark.parametrize("name", ROCE_HCA_MODELS)
def test_roce_hca_model_row_is_sound(name: str) -> None:
    model = ROCE_HCA_MODELS[name]
    assert model.name == name
    assert model.technology is Technology.ROCE
    assert check_hca_model(model, mtu_bytes=4096) == []
    # XOFF and XON leave room for some frames at full rate.
    headroom = headroom_bytes(model.headroom_profile, model.rate_bps, 10 * MM_PER_M, 4096)
    assert model.receive_buffer_bytes - headroom - model.xon_offset_bytes > 4 * 4160


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"ports": 0}, "ports must be from 1"),
        ({"forwarding_latency_ps": -1}, "forwarding_latency_ps must be from 0"),
        ({"shared_buffer_bytes": 1 << 33}, "shared_buffer_bytes must be from 4160 to 4294967296"),
        ({"alpha_q16": 65 << 16}, "alpha must be above 0, at most 64, or infinite; got 65"),
        ({"egress_alpha_q16": -1}, "egress_alpha must be above 0, at most 64, or infinite"),
        ({"reserve_bytes": -1}, "reserve_bytes must be from 0"),
        ({"xon_offset_bytes": -1}, "xon_offset_bytes must be from 0"),
        ({"headroom_bytes": 0}, "headroom_bytes must be from 1 to the buffer's 113700000, got 0"),
        ({"headroom_bytes": 1 << 30}, "headroom_bytes must be from 1 to the buffer's 113700000"),
        ({"pause_quanta": 65_536}, "pause_quanta must be from 1 to 65535"),
        ({"response_ps": -1}, "response_ps must be from 0"),
        ({"data_vls": 4}, "data_vls must be from 8 to 8"),
        ({"ecn": EcnProfile(2, 1, 1)}, "ecn must have kmin <= kmax, got 2 and 1"),
        ({"ecn": EcnProfile(1, 2, 0)}, "ecn must have 0 < pmax <= 1, got 0"),
        ({"watchdog": PfcWatchdog(poll_ps=0)}, "watchdog must have poll above 0"),
    ],
)
def test_check_ethernet_switch_model_value_out_of_range_names_field_and_bounds(
    change: dict[str, Any], expected: str
) -> None:
    (problem,) = check_ethernet_switch_model(replace(SPECTRUM4, **change), mtu_bytes=4096)
    assert expected in problem


def test_switches_break_deadlocks_by_lifetime_or_watchdog() -> None:
    assert QUANTUM2.breaks_deadlocks
    assert replace(QUANTUM2, hoq_life_ps=None).breaks_deadlocks
    assert not replace(QUANTUM2, hoq_life_ps=None, leaf_hoq_life_ps=None).breaks_deadlocks
    assert not SPECTRUM4.breaks_deadlocks
    assert replace(SPECTRUM4, watchdog=PfcWatchdog()).breaks_deadlocks


def test_switch_lifetimes_are_those_of_opensm() -> None:
    assert QUANTUM2.hoq_life_ps == 4_096_000 * 2**18
    assert QUANTUM2.leaf_hoq_life_ps == 4_096_000 * 2**16
    assert QUANTUM2.vl_stall_count == 7


def test_connectx6_one_switch_latency_of_32_bytes_is_the_published_one() -> None:
    hca, switch = HCA_MODELS["connectx6"], SWITCH_MODELS["quantum_hdr"]
    cables_ps = 2 * 10 * MM_PER_M * PROPAGATION_PS_PER_MM
    wire_ps = (32 + 26) * femtoseconds_per_byte(hca.rate_bps) // 1000
    one_way_ps = hca.tx_latency_ps + switch.forwarding_latency_ps + cables_ps + wire_ps + hca.rx_latency_ps
    assert one_way_ps == pytest.approx(820 * PS_PER_NS, rel=0.01)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"ports": 255}, "ports must be from 1 to 254, got 255"),
        ({"rate_bps": 0}, "rate_bps must be from 1"),
        ({"forwarding_latency_ps": -1}, "forwarding_latency_ps must be from 0"),
        ({"fec_latency_ps": 2 * PS_PER_MS}, "fec_latency_ps must be from 0"),
        ({"fcp_min_gap_ps": -1}, "fcp_min_gap_ps must be from 0"),
        ({"data_vls": 16}, "data_vls must be from 1 to 15, got 16"),
        ({"vl_stall_count": 0}, "vl_stall_count must be from 1 to 7"),
        ({"hoq_life_ps": 0}, "hoq_life_ps must be from 1"),
        ({"leaf_hoq_life_ps": 0}, "leaf_hoq_life_ps must be from 1"),
        ({"vl15_buffer_bytes": 64}, "vl15_buffer_bytes must be from 290"),
        ({"credit_block_bytes": 100}, "credit_block_bytes must be a multiple of 64"),
        ({"buffer_per_vl_bytes": 0}, "buffer_per_vl_bytes must be from 4160"),
        ({"buffer_per_vl_bytes": 4100}, "buffer_per_vl_bytes must be from 4160"),
        ({"buffer_per_vl_bytes": 2049 * 64}, "to 131072, got 131136"),
        ({"buffer_per_vl_bytes": 5000}, "buffer_per_vl_bytes must be whole blocks of 64 B, got 5000"),
    ],
)
def test_check_switch_model_value_out_of_range_names_field_and_bounds(
    change: dict[str, Any], expected: str
) -> None:
    (problem,) = check_switch_model(replace(QUANTUM2, **change), mtu_bytes=4096)
    assert expected in problem


def test_check_switch_model_infinite_lifetime_is_sound() -> None:
    assert check_switch_model(replace(QUANTUM2, hoq_life_ps=None, leaf_hoq_life_ps=None)) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"ports": 0}, "ports must be from 1"),
        ({"rate_bps": 0}, "rate_bps must be from 1"),
        ({"tx_latency_ps": -1}, "tx_latency_ps must be from 0"),
        ({"rx_latency_ps": -1}, "rx_latency_ps must be from 0"),
        ({"fec_latency_ps": -1}, "fec_latency_ps must be from 0"),
        ({"drain_rate_bps": 0}, "drain_rate_bps must be from 1"),
        ({"ack_every": 0}, "ack_every must be from 1"),
        ({"ack_timeout_ps": 0}, "ack_timeout_ps must be from 1"),
        ({"retry_count": 8}, "retry_count must be from 0 to 7, got 8"),
        ({"rnr_retry": 8}, "rnr_retry must be from 0 to 7, got 8"),
        ({"rnr_timer_ps": 0}, "rnr_timer_ps must be from 1"),
        ({"receive_buffer_bytes": 64}, "receive_buffer_bytes must be from 320"),
        ({"vl15_buffer_bytes": 0}, "vl15_buffer_bytes must be from 290"),
    ],
)
def test_check_hca_model_value_out_of_range_names_field_and_bounds(
    change: dict[str, Any], expected: str
) -> None:
    (problem,) = check_hca_model(replace(CONNECTX7, **change))
    assert expected in problem


def test_check_models_report_every_problem_at_once() -> None:
    assert len(check_switch_model(replace(QUANTUM2, ports=0, rate_bps=0, data_vls=0))) == 3
    assert len(check_hca_model(replace(CONNECTX7, ports=0, rate_bps=0))) == 2


@pytest.mark.parametrize(
    ("speed", "width", "expected_bps"),
    [
        ("SDR", 1, 2_000_000_000),
        ("SDR", 12, 24_000_000_000),
        ("DDR", 4, 16_000_000_000),
        ("QDR", 4, 32_000_000_000),
        ("QDR", 8, 64_000_000_000),
        ("FDR10", 4, 40_000_000_000),
        ("FDR", 1, 13_636_363_636),
        ("FDR", 4, 54_545_454_545),
        ("EDR", 4, 100_000_000_000),
        ("HDR", 2, 100_000_000_000),
        ("HDR", 4, 200_000_000_000),
        ("NDR", 4, 400_000_000_000),
        ("XDR", 4, 800_000_000_000),
        ("XDR", 12, 2_400_000_000_000),
    ],
)
def test_link_rate_is_the_effective_rate_of_the_standard(speed: str, width: int, expected_bps: int) -> None:
    assert link_rate_bps(speed, width) == expected_bps
