# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin resume``: lets fabric time go on."""

from __future__ import annotations

from typing import Annotated

import typer

from fabrictwin.api.v1.director_pb2 import ResumeRequest, SetPaceRequest
from fabrictwin.cli.clock import show_answer
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName
from fabrictwin.cli.time_option import read_time_or_0_ps
from fabrictwin.units import PS_PER_S


def resume(
    pace: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="From now on at most so much fabric time a second, e.g. 500us; 0s: as fast as it goes.",
            show_default=False,
        ),
    ] = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Lets the fabric time of a paused twin go on.

    Example: fabrictwin resume --pace 500us

    A pace also holds for a twin that runs already, and until another one is given.
    """
    pace_ps = None if pace is None else read_time_or_0_ps(pace, "--pace")
    with open_director(twin, director) as stub:
        if pace_ps is not None:
            stub.SetPace(SetPaceRequest(pace=pace_ps / PS_PER_S))
        answer = stub.Resume(ResumeRequest())
    output().print(show_answer(answer))
