# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from fabrictwin.api.v1.common_pb2 import Event
from fabrictwin.cli.watch import describe
from fabrictwin.cli.watch_feed import Watched
from fabrictwin.cli.watch_view import bar, draw, sparkline
from unit.cli.watched_twin import load, sound_twin, troubled_twin


def _lines(watched: Watched, width: int, height: int) -> list[str]:
    console = Console(file=StringIO(), width=width, height=height)
    console.print(draw(watched, width, height))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (120, 40), (200, 50), (200, 24)])
def test_page_fills_the_terminal_and_no_more(width: int, height: int) -> None:
    watched = troubled_twin()
    assert watched.activity is not None
    for number in range(30):
        watched.activity.busiest.append(
            load(f"spine-with-a-long-name-{number}/17", "leaf-with-one/22", sent=0.5)
        )
        watched.events.append(Event(at_ps=number, kind="lft_write", node="leaf", text="block 1 " * 30))
    lines = _lines(watched, width, height)
    assert len(lines) == height
    assert max(map(len, lines)) <= width


def test_page_of_80_columns_shows_the_problem_the_ports_and_the_events() -> None:
    lines = _lines(troubled_twin(), 80, 24)
    assert "demo  RUNNING  3.214567 ms" in lines[0]
    assert "of 20.000000 ms, 2.13 ms a second" in lines[0]
    assert "link_down-1: link_down leaf0/5 - spine0/1, over in 420 us" in lines[1]
    page = "\n".join(lines)
    assert "throughput   5.91 Tb/s  goodput   5.72 Tb/s" in page
    assert "leaf0/1 → h0/1" in page
    assert "leaf1/2 → h5/1" in page
    assert "2.000000 ms  link_down leaf0/5" in page
    assert "✓ switch0  ✓ hca0  ✓ cc" in page


def test_page_of_200_columns_has_both_lists_in_one_line() -> None:
    lines = _lines(troubled_twin(), 200, 40)
    assert any("leaf0/1 → h0/1" in line and "leaf1/2 → h5/1" in line for line in lines)


def test_page_leaves_out_who_hardly_waits() -> None:
    watched = sound_twin()
    assert watched.activity is not None
    watched.activity.most_blocked.append(load("leaf3/1", "h12/1", waited=0.004))
    assert "leaf3/1" not in "\n".join(_lines(watched, 80, 24))


def test_page_before_anything_is_known_says_so() -> None:
    page = "\n".join(_lines(Watched(sound_twin().status), 80, 24))
    assert "nothing is known of the ports yet" in page


def test_page_shows_the_last_events_where_there_is_no_room_for_all() -> None:
    watched = sound_twin()
    watched.events.extend(Event(at_ps=number, kind=f"event{number}") for number in range(40))
    page = "\n".join(_lines(watched, 80, 24))
    assert "event39" in page
    assert "event0 " not in page


def test_page_escapes_what_would_steer_the_terminal() -> None:
    watched = sound_twin()
    watched.events.append(Event(kind="x", text="\x1b[2J"))
    assert "\x1b" not in "".join(_lines(watched, 80, 24))


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.0, "    "), (0.5, "██  "), (1.0, "████"), (2.0, "████"), (-1.0, "    "), (0.28, "█▏  ")],
)
def test_bar_is_filled_to_an_eighth(part: float, text: str) -> None:
    assert bar(part, 4) == text


def test_sparkline_shows_the_last_values_against_their_highest() -> None:
    assert sparkline([9.0, 0.0, 2.0, 4.0], 3) == "▁▄█"
    assert sparkline([0.0, 0.0], 5) == ""
    assert sparkline([1.0], 0) == ""


def test_line_in_a_pipe_says_all_that_is_wrong() -> None:
    line = describe(troubled_twin())
    assert line.startswith(
        "3.214567 ms running | 2.13 ms a second | throughput 5.91 Tb/s | goodput 5.72 Tb/s | "
    )
    assert "link_down-1" in line
    assert "slow receiver: h5/1" in line
    assert "\n" not in line


def test_line_of_a_sound_twin_has_no_complaint() -> None:
    assert describe(sound_twin()).endswith("goodput 5.72 Tb/s")
