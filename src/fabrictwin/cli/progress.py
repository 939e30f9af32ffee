# SPDX-License-Identifier: Apache-2.0
"""The progress bar of a run, in fabric time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from fabrictwin.cli.console import diagnostics, printable
from fabrictwin.engine.simulation import Progress
from fabrictwin.units import show_time

NARROW, WIDE = 60, 120
"""Columns of a terminal: below the first there is room for the clock alone, from the second on for all."""

Observer = Callable[[Progress], None]


class _Speed:
    """Speed since the first report, so that compilation does not count."""

    def __init__(self) -> None:
        self._first: tuple[float, int, int] | None = None

    def text(self, now_s: float, progress: Progress) -> str:
        if self._first is None:
            self._first = (now_s, progress.time_ps, progress.packet_hops)
        start_s, start_ps, start_hops = self._first
        elapsed_s = now_s - start_s
        if elapsed_s <= 0:
            return ""
        fabric = show_time((progress.time_ps - start_ps) / elapsed_s)
        hops = (progress.packet_hops - start_hops) / elapsed_s / 1e6
        return f"{fabric}/s · {hops:.2f} M packet-hops/s"


@contextmanager
def fabric_progress(end_ps: int | None) -> Iterator[Observer | None]:
    """Shows a bar on standard error while the body runs.

    Args:
        end_ps: Fabric time at which the run stops at the latest; None: nobody knows, so the bar only moves.

    Yields:
        What to call with each report of the engine; None where standard error is not a terminal.
    """
    console = diagnostics()
    if not console.is_terminal:
        yield None
        return
    bar = Bar(*_columns(console.width), console=console, transient=True)
    task = bar.add_task("starting (the first run compiles)", total=end_ps, clock="starting", speed="")
    speed = _Speed()

    def observe(progress: Progress) -> None:
        bar.update(
            task,
            description="simulating",
            completed=progress.time_ps,
            clock=show_time(progress.time_ps) + ("" if end_ps is None else f" of {show_time(end_ps)}"),
            speed=speed.text(time.monotonic(), progress),
        )

    with bar:
        yield observe


@contextmanager
def count_progress(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Shows on standard error how many of several runs are done.

    Args:
        what: What the runs are, in the plural.
        total: How many there are.

    Yields:
        What to call when one more is done, with its name.
    """
    console = diagnostics()
    if not console.is_terminal:
        yield lambda name: None
        return
    text = TextColumn("{task.completed:.0f} of {task.total:.0f} {task.description}")
    columns = [text, BarColumn(None if console.width < WIDE else 40), TimeElapsedColumn()]
    bar = Bar(*columns, TextColumn("[dim]{task.fields[last]}"), console=console, transient=True)
    task = bar.add_task(what, total=total, last="")
    with bar:
        yield lambda name: bar.update(task, advance=1, last=printable(name))


def _columns(width: int) -> list[ProgressColumn]:
    """What finds room: the clock always, then the elapsed time and what is being done, the speed last."""
    clock, elapsed = TextColumn("{task.fields[clock]}"), TimeElapsedColumn()
    if width < NARROW:
        return [clock, elapsed]
    doing, bar = TextColumn("{task.description}"), BarColumn(None if width < WIDE else 40)
    if width < WIDE:
        return [doing, bar, clock, elapsed]
    return [doing, bar, clock, TextColumn("[dim]{task.fields[speed]}"), elapsed]
