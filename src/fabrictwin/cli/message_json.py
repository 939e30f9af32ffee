# SPDX-License-Identifier: Apache-2.0
"""Messages of the API as plain values, for ``--json``."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message


def as_plain(message: Message) -> dict[str, Any]:
    """Every field of a message under its name.

    Protobuf's own JSON writes 64-bit numbers as text and leaves out what is 0. Values of an enum become the
    last word of their names in small letters.
    """
    return {field.name: _field(field, getattr(message, field.name)) for field in message.DESCRIPTOR.fields}


def _field(field: Any, value: Any) -> Any:
    if field.is_repeated:
        return [_value(field, item) for item in value]
    return _value(field, value)


def _value(field: Any, value: Any) -> Any:
    if isinstance(value, Message):
        return as_plain(value)
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name).rpartition("_")[2].lower()
    return value
