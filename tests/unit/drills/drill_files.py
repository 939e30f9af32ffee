# SPDX-License-Identifier: Apache-2.0
"""A small drill file, and what is changed in it."""

from __future__ import annotations

from pathlib import Path

SCENARIO = """\
version: 1
name: small
seed: 3
duration: 10ms
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
workload:
  - {kind: stream, name: s0, src: h0, dst: h2, message: 64KiB, count: forever}
"""
DRILL = """\
version: 1
title: A cable goes down
description: It does.
scenario: scenario.yaml
steady-state-hypothesis:
  title: Traffic flows
  probes:
    - type: probe
      name: goodput
      provider: {func: flow_goodput, arguments: {flow: s0}}
      tolerance: {type: range, range: [100Gb/s, null]}
method:
  - type: action
    name: cut
    provider: {func: inject_fault, arguments: {kind: link_down, link: [leaf0/3, spine0/1]}}
    pauses: {after: 1ms}
rollbacks:
  - {type: action, name: mend, provider: {func: clear_fault, arguments: {action: cut}}}
expect:
  detection:
    - {event: trap, within: 200us}
negatives:
  - {name: not-cut, why: nothing is wrong, without: [cut], verdict: FAIL_DETECT}
"""


def write_drill(folder: Path, *changes: tuple[str, str]) -> Path:
    """Writes the drill and its scenario, with some words changed; every one of them must be there."""
    text = DRILL
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "scenario.yaml").write_text(SCENARIO)
    path = folder / "cut.yaml"
    path.write_text(text)
    return path
