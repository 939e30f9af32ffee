# SPDX-License-Identifier: Apache-2.0
"""Checkpoints to fields and back, and which ones are refused."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import NOTICE, Notice, pack_records
from fabrictwin.runtime.blueprint import draw_blueprint
from fabrictwin.runtime.bus import Cursor
from fabrictwin.runtime.bus.twin import Identity
from fabrictwin.runtime.checkpoint import (
    Checkpoint,
    CheckpointError,
    Snapshot,
    pack_checkpoint,
    unpack_checkpoint,
)
from fabrictwin.runtime.convert import WindowData, encode
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.runtime.shard_process import ShardProcess
from fabrictwin.runtime.sm_process import SmProcess
from fabrictwin.units import PS_PER_US

IDENTITY = Identity("fabrictwin.bus/1", "0.1.0", "abc", "e1")
TEXT = """
version: 1
name: kept
duration: 1ms
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 1, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
subnet_manager: {managers: [{node: h0, priority: 3}, {node: h1}]}
workload:
  - {kind: stream, name: one, src: h0, dst: h1, message: 4KiB, count: forever}
"""
COMMAND = {
    "at_ns": 5000,
    "do": "fault.inject",
    "id": "cut",
    "fault": {"kind": "link_down", "duration": "9us"},
}


def _checkpoint() -> Checkpoint:
    arrays = {"log": np.zeros(0, NOTICE), "notices": pack_records([Notice(5, 1, 2, 3, 4)], NOTICE)}
    snapshot = Snapshot({"spoken_ps": 7}, arrays)
    return Checkpoint(7_000, 9_000, {"director": Cursor(3, 9, 1)}, snapshot)


def _fields() -> dict[str, Any]:
    return pack_checkpoint("sm0", _checkpoint(), IDENTITY)


def test_checkpoint_comes_back() -> None:
    made, back = _checkpoint(), unpack_checkpoint("sm0", _fields(), IDENTITY)
    assert (back.reached_ps, back.granted_ps, back.cursors) == (7_000, 9_000, made.cursors)
    assert back.snapshot.plain == made.snapshot.plain
    for name, array in made.snapshot.arrays.items():
        assert back.snapshot.arrays[name].dtype == array.dtype
        assert (back.snapshot.arrays[name] == array).all()


@pytest.mark.parametrize(
    ("process", "change", "named"),
    [
        ("sm1", {}, "process"),
        ("sm0", {"scenario_sha256": "def"}, "scenario_sha256"),
        ("sm0", {"version": "0.2.0"}, "version"),
        ("sm0", {"epoch": "e2"}, "epoch"),
    ],
)
def test_checkpoint_of_something_else_is_refused(process: str, change: dict[str, str], named: str) -> None:
    with pytest.raises(CheckpointError, match=named):
        unpack_checkpoint(process, _fields(), IDENTITY._replace(**change))


@pytest.mark.parametrize("name", ["schema", "layout_sha256"])
def test_checkpoint_of_another_layout_is_refused(name: str) -> None:
    fields = _fields()
    head = json.dumps(json.loads(fields["head"][8:]) | {name: "other"}).encode()
    with pytest.raises(CheckpointError, match=name):
        unpack_checkpoint("sm0", fields | {"head": b"%08x%s" % (zlib.crc32(head), head)}, IDENTITY)


@pytest.mark.parametrize("field", ["head", "notices"])
def test_checkpoint_with_a_bit_that_has_fallen_over_is_refused(field: str) -> None:
    fields = _fields()
    damaged = bytearray(fields[field])
    damaged[len(damaged) // 2] ^= 4
    with pytest.raises(CheckpointError, match="damaged"):
        unpack_checkpoint("sm0", fields | {field: bytes(damaged)}, IDENTITY)


def test_checkpoint_without_an_array_is_refused() -> None:
    fields = _fields()
    del fields["notices"]
    with pytest.raises(CheckpointError, match="notices"):
        unpack_checkpoint("sm0", fields, IDENTITY)


def _through_redis(process: ShardProcess | SmProcess) -> Snapshot:
    checkpoint = Checkpoint(process.reached_ps, 0, {}, process.save())
    fields = pack_checkpoint(process.name, checkpoint, IDENTITY)
    return unpack_checkpoint(process.name, fields, IDENTITY).snapshot


def test_shard_with_a_command_is_taken_up_with_the_changed_scenario() -> None:
    blueprint = draw_blueprint(ScenarioSource(TEXT, "kept.yaml", {}))
    process = ShardProcess(blueprint, "switch0")
    link = blueprint.scenario.fabric.links[-1]
    nodes = blueprint.scenario.fabric.nodes
    ends = [f"{nodes[end.node].name}/{end.port}" for end in (link.a, link.b)]
    process.apply(COMMAND | {"fault": {"kind": "link_down", "link": ends, "duration": "9us"}})
    again = ShardProcess(blueprint, "switch0")
    again.load(_through_redis(process))
    assert again.plan.scenario.faults == process.plan.scenario.faults != ()
    assert (again.state.action == process.state.action).all()
    assert str(again.speak(0)) == str(process.speak(0)) != "{}"


def test_subnet_manager_that_hears_everything_again_says_the_same_from_then_on() -> None:
    blueprint = draw_blueprint(ScenarioSource(TEXT, "kept.yaml", {}))
    link = blueprint.scenario.fabric.links[-1]
    process = SmProcess(blueprint, "sm0")

    def tell(who: SmProcess, to_ps: int, *notices: Notice) -> Any:
        records = {"notice": pack_records(notices, NOTICE)} if notices else {}
        who.hear("switch0", encode(WindowData(to_ps, to_ps, to_ps, records), 1))
        who.hear("sm1", encode(WindowData(to_ps, to_ps, to_ps), 1))
        who.advance(to_ps)
        said = who.speak(to_ps)
        return {to: window.records for to, window in said.items()}, who.take_events()

    down = Notice(50 * PS_PER_US, link.a.node, link.a.port, ActionKind.LINK_STATE, 0)
    tell(process, 100 * PS_PER_US, down)
    # Now a sweep is under way; the blocks follow.
    again = SmProcess(blueprint, "sm0")
    again.load(_through_redis(process))
    assert (again.counts, again.writes) == (process.counts, process.writes)
    for to_us in (200, 400, 900, 2000):
        said, events = tell(process, to_us * PS_PER_US)
        said_again, events_again = tell(again, to_us * PS_PER_US)
        assert events_again == events
        assert str(said_again) == str(said)
    assert process.writes > 0
    assert again.manager.info == process.manager.info


def test_head_is_what_a_later_version_can_read_first() -> None:
    changed = replace(_checkpoint(), granted_ps=10_000)
    head = json.loads(pack_checkpoint("sm0", changed, IDENTITY)["head"][8:])
    assert head["schema"] == "fabrictwin.checkpoint/1"
    assert head["granted_ps"] == 10_000
