# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.qos import Qos
from fabrictwin.model.scenario import parse_scenario
from unit.model.roce_scenarios import parse_roce


def _qos(keys: str = "", switch: str = "quantum2") -> Qos:
    qos = f"qos: {{{keys}}}\n" if keys else ""
    return parse_scenario(
        "version: 1\nname: t\n"
        f"fabric: {{topology: {{generator: single_switch, hosts: 2}}, switch_model: {switch}}}\n{qos}"
    ).qos


def _refused(keys: str) -> str:
    with pytest.raises(InputError) as caught:
        _qos(keys)
    return str(caught.value)


def test_qos_that_is_left_out_shares_every_vl_of_the_switch_fairly() -> None:
    qos = _qos()
    assert qos.data_vls == 8
    assert qos.sl2vl == (*range(8), *range(8))
    assert qos.vlarb_high == ()
    assert qos.vlarb_low == tuple((vl, 64) for vl in range(8))
    assert qos.vl_high_limit == 0


def test_qos_of_one_vl_takes_every_sl_there() -> None:
    qos = _qos("data_vls: 1")
    assert qos.sl2vl == (0,) * 16
    assert qos.vlarb_low == ((0, 64),)


def test_qos_has_the_vls_of_the_switch_model() -> None:
    assert _qos(switch="{base: quantum2, data_vls: 4}").data_vls == 4


def test_qos_tables_are_taken_as_written() -> None:
    qos = _qos(
        "data_vls: 4, vlarb_high: [[3, 255]], vlarb_low: [[0, 1], [1, 20], [2, 40]], vl_high_limit: 255"
    )
    assert qos.vlarb_high == ((3, 255),)
    assert qos.vlarb_low == ((0, 1), (1, 20), (2, 40))
    assert qos.vl_high_limit == 255


def test_qos_sl2vl_as_a_list_or_a_mapping_is_the_same() -> None:
    listed = _qos("data_vls: 2, sl2vl: [0, 1, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]")
    assert listed.sl2vl == _qos("data_vls: 2, sl2vl: {1: 1, 4: 15}").sl2vl


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("data_vls: 15", "qos.data_vls: the switch model has 8 data VLs, got 15"),
        ("data_vls: true", "qos.data_vls: expected one of 1, 2, 4, 8, 15, got true"),
        ("sl2vl: {16: 0}", "an SL is a number from 0 to 15"),
        ("sl2vl: {x: 0}", "an SL is a number from 0 to 15"),
        ("sl2vl: {0: 16}", "a VL is a number from 0 to 15"),
        ("sl2vl: 3", "expected a list of 16 VLs, or a mapping of SL to VL such as {0: 0, 1: 1}, got 3"),
        ("data_vls: 2, sl2vl: {3: 4}", "qos.sl2vl: SL 3 goes to VL 4, but the data VLs are 0 to 1"),
        (
            "data_vls: 2, vlarb_low: [[1, 64]]",
            "qos.sl2vl: SL 0 goes to VL 0, which no arbitration table serves",
        ),
        ("data_vls: 2, vlarb_low: [[0, 64], [1, 0]]", "SL 1 goes to VL 1, which no arbitration table serves"),
        ("vlarb_high: [[0, 256]]", "qos.vlarb_high: expected a list of [VL, weight] such as"),
        ("vlarb_high: [[0]]", "qos.vlarb_high: expected a list of [VL, weight] such as"),
        ("vlarb_high: {0: 1}", "with up to 64 entries, got a mapping"),
        ("vl_high_limit: 256", "qos.vl_high_limit: expected at most 255, got 256"),
        (
            "lossless_priorities: [3]",
            "qos.lossless_priorities: 'lossless_priorities' belongs to technology 'roce'",
        ),
        ("sl2v: {0: 0}", "qos.sl2v: unknown key 'sl2v'; did you mean 'sl2vl'?"),
    ],
)
def test_qos_that_is_wrong_is_refused(keys: str, expected: str) -> None:
    assert expected in _refused(keys)


def test_qos_table_of_more_than_64_entries_is_refused() -> None:
    entries = ", ".join(["[0, 1]"] * 65)
    assert "with up to 64 entries" in _refused(f"vlarb_low: [{entries}]")


def test_roce_qos_that_is_left_out_has_one_lossless_and_one_strict_priority() -> None:
    qos = parse_roce("").qos
    assert qos.data_vls == 8
    assert qos.sl2vl == (*range(8), *[15] * 8)
    assert qos.lossless == {3}
    assert qos.default_sl == 3
    assert qos.vlarb_high == ((6, 255),)
    assert qos.vl_high_limit == 255
    assert qos.vlarb_low == tuple((priority, 64) for priority in (0, 1, 2, 3, 4, 5, 7))


def test_roce_qos_is_taken_as_written_strict_priorities_from_the_highest() -> None:
    qos = parse_roce("qos: {lossless_priorities: [4, 3], strict: [5, 7], weights: {3: 128, 0: 1}}\n").qos
    assert (qos.lossless, qos.default_sl) == ({3, 4}, 3)
    assert qos.vlarb_high == ((7, 255), (5, 255))
    assert qos.vlarb_low == ((0, 1), (1, 64), (2, 64), (3, 128), (4, 64), (6, 64))


def test_roce_qos_may_have_nothing_lossless_and_nothing_strict() -> None:
    qos = parse_roce("qos: {lossless_priorities: [], strict: []}\n").qos
    assert (qos.lossless, qos.default_sl, qos.vlarb_high) == (frozenset(), 0, ())
    assert len(qos.vlarb_low) == 8


def test_infiniband_qos_has_nothing_lossless() -> None:
    assert (_qos().lossless, _qos().default_sl) == (frozenset(), 0)
