# SPDX-License-Identifier: Apache-2.0
"""What travels on the bus: layouts are little-endian, never change, and are those of the engine's arrays."""

from __future__ import annotations

import hashlib

import pytest

from fabrictwin.bus.v1.window_pb2 import RecordKind
from fabrictwin.engine.state import CC_OUT, FCP_OUT, PACKET
from fabrictwin.model.controller import LFT_WRITE, NOTICE, PEER_MESSAGE, ROUTE_WRITE
from fabrictwin.runtime.records import BY_NAME, COMMAND, LAYOUTS, Layout

RECORDS = [layout for layout in LAYOUTS if layout is not COMMAND]

FINGERPRINTS: dict[tuple[str, int], str] = {
    ("packet", 1): "be320d881e62",
    ("packet", 2): "039ce7def4d5",
    ("fcp", 1): "e6b006fa9800",
    ("notice", 1): "a78400c417f1",
    ("lft_write", 1): "4d87a0ff8fc8",
    ("sm_message", 1): "c54fe2568143",
    ("reaction", 1): "69fafba6713c",
    ("report", 1): "9ad31f1a9105",
    ("route_write", 1): "f284c2beda01",
}
"""Of every version of every layout that was ever released: a changed layout needs a new version."""


def _fingerprint(layout: Layout) -> str:
    places = [(name, str(kind), at) for name, (kind, at, *_) in (layout.dtype.fields or {}).items()]
    text = repr((layout.dtype.itemsize, sorted(places)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def test_packets_fcps_and_reactions_travel_as_the_engine_holds_them() -> None:
    assert BY_NAME["packet"].dtype == PACKET
    assert BY_NAME["fcp"].dtype == FCP_OUT
    assert BY_NAME["reaction"].dtype == CC_OUT


def test_what_controllers_say_travels_as_they_pack_it() -> None:
    assert BY_NAME["notice"].dtype == NOTICE
    assert BY_NAME["lft_write"].dtype == LFT_WRITE
    assert BY_NAME["route_write"].dtype == ROUTE_WRITE
    assert BY_NAME["sm_message"].dtype == PEER_MESSAGE


@pytest.mark.parametrize("layout", RECORDS, ids=lambda layout: layout.name)
def test_layout_has_not_changed_without_a_new_version(layout: Layout) -> None:
    assert FINGERPRINTS.get((layout.name, layout.version)) == _fingerprint(layout)


@pytest.mark.parametrize("layout", RECORDS, ids=lambda layout: layout.name)
def test_layout_is_little_endian_and_explained(layout: Layout) -> None:
    assert all(field.type[0] in "<|" for field in layout.fields)
    assert all(field.meaning for field in layout.fields)
    assert all(field.unit == "ps" for field in layout.fields if field.name.endswith("_ps"))


def test_every_kind_of_the_proto_has_a_layout() -> None:
    kinds = {name.removeprefix("RECORD_KIND_").lower(): number for name, number in RecordKind.items()}
    del kinds["unspecified"]
    assert {layout.name: layout.kind for layout in LAYOUTS} == kinds
