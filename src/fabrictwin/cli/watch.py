# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin watch``: looks at a twin as it runs."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.live import Live
from rich.text import Text

from fabrictwin.api.v1.director_pb2 import TwinState
from fabrictwin.cli.clock import show_state
from fabrictwin.cli.connection import TwinError
from fabrictwin.cli.console import output, printable
from fabrictwin.cli.keys import single_keys
from fabrictwin.cli.options import DirectorAddress, TwinName
from fabrictwin.cli.status import show_speed
from fabrictwin.cli.watch_feed import Watched, watch_twin
from fabrictwin.cli.watch_verdict import GOOD, find_problems
from fabrictwin.cli.watch_view import draw
from fabrictwin.runtime.local_twins import known_twins
from fabrictwin.units import show_clock, show_rate

REFRESH_S = 0.33
LINE_S = 1.0
QUIT = ("q", "Q", "\x03")
ENDED = (TwinState.TWIN_STATE_STOPPED, TwinState.TWIN_STATE_FAILED)


def watch(twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Shows a twin as it runs: traffic, blocked ports, faults, events. q or Ctrl-C leaves; the twin goes on.

    Example: fabrictwin watch

    In a pipe it writes a line a second, until the twin has stopped.
    """
    with watch_twin(twin, director) as watched, _leave_on_interrupt():
        if output().is_terminal:
            _show_page(watched)
        else:
            _write_lines(watched)
    if watched.is_gone:
        _explain_silence(watched.status.twin, is_local=director is None)
    elif watched.status.state == TwinState.TWIN_STATE_FAILED:
        raise TwinError(f"the twin has failed: {watched.status.error}")


def _explain_silence(name: str, *, is_local: bool) -> None:
    """Where the twin was ended by somebody that is no failure."""
    if is_local and name not in known_twins():
        output().print(f"{name} is down")
        return
    raise TwinError("the director does not answer any more")


class _LeaveError(Exception):
    """Ctrl-C was pressed."""


@contextmanager
def _leave_on_interrupt() -> Iterator[None]:
    """Ctrl-C ends the block, and nothing else."""

    def leave(*_: object) -> None:
        raise _LeaveError

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    except _LeaveError:
        return
    finally:
        signal.signal(signal.SIGINT, before)


def _show_page(watched: Watched) -> None:
    console = output()
    with single_keys() as wait_for_key, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(draw(watched, console.width, console.height), refresh=True)
            if wait_for_key(REFRESH_S) in QUIT or watched.is_gone:
                break
    console.print(Text(describe(watched)), soft_wrap=True)


def _write_lines(watched: Watched) -> None:
    # A reader that is a program wants each line when it is written.
    while not watched.is_gone:
        output().print(Text(describe(watched)), soft_wrap=True)
        sys.stdout.flush()
        if watched.status.state in ENDED:
            return
        time.sleep(LINE_S)


def describe(watched: Watched) -> str:
    """How a twin is, in a line."""
    status, activity = watched.status, watched.activity
    parts = [f"{show_clock(status.fabric_time_ps)} {show_state(status.state)}"]
    if status.state == TwinState.TWIN_STATE_RUNNING:
        parts.append(show_speed(status.speed))
    if status.stopped:
        parts[0] += f" by {status.stopped}"
    if activity is not None:
        parts.append(f"throughput {show_rate(activity.injected_bps)}")
        parts.append(f"goodput {show_rate(activity.delivered_bps)}")
    parts += [finding.text for finding in find_problems(watched) if finding.style != GOOD]
    return printable(" | ".join(parts))
