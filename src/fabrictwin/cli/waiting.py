# SPDX-License-Identifier: Apache-2.0
"""Waiting for a fabric time: short calls one after the other, with progress on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from fabrictwin.api.v1.director_pb2 import StatusRequest, WaitRequest, WaitResponse
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.console import diagnostics
from fabrictwin.units import show_clock

LOOK_S = 0.5
"""How long one call waits; it gives the progress its steps, and a person the chance to interrupt."""
_ANSWER_S = 0.3
"""The director answers a bit before the deadline."""

Observer = Callable[[int], None]


def wait_until(director: DirectorStub, until_ps: int, timeout_s: float | None = None) -> WaitResponse:
    """Waits until a twin has passed a fabric time or stopped; shows progress on a terminal.

    Args:
        director: The director.
        until_ps: The fabric time; 0: until it has stopped or is paused.
        timeout_s: Give up after this wall time; None: never.

    Returns:
        How it is; ``done`` is false after the timeout.
    """
    status = director.Status(StatusRequest())
    deadline = None if timeout_s is None else monotonic() + timeout_s
    with _progress(status.fabric_time_ps, until_ps or status.until_ps or status.duration_ps) as show:
        while True:
            left_s = LOOK_S if deadline is None else min(LOOK_S, deadline - monotonic())
            answer = director.Wait(WaitRequest(until_ps=until_ps), timeout=max(0.0, left_s) + _ANSWER_S)
            show(answer.fabric_time_ps)
            if answer.done or (deadline is not None and monotonic() >= deadline):
                return answer


@contextmanager
def _progress(from_ps: int, to_ps: int) -> Iterator[Observer]:
    console = diagnostics()
    if not console.is_terminal:
        yield lambda _time_ps: None
        return
    bar = Progress(
        TextColumn("waiting"),
        BarColumn(),
        TextColumn("{task.fields[clock]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=max(1, to_ps - from_ps), clock=show_clock(from_ps))
    with bar:
        yield lambda time_ps: bar.update(
            task, completed=time_ps - from_ps, clock=f"{show_clock(time_ps)} of {show_clock(to_ps)}"
        )
