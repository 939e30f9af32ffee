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


def test_clock_events_close_together_share_a_mark_that_names_each_kind_once() -> None:
    events = [_event("link_down", 100_000), _event("link_down", 100_000), _event("trap", 110_000)]
    assert _marks(*events) == [(100.0, "link down, trap")]


def test_clock_mark_of_many_kinds_is_cut_short() -> None:
    assert _marks(*(_event(f"kind{number}", number) for number in range(5))) == [(0.0, "kind0, kind1, …")]


def test_clock_events_far_apart_stay_apart() -> None:
    assert _marks(_event("up", 100_000), _event("up", 200_000)) == [(100.0, "up"), (200.0, "up")]


def test_clock_marks_are_bounded() -> None:
    assert len(_marks(*(_event("flap", number * 30_000) for number in range(30)))) == MOST_MARKS
