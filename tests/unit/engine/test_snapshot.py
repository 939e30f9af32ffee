# SPDX-License-Identifier: Apache-2.0
"""A shard that is put aside and taken up again goes on as if nothing had happened."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrictwin.engine.group import ShardGroup
from fabrictwin.engine.partition import Partition, split_by_kind
from fabrictwin.engine.plan import Plan, make_plan
from fabrictwin.engine.readout import Readout
from fabrictwin.engine.result import describe_ports, describe_run
from fabrictwin.engine.shard import Shard
from fabrictwin.engine.snapshot import SnapshotError, load_arrays, save_arrays
from fabrictwin.engine.state import ARRAYS
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import describe_forwarding, route_scenario
from fabrictwin.units import PS_PER_US

TEXT = """
version: 1
name: interrupted
duration: 60us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
routing: {engine: ftree}
congestion_control: {algorithm: ib_cca}
workload:
  - {kind: incast, name: pull, senders: [h1, h2, h3], receiver: h0, message: 16KiB, count: forever}
faults:
  - {kind: link_down, link: [leaf1/3, spine0/2], at: 20us, duration: 9us}
  - {kind: symbol_errors, link: [h2/1, leaf1/1], at: 12us, duration: 20us, probability: 0.02}
"""
END_PS = 60 * PS_PER_US
_instants_ps = st.integers(1, END_PS - 1)


@cache
def _parts() -> tuple[Plan, Partition]:
    scenario = parse_scenario(TEXT)
    plan = make_plan(scenario, describe_forwarding(scenario, route_scenario(scenario)))
    return plan, split_by_kind(scenario.fabric, 2, 1)


def _result(*cuts_ps: int, replacing: bool) -> dict[str, Any]:
    """The result of a run that pauses at some fabric times, and may replace all shards there."""
    plan, partition = _parts()
    group = ShardGroup(plan, partition)
    for cut_ps in sorted(cuts_ps):
        group.advance(cut_ps)
        for number, old in enumerate(group.shards if replacing else ()):
            plain, arrays = old.save()
            new = Shard(plan, partition, number)
            new.load(plan, json.loads(json.dumps(plain)), arrays)
            group.shards[number] = new
            for array in arrays.values():
                array.view("u1")[:] = 0xFF
    group.advance(END_PS)
    group.settle()
    readout = Readout(plan, group)
    return describe_run(readout, END_PS, "duration", None, describe_ports(readout))


@settings(max_examples=12, deadline=None)
@given(_instants_ps)
def test_run_that_is_put_aside_once_comes_to_the_same_result(cut_ps: int) -> None:
    assert _result(cut_ps, replacing=True) == _result(cut_ps, replacing=False)


@settings(max_examples=4, deadline=None)
@given(st.lists(_instants_ps, min_size=2, max_size=5))
def test_run_that_is_put_aside_again_and_again_comes_to_the_same_result(cuts_ps: list[int]) -> None:
    assert _result(*cuts_ps, replacing=True) == _result(*cuts_ps, replacing=False)


def test_logs_are_kept_only_as_far_as_they_are_filled() -> None:
    plan, partition = _parts()
    group = ShardGroup(plan, partition)
    group.advance(30 * PS_PER_US)
    for shard in group.shards:
        saved = save_arrays(shard.state)
        assert saved.keys() == ARRAYS.keys()
        assert len(saved["log"]) == shard.state.g[0].log < len(shard.state.log)
        assert len(saved["packet"]) == len(shard.state.packet)


@pytest.mark.parametrize("harm", ["missing", "type", "length", "scalars"])
def test_arrays_that_are_no_snapshot_are_refused(harm: str) -> None:
    plan, partition = _parts()
    saved = save_arrays(Shard(plan, partition, 0).state)
    if harm == "missing":
        del saved["voq"]
    elif harm == "type":
        saved["voq"] = saved["voq"].view("u1")
    elif harm == "length":
        saved["log"] = np.zeros(5, ARRAYS["log"])
    else:
        saved["g"] = saved["g"][:0]
    with pytest.raises(SnapshotError):
        load_arrays(saved)
