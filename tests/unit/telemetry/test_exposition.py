# SPDX-License-Identifier: Apache-2.0
"""The writer of Prometheus' text format."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from fabrictwin.telemetry.exposition import LabelTexts, head, series
from fabrictwin.telemetry.metric import Metric, Rows, Service


def _metric(source: str = "bytes", unit: str = "bytes") -> Metric:
    return Metric("m_total", unit, source, "Says \\ and\nmore.", Rows.PORT, (Service.SWITCH_NODE,))


def _seconds() -> Metric:
    return _metric("waited_ps", "seconds of fabric time")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7, "0.000000000007"),
        (10**12, "1.000000000000"),
        (123 * 10**11, "12.300000000000"),
        (-5, "-0.000000000005"),
    ],
)
def test_series_of_picoseconds_are_written_as_seconds(value: int, text: str) -> None:
    assert series(_seconds(), LabelTexts.of([""]), np.array([value])) == f"m_total {text}\n".encode()


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20))
def test_series_of_integers_are_written_exactly(values: list[int]) -> None:
    labels = LabelTexts.of([f'{{port="{index}"}}' for index in range(len(values))])
    lines = series(_metric(), labels, np.array(values)).decode().splitlines()
    assert lines == [f'm_total{{port="{index}"}} {value}' for index, value in enumerate(values)]


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_series_of_picoseconds_lose_no_digit(value: int) -> None:
    line = series(_seconds(), LabelTexts.of([""]), np.array([value])).decode()
    assert Decimal(line.split()[1]) == Decimal(value).scaleb(-12)


def test_series_are_read_by_a_parser_as_they_were_written() -> None:
    labels = LabelTexts.of(['{guid="0x1",port="1"}', '{guid="0x1",port="12"}'])
    page = head(_metric()) + series(_metric(), labels, np.array([5, 2**60]))
    (family,) = text_string_to_metric_families(page.decode())
    assert (family.type, family.documentation) == ("counter", "Says \\ and\nmore.")
    assert [(sample.labels, sample.value) for sample in family.samples] == [
        ({"guid": "0x1", "port": "1"}, 5.0),
        ({"guid": "0x1", "port": "12"}, float(2**60)),
    ]


def test_series_without_a_value_for_each_label_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values for 1 series"):
        series(_metric(), LabelTexts.of([""]), np.array([1, 2]))
