# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin step``: lets a paused twin go on for a while."""

from __future__ import annotations

from typing import Annotated

import typer

from fabrictwin.api.v1.director_pb2 import ClockResponse, StepRequest
from fabrictwin.cli.clock import show_answer
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName
from fabrictwin.cli.time_option import read_time_ps
from fabrictwin.cli.waiting import wait_until


def step(
    by: Annotated[
        str, typer.Argument(metavar="T", help="Span of fabric time, e.g. 100us.", show_default=False)
    ],
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Lets a paused twin go on by a span of fabric time; returns when it is paused there.

    Example: fabrictwin step 100us
    """
    by_ps = read_time_ps(by, "T")
    with open_director(twin, director) as stub:
        stub.Step(StepRequest(by_ps=by_ps))
        answer = wait_until(stub, 0)
    output().print(show_answer(ClockResponse(state=answer.state, fabric_time_ps=answer.fabric_time_ps)))
