# SPDX-License-Identifier: Apache-2.0
"""What a process that is stepped tells the director while it waits for others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from fabrictwin.runtime.blueprint import DIRECTOR, draw_blueprint
from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus.in_process import InProcessBus, InProcessEnd
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.process import Stepper
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.runtime.sm_process import SmProcess
from fabrictwin.telemetry import Health, Service
from fabrictwin.units import PS_PER_US
from unit.runtime.test_checkpoint import TEXT

GRANTED_PS = 3 * PS_PER_US
WITHIN_S = 60.0


class _Others:
    """The director and the switches, as the subnet manager hears them."""

    def __init__(self, bus: InProcessBus) -> None:
        self._ends: dict[str, InProcessEnd] = {name: bus.end(name) for name in (DIRECTOR, "switch0")}
        self._said = dict.fromkeys(self._ends, 0)

    def say(self, name: str, promise_ps: int, reached_ps: int, *commands: dict[str, Any]) -> None:
        self._said[name] += 1
        lines = [json.dumps(command).encode() for command in commands]
        window = WindowData(promise_ps, promise_ps, reached_ps, {}, lines)
        entry = Entry(promise_ps, encode(window, self._said[name]))
        self._ends[name].exchange({"sm0": [entry]}, (), 0)

    def wait_for_report(self, asked: int, reached_ps: int) -> None:
        """Waits until the manager has answered a question and is told to be at a fabric time."""
        deadline_s = monotonic() + WITHIN_S
        last = None
        while monotonic() < deadline_s:
            for entry in self._ends[DIRECTOR].exchange({}, ("sm0",), 1.0).get("sm0", []):
                (report,) = decode(entry.payload).records["report"]
                last = (int(report["asked"]), int(report["reached_ps"]))
                if last == (asked, reached_ps):
                    return
        raise AssertionError(f"the last report was {last}")


@pytest.fixture
def others() -> Iterator[_Others]:
    blueprint = draw_blueprint(ScenarioSource(TEXT.replace(", {node: h1}]", "]"), "kept.yaml"))
    bus = InProcessBus(blueprint.channels)
    process = SmProcess(blueprint, "sm0")
    stepper = Stepper(process, bus.end("sm0"), Health("kept", Service.SUBNET_MANAGER, "sm0", "kept"))
    stepper.start()
    yield _Others(bus)
    stepper.stop()
    assert stepper.error is None


def test_process_that_waits_for_others_where_it_may_go_answers_and_does_not_stand_there(
    others: _Others,
) -> None:
    others.say(DIRECTOR, GRANTED_PS, 0)
    others.say(DIRECTOR, GRANTED_PS, 0, {"do": "clock.ask", "number": 1})
    others.wait_for_report(asked=1, reached_ps=GRANTED_PS - 1)
    others.say("switch0", 2 * GRANTED_PS, GRANTED_PS)
    others.wait_for_report(asked=1, reached_ps=GRANTED_PS)
