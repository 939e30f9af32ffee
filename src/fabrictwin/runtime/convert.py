# SPDX-License-Identifier: Apache-2.0
"""Windows as Python holds them, to and from ``fabrictwin.bus.v1.Window``."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from fabrictwin.bus.v1.window_pb2 import RecordBatch, Window
from fabrictwin.model.controller import NEVER_PS
from fabrictwin.runtime.bus.errors import BadPayloadError
from fabrictwin.runtime.records import BY_KIND, BY_NAME, COMMAND, Layout

Array = np.ndarray[Any, np.dtype[Any]]

_TAGS = (0x09, 0x11, 0x19, 0x21, 0x31, 0x39)
"""Fields 1, 2, 3, 4, 6 and 7 of a message, each fixed 64 bits."""
_HEAD = struct.Struct("<" + len(_TAGS) * "BQ")
HEAD_BYTES = _HEAD.size
"""Bytes of a Window in front of its batches."""
_NO_RECORDS: Mapping[str, Array] = {}


@dataclass(slots=True)
class WindowData:
    """What one logical process says to another in one step.

    Attributes:
        packets_promise_ps: Nothing said later, FCPs apart, has an effect before this fabric time.
        fcps_promise_ps: No FCP said later arrives before this fabric time.
        reached_ps: Fabric time that the sender has reached.
        records: Records by the name of their kind, with the layout's dtype; kinds without any are absent.
        commands: Lines of the command log, to the director of the event log; without line feeds.
        sequence: Number of the Window on its channel, from 1.
        calm_promise_ps: No FCP that does more than advertise credits is said before this fabric time.
        heard: Number of the last Window that the sender had heard on the channel back; 0: none.
        packed: Records as they travel, behind :data:`HEAD_BYTES` that are free; None: in ``records``.
    """

    packets_promise_ps: int
    fcps_promise_ps: int
    reached_ps: int
    records: Mapping[str, Array] = field(default_factory=dict)
    commands: Sequence[bytes] = ()
    sequence: int = 0
    calm_promise_ps: int = NEVER_PS
    heard: int = 0
    packed: Array | None = None

    @property
    def weight(self) -> int:
        """Records in it."""
        return sum(map(len, self.records.values()))


def encode(window: WindowData, sequence: int) -> bytes:
    """The bytes of a Window; empty batches are left out.

    Args:
        window: What to say. The arrays must have the dtypes of their layouts.
        sequence: Its number on the channel, from 1.
    """
    if window.packed is not None:
        _write_head(window.packed.data, window, sequence)
        return window.packed.tobytes()
    head = bytearray(HEAD_BYTES)
    _write_head(head, window, sequence)
    message = Window()
    for name, records in window.records.items():
        count = len(records)
        if count:
            layout = BY_NAME[name]
            message.batches.add(
                kind=layout.kind, layout=layout.version, count=count, records=records.tobytes()
            )
    if window.commands:
        lines = b"".join(line + b"\n" for line in window.commands)
        count = len(window.commands)
        message.batches.add(kind=COMMAND.kind, layout=COMMAND.version, count=count, records=lines)
    # Two messages, one behind the other, are one that has the fields of both.
    return bytes(head) + message.SerializeToString()


def _write_head(buffer: bytearray | memoryview, window: WindowData, sequence: int) -> None:
    one, two, three, four, six, seven = _TAGS
    promises = (two, window.packets_promise_ps, three, window.fcps_promise_ps, four, window.reached_ps)
    more = (six, window.calm_promise_ps, seven, window.heard)
    _HEAD.pack_into(buffer, 0, one, sequence, *promises, *more)


def read_head(payload: bytes) -> WindowData | None:
    """A Window without its batches, which begin at :data:`HEAD_BYTES`; None: it is not how we write one."""
    if len(payload) < HEAD_BYTES:
        return None
    read = _HEAD.unpack_from(payload)
    if read[::2] != _TAGS:
        return None
    _, sequence, _, packets_ps, _, fcps_ps, _, reached_ps, _, calm_ps, _, heard = read
    return WindowData(packets_ps, fcps_ps, reached_ps, _NO_RECORDS, (), sequence, calm_ps, heard)


def decode(payload: bytes) -> WindowData:
    """The Window that some bytes hold; its arrays are copies that may be written.

    Raises:
        BadPayloadError: They are no Window, or their records have a layout of another version.
    """
    try:
        message = Window.FromString(payload)
    except DecodeError as error:
        raise BadPayloadError(
            f"an entry of {len(payload)} bytes is not a fabrictwin.bus.v1.Window"
        ) from error
    records: dict[str, Array] = {}
    commands: Sequence[bytes] = ()
    for batch in message.batches:
        packed = batch.records
        layout = _layout_of(batch, packed)
        if layout is COMMAND:
            commands = packed.splitlines()
        else:
            # Compiled code takes in an array that may be written, and of numpy's own class, fastest.
            records[layout.name] = np.frombuffer(bytearray(packed), layout.dtype)
    return WindowData(
        message.packets_promise_ps,
        message.fcps_promise_ps,
        message.reached_ps,
        records,
        commands,
        message.sequence,
        message.calm_promise_ps,
        message.heard_sequence,
    )


def _layout_of(batch: RecordBatch, packed: bytes) -> Layout:
    """The layout of a batch, whose size agrees with it."""
    layout = BY_KIND.get(batch.kind)
    if layout is None:
        raise BadPayloadError(f"records of kind {batch.kind} are unknown here; known: {', '.join(BY_NAME)}")
    if batch.layout != layout.version:
        raise BadPayloadError(
            f"{layout.name} records have layout version {batch.layout}, this version of FabricTwin reads "
            f"{layout.version}: run all services in the same version"
        )
    is_full = (
        packed.count(b"\n") == batch.count if layout is COMMAND else len(packed) == batch.count * layout.size
    )
    if not is_full:
        raise BadPayloadError(f"{batch.count} {layout.name} records do not fill {len(packed)} bytes")
    return layout
