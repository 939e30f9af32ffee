# SPDX-License-Identifier: Apache-2.0
"""Windows that a shard packs and unpacks by itself, against protobuf's own writing and reading."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fabrictwin.bus.v1.window_pb2 import RecordBatch, Window
from fabrictwin.engine import batches as engine_batches
from fabrictwin.engine.batches import BATCH_HEAD_BYTES
from fabrictwin.engine.partition import split_by_kind
from fabrictwin.engine.plan import make_plan
from fabrictwin.engine.shard import Shard
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.convert import HEAD_BYTES, WindowData, decode, encode, read_head
from fabrictwin.runtime.offline import describe_forwarding, route_scenario
from fabrictwin.runtime.records import BY_NAME

TEXT = """
version: 1
name: crossing
duration: 100us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
  link: {rate: 400Gb/s, length: 10m}
routing: {engine: ftree}
congestion_control: {algorithm: ib_cca, threshold: 15}
workload:
  - {kind: incast, name: in, senders: all, receiver: h0, message: 64KiB, count: forever}
"""
SWITCHES, CENTER = (0, 1), 4
STEPS = 600


def _shards() -> list[Shard]:
    scenario = parse_scenario(TEXT, file="crossing.yaml")
    plan = make_plan(scenario, describe_forwarding(scenario, route_scenario(scenario)))
    partition = split_by_kind(scenario.fabric, 2, 2)
    return [Shard(plan, partition, number) for number in range(len(partition.names))]


def _exchange(
    shards: list[Shard], say: Callable[[Shard], dict[int, WindowData]]
) -> list[dict[str, np.ndarray]]:
    """Steps all shards, as windows of bytes; returns what has crossed, in order."""
    crossed = []
    for sequence in range(1, STEPS):
        for shard in shards:
            shard.advance(1 << 40)
            for other, window in say(shard).items():
                payload = encode(window, sequence)
                decoded = decode(payload)
                crossed.append(dict(decoded.records))
                head = read_head(payload)
                assert head is not None
                assert head.sequence == sequence == decoded.sequence
                assert shards[other].unpack(payload, HEAD_BYTES) == decoded.weight
                shards[other].trust(
                    shard.number,
                    head.reached_ps,
                    head.packets_promise_ps,
                    head.fcps_promise_ps,
                    head.calm_promise_ps,
                )
    return crossed


def _packed(shard: Shard) -> dict[int, WindowData]:
    shard.collect()
    said = {}
    for other in shard.outgoing:
        promise = shard.repeat(other)
        said[other] = WindowData(
            promise.packets_ps,
            promise.fcps_ps,
            promise.reached_ps,
            calm_promise_ps=promise.calm_ps,
            packed=shard.pack(other, HEAD_BYTES),
        )
    return said


def _through_protobuf(shard: Shard) -> dict[int, WindowData]:
    return {
        other: WindowData(
            window.packets_ps,
            window.fcps_ps,
            window.reached_ps,
            {"packet": window.packets, "fcp": window.fcps, "reaction": window.reactions},
            calm_promise_ps=window.calm_ps,
        )
        for other, window in shard.speak().items()
    }


def test_packed_windows_hold_what_protobuf_would_write() -> None:
    packed, plain = _exchange(_shards(), _packed), _exchange(_shards(), _through_protobuf)
    assert {name for records in plain for name in records} == {"packet", "fcp", "reaction"}
    assert len(packed) == len(plain)
    for one, other in zip(packed, plain, strict=True):
        assert one.keys() == other.keys()
        assert all((one[name] == other[name]).all() for name in one)


def test_kinds_and_layouts_are_those_of_the_bus() -> None:
    for name in ("packet", "fcp", "reaction"):
        ours = [getattr(engine_batches, f"{name.upper()}_{what}") for what in ("KIND", "LAYOUT")]
        assert [BY_NAME[name].kind, BY_NAME[name].version] == ours


FCPS = np.zeros(2, BY_NAME["fcp"].dtype).tobytes()


@pytest.mark.parametrize(
    "batches",
    [
        Window(batches=[RecordBatch(kind=3, layout=1, count=1, records=bytes(28))]).SerializeToString(),
        Window(batches=[RecordBatch(kind=2, layout=2, count=2, records=FCPS)]).SerializeToString(),
        Window(batches=[RecordBatch(kind=2, layout=1, count=3, records=FCPS)]).SerializeToString(),
        Window(batches=[RecordBatch(kind=2, layout=1, count=2, records=FCPS)]).SerializeToString()[:-1],
        Window(heard_sequence=1).SerializeToString(),
        b"\x2a",
        b"\x2a\xff\xff\xff\xff\xff",
        bytes(BATCH_HEAD_BYTES),
    ],
)
def test_batches_that_are_odd_are_left_to_others(batches: bytes) -> None:
    shard = _shards()[0]
    before = shard.state.g.copy()
    assert shard.unpack(bytes(HEAD_BYTES) + batches, HEAD_BYTES) < 0
    assert (shard.state.g == before).all()
