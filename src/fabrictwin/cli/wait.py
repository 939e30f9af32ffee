# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin wait``: waits until a twin has stopped or passed a fabric time."""

from __future__ import annotations

from typing import Annotated

import typer

from fabrictwin.api.v1.director_pb2 import TwinState, WaitResponse
from fabrictwin.cli.clock import show_state
from fabrictwin.cli.connection import TwinError, open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName
from fabrictwin.cli.time_option import read_time_ps
from fabrictwin.cli.waiting import wait_until
from fabrictwin.errors import EXIT_NO
from fabrictwin.units import show_clock


def wait(
    until: Annotated[
        str | None,
        typer.Option(metavar="T", help="Fabric time to wait for, e.g. 2ms.", show_default=False),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Give up after this wall time.", show_default=False),
    ] = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Waits until a twin has stopped or is paused, or has passed a fabric time.

    Example: fabrictwin wait --until 2ms --timeout 60

    Exit code 1: the timeout came first. Exit code 3: the twin has failed.
    """
    until_ps = 0 if until is None else read_time_ps(until, "--until")
    with open_director(twin, director) as stub:
        answer = wait_until(stub, until_ps, timeout)
    if answer.state == TwinState.TWIN_STATE_FAILED:
        raise TwinError(f"the twin has failed: {answer.error}")
    output().print(_describe(answer))
    if not answer.done:
        raise typer.Exit(EXIT_NO)


def _describe(answer: WaitResponse) -> str:
    why = f" by {answer.stopped}" if answer.stopped else ""
    late = "" if answer.done else ": not there yet"
    return f"{show_state(answer.state)}{why} at {show_clock(answer.fabric_time_ps)}{late}"
