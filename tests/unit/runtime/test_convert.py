# SPDX-License-Identifier: Apache-2.0
"""Windows to bytes and back, and record layouts against the engine's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrictwin.bus.v1.window_pb2 import RecordBatch, RecordKind, Window
from fabrictwin.runtime.bus.errors import BadPayloadError
from fabrictwin.runtime.bus.interface import sequence_of
from fabrictwin.runtime.convert import HEAD_BYTES, Array, WindowData, decode, encode, read_head
from fabrictwin.runtime.records import COMMAND, LAYOUTS, Layout

RECORDS = [layout for layout in LAYOUTS if layout is not COMMAND]


def _filled(layout: Layout, count: int) -> Array:
    records = np.zeros(count, layout.dtype)
    for number, field in enumerate(layout.fields):
        kind = layout.dtype[field.name]
        records[field.name] = bytes([number]) * kind.itemsize if kind.kind == "V" else number + 1
    return records


def test_encode_with_every_kind_comes_back() -> None:
    records = {layout.name: _filled(layout, 3) for layout in RECORDS}
    commands = [b'{"do": "fault.clear"}', b"{}"]
    never_ps = (1 << 62) - 1
    back = decode(encode(WindowData(5000, never_ps, 4000, records, commands), 7))
    assert (back.sequence, back.packets_promise_ps, back.fcps_promise_ps) == (7, 5000, never_ps)
    assert back.reached_ps == 4000
    assert back.commands == commands
    assert back.records.keys() == records.keys()
    for name, expected in records.items():
        assert (back.records[name] == expected).all()
        assert back.records[name].flags.writeable


def test_encode_without_records_is_short() -> None:
    empty = {"packet": np.zeros(0, RECORDS[0].dtype)}
    assert decode(encode(WindowData(1, 2, 0, empty), 1)).records == {}
    assert len(encode(WindowData(1, 2, 0, empty), 1)) == HEAD_BYTES


@given(st.integers(1, 2**63))
def test_sequence_of_a_window_needs_no_decoding(sequence: int) -> None:
    assert sequence_of(encode(WindowData(1, 2, 3), sequence)) == sequence


@given(st.binary(max_size=64))
def test_decode_of_any_bytes_is_a_window_or_an_error(payload: bytes) -> None:
    try:
        decode(payload)
    except BadPayloadError:
        return
    Window.FromString(payload)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (RecordBatch(kind=RecordKind.RECORD_KIND_FCP, layout=9), "layout version 9"),
        (RecordBatch(kind=RecordKind.RECORD_KIND_FCP, layout=1, count=1, records=b"x" * 23), "do not fill"),
        (RecordBatch(kind=RecordKind.RECORD_KIND_COMMAND, layout=1, count=2, records=b"{}\n"), "do not fill"),
        (RecordBatch(kind=99, layout=1), "kind 99 are unknown"),  # type: ignore[arg-type]
    ],
)
def test_decode_of_a_batch_that_is_wrong_says_what(batch: RecordBatch, message: str) -> None:
    with pytest.raises(BadPayloadError, match=message):
        decode(Window(sequence=1, batches=[batch]).SerializeToString())


@given(*[st.integers(0, 2**62 - 1)] * 6)
def test_head_of_a_window_is_read_without_the_rest(
    sequence: int, packets_ps: int, fcps_ps: int, reached_ps: int, calm_ps: int, heard: int
) -> None:
    window = WindowData(packets_ps, fcps_ps, reached_ps, {}, [b"{}"], sequence, calm_ps, heard)
    head = read_head(encode(window, sequence))
    assert head == decode(encode(replace(window, commands=()), sequence))


def test_head_of_another_order_is_left_to_protobuf() -> None:
    payload = Window(heard_sequence=3, batches=[RecordBatch(kind=RecordKind.RECORD_KIND_FCP)])
    assert read_head(payload.SerializeToString().ljust(HEAD_BYTES, b"\0")) is None
    assert read_head(b"") is None
