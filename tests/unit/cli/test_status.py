# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from io import StringIO

from rich.console import Console

from fabrictwin.api.v1.director_pb2 import StatusResponse, TwinState
from fabrictwin.cli.status import is_healthy, print_status
from unit.cli.watched_twin import sound_twin


def _printed(console: Console, answer: StatusResponse) -> str:
    print_status(console, answer)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_status_says_what_it_does_and_lists_the_services(console: Console) -> None:
    status = sound_twin().status
    text = _printed(console, status)
    assert text.startswith("demo: running at 3.214567 ms of 20.000000 ms, 2.13 ms a second, scenario demo")
    assert [line.split()[0] for line in text.splitlines() if "serving" in line] == ["switch0", "hca0", "cc"]
    assert is_healthy(status)


def test_status_of_a_silent_service_says_for_how_long(console: Console) -> None:
    status = sound_twin().status
    status.services[1].health = "unreachable"
    status.services[1].silent_s = 4.6
    assert "unreachable for 5 s" in _printed(console, status)
    assert not is_healthy(status)


def test_status_of_a_failed_twin_says_why(console: Console) -> None:
    status = sound_twin().status
    status.state = TwinState.TWIN_STATE_FAILED
    status.error = "GapError: channel hca0:switch0 misses number 7"
    text = _printed(console, status)
    assert "demo: failed at" in text
    assert "misses number 7" in text
    assert not is_healthy(status)


def test_status_of_a_deadlock_shows_its_cycle(console: Console) -> None:
    status = sound_twin().status
    status.state, status.stopped = TwinState.TWIN_STATE_STOPPED, "deadlock"
    status.deadlock_cycle.extend(["a/1 vl0", "b/2 vl0"])
    text = _printed(console, status)
    assert "stopped by deadlock" in text
    assert "a/1 vl0 -> b/2 vl0 -> a/1 vl0" in text
