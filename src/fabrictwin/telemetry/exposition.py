# SPDX-License-Identifier: Apache-2.0
"""Prometheus' text format for families of many series, written by compiled code that leaves the GIL alone.

prometheus_client makes a Python object a series, which at 10,000 ports of 40 metrics takes seconds and stalls
the thread that steps the fabric. Here the labels are bytes that never change, and a scrape writes
name, labels and number one behind another into one buffer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.jit import kernel
from fabrictwin.telemetry.metric import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MOST_NUMBER_BYTES = 24
"""A space, a sign, 19 digits, a point, a line feed."""
_ZERO, _SPACE, _POINT, _MINUS, _NEWLINE = 48, 32, 46, 45, 10


class LabelTexts(NamedTuple):
    """The label parts of some series, one behind another.

    Attributes:
        text: uint8.
        ends: [series] where each ends.
    """

    text: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, labels: list[str]) -> LabelTexts:
        """From the label part of each series."""
        encoded = [label.encode() for label in labels]
        ends = np.cumsum([len(label) for label in encoded], dtype=np.int64)
        return cls(_bytes(b"".join(encoded)), ends)


def _bytes(text: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(text), np.uint8)


def head(metric: Metric) -> bytes:
    """The lines that say what a metric is."""
    text = metric.help.replace("\\", "\\\\").replace("\n", "\\n")
    return f"# HELP {metric.name} {text}\n# TYPE {metric.name} {metric.kind}\n".encode()


def series(metric: Metric, labels: LabelTexts, values: np.ndarray) -> bytes:
    """One line for each series.

    Args:
        metric: Its name and the digits behind the point.
        labels: [series].
        values: [series] integers, in 10^-digits of the unit.
    """
    if len(values) != len(labels.ends):
        raise ValueError(f"{metric.name}: {len(values)} values for {len(labels.ends)} series")
    name = _bytes(metric.name.encode())
    out = np.empty(len(labels.text) + len(values) * (len(name) + _MOST_NUMBER_BYTES), np.uint8)
    numbers = np.ascontiguousarray(values, np.int64)
    size = _write_lines(name, labels, numbers, metric.digits, out)
    return out[:size].tobytes()


@kernel
def _write_lines(
    name: np.ndarray, labels: LabelTexts, values: np.ndarray, digits: int, out: np.ndarray
) -> int:
    at = 0
    begin = 0
    for row in range(len(values)):
        for i in range(len(name)):
            out[at + i] = name[i]
        at += len(name)
        length = labels.ends[row] - begin
        for i in range(length):
            out[at + i] = labels.text[begin + i]
        at += length
        begin += length
        out[at] = _SPACE
        at = _write_number(values[row], digits, out, at + 1)
        out[at] = _NEWLINE
        at += 1
    return at


@kernel
def _write_number(value: int, digits: int, out: np.ndarray, at: int) -> int:
    """Writes value / 10^digits as a decimal; returns where it ends."""
    if value < 0:
        out[at] = _MINUS
        at += 1
        value = -value
    count = 1
    rest = value // 10
    while rest > 0:
        count += 1
        rest //= 10
    if digits > 0 and value > 0:
        count = max(count, digits + 1) + 1
    point = at + count - 1 - digits if digits > 0 and value > 0 else -1
    for i in range(at + count - 1, at - 1, -1):
        if i == point:
            out[i] = _POINT
        else:
            out[i] = _ZERO + value % 10
            value //= 10
    return at + count
