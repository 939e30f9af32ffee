# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from fabrictwin.model.command import COMMANDS, Command, apply_command
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.director.command_words import say_command
from fabrictwin.units import PS_PER_US

TEXT = """
version: 1
name: told
duration: 1ms
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
workload:
  - {kind: stream, name: flood, src: h0, dst: h3, message: 64KiB, count: forever}
faults:
  - {kind: slow_receiver, name: slow, node: h2, at: 5us, rate: 50Gb/s}
"""
CUT = {"kind": "link_down", "link": ["leaf0/3", "spine0/1"], "duration": "30us"}
MORE = {"kind": "stream", "src": "h1", "dst": "h2", "message": "4KiB", "count": 3}
SAID = [
    ("fault.inject", {"id": "cut", "fault": CUT}, "cut: link_down leaf0/3 - spine0/1 for 30 us"),
    (
        "fault.inject",
        {"id": "cut", "fault": CUT | {"at": "20us"}},
        "cut: link_down leaf0/3 - spine0/1 from 0.020000 ms on for 30 us",
    ),
    ("fault.clear", {"id": "slow"}, "slow: slow_receiver h2, rate 50Gb/s"),
    ("workload.start", {"name": "more", "workload": MORE}, "more: stream"),
    (
        "workload.start",
        {"name": "more", "workload": MORE | {"start": "40us"}},
        "more: stream from 0.040000 ms on",
    ),
    ("workload.stop", {"name": "flood"}, "flood"),
    ("sm.sweep", {"node": "h0"}, "subnet manager on h0"),
    ("sm.handover", {"node": "h0"}, "subnet manager on h0"),
]


@pytest.mark.parametrize(("do", "arguments", "text"), SAID)
def test_command_is_said_in_words_with_who_gave_it(do: str, arguments: dict[str, Any], text: str) -> None:
    command = Command(10 * PS_PER_US, do, arguments, "ann")
    assert say_command(command, apply_command(parse_scenario(TEXT), command)) == f"{text}, by ann"


def test_every_command_has_words() -> None:
    assert {do for do, _, _ in SAID} == set(COMMANDS)
