# SPDX-License-Identifier: Apache-2.0
"""Two shards as logical processes: in turns or at once, they come to the same."""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.model.controller import NEVER_PS
from fabrictwin.runtime import blueprint as blueprints
from fabrictwin.runtime.blueprint import Blueprint, draw_blueprint
from fabrictwin.runtime.convert import WindowData, encode
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.runtime.shard_process import ShardProcess
from fabrictwin.units import PS_PER_US

TEXT = """
version: 1
name: pair
duration: 1ms
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
  link: {rate: 400Gb/s, length: 10m}
routing: {engine: ftree}
workload: [{kind: permutation, pattern: shift, shift: 2, message: 64KiB, count: forever}]
"""
GRANTED_PS = 20 * PS_PER_US
PAIR = ("switch0", "hca0")


def _draw(monkeypatch: pytest.MonkeyPatch, *, takes_turns: bool) -> Blueprint:
    monkeypatch.setattr(blueprints, "MOST_LINKS_OF_A_PAIR_IN_TURNS", 100 if takes_turns else 0)
    blueprint = draw_blueprint(ScenarioSource(TEXT, "pair.yaml", {}))
    assert blueprint.takes_turns == takes_turns
    return blueprint


def _begin(blueprint: Blueprint) -> dict[str, ShardProcess]:
    processes = {name: ShardProcess(blueprint, name) for name in PAIR}
    for process in processes.values():
        process.begin({})
    for manager in blueprint.managers:
        processes["switch0"].hear(manager, encode(WindowData(NEVER_PS, NEVER_PS, 0), 1))
    return processes


def _run(processes: dict[str, ShardProcess]) -> dict[str, list[int]]:
    """Steps both in turn; returns the fabric times at which each has spoken to the other."""
    spoken: dict[str, list[int]] = {name: [] for name in PAIR}
    sequences = dict.fromkeys(PAIR, 0)
    while min(process.reached_ps for process in processes.values()) < GRANTED_PS:
        for name, other in (PAIR, PAIR[::-1]):
            processes[name].advance(GRANTED_PS)
            window = processes[name].speak(GRANTED_PS).get(other)
            if window is not None:
                sequences[name] += 1
                spoken[name].append(window.reached_ps)
                processes[other].hear(name, encode(window, sequences[name]))
    return spoken


def test_shards_at_once_come_to_what_shards_in_turns_come_to(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for takes_turns in (True, False):
        processes = _begin(_draw(monkeypatch, takes_turns=takes_turns))
        _run(processes)
        for process in processes.values():
            process.settle()
        ends.append(processes)
    for name in PAIR:
        turns, at_once = (end[name] for end in ends)
        mine = np.flatnonzero(turns.owned[turns.state.port.node])
        assert turns.state.port.xmit_pkts[mine].sum() > 1000
        assert (turns.state.port[mine] == at_once.state.port[mine]).all()


def test_shards_at_once_speak_at_even_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    spoken = _run(_begin(_draw(monkeypatch, takes_turns=False)))
    for times_ps in spoken.values():
        strides = np.diff(times_ps[3:-3])
        assert len(strides) > 50
        assert strides.max() <= strides.min() + 1


def test_shards_at_once_skip_what_is_quiet_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    process = _begin(_draw(monkeypatch, takes_turns=False))["hca0"]
    process.skip_to(GRANTED_PS)
    assert process.advance(GRANTED_PS) == GRANTED_PS
