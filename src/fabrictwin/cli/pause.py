# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin pause``: stops fabric time."""

from __future__ import annotations

from fabrictwin.api.v1.director_pb2 import PauseRequest
from fabrictwin.cli.clock import show_answer
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName


def pause(twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Stops fabric time; returns when every service stands at the same fabric time.

    Example: fabrictwin pause
    """
    with open_director(twin, director) as stub:
        answer = stub.Pause(PauseRequest())
    output().print(show_answer(answer))
