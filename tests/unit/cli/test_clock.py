# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.api.v1.director_pb2 import ClockResponse, TwinState
from fabrictwin.cli.clock import show_answer
from fabrictwin.cli.time_option import read_time_ps
from fabrictwin.errors import InputError
from fabrictwin.units import show_clock


@pytest.mark.parametrize(
    ("time_ps", "text"),
    [(0, "0.000000 ms"), (3_214_567_000, "3.214567 ms"), (1_500_000_000_000, "1,500.000000 ms")],
)
def test_show_clock_has_nanoseconds(time_ps: int, text: str) -> None:
    assert show_clock(time_ps) == text


def test_show_answer_names_the_state_and_the_time() -> None:
    answer = ClockResponse(state=TwinState.TWIN_STATE_PAUSED, fabric_time_ps=2_000_000_000)
    assert show_answer(answer) == "paused at 2.000000 ms"


def test_read_time_takes_a_time_with_its_unit() -> None:
    assert read_time_ps("1.5us", "--until") == 1_500_000


@pytest.mark.parametrize("text", ["", "5", "5 parsecs", "-1us", "0us"])
def test_read_time_refuses_what_is_no_time_and_says_where(text: str) -> None:
    with pytest.raises(InputError, match="--until: expected a"):
        read_time_ps(text, "--until")
