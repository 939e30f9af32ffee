# SPDX-License-Identifier: Apache-2.0
"""What the clock of a twin says, for people."""

from __future__ import annotations

from fabrictwin.api.v1.director_pb2 import ClockResponse, TwinState
from fabrictwin.units import show_clock

_PREFIX = "TWIN_STATE_"


def show_state(state: TwinState.ValueType) -> str:
    """What a twin is doing, in a word: ``'running'``."""
    return TwinState.Name(state).removeprefix(_PREFIX).lower()


def show_answer(answer: ClockResponse) -> str:
    """What the clock does after it was told something."""
    return f"{show_state(answer.state)} at {show_clock(answer.fabric_time_ps)}"
