# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from fabrictwin.cli.report.layout import MOST_MARKS, make_clock
from fabrictwin.cli.report.series import time_axis
from fabrictwin.units import PS_PER_MS


def _event(kind: str, at_ns: float) -> dict[str, Any]:
    return {"kind": kind, "fabric_ns": at_ns, "source": "switch_node"}


def _marks(*events: dict[str, Any]) -> list[tuple[float, str]]:
    return list(make_clock(time_axis(PS_PER_MS), PS_PER_MS, events).marks)


def test_clock_events_of_a_kind_close_together_make_one_mark() -> None:
    marks = _marks(_event("link_down", 100_000), _event("link_down", 101_000), _event("link_up", 102_000))
    assert marks == [(100.0, "link_down ×2"), (102.0, "link_up")]


def test_clock_events_of_a_kind_far_apart_stay_apart() -> None:
    assert len(_marks(_event("link_down", 100_000), _event("link_down", 200_000))) == 2


def test_clock_marks_are_bounded() -> None:
    assert len(_marks(*(_event(f"kind{number}", number) for number in range(100)))) == MOST_MARKS
