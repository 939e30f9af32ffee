# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin resume``: lets fabric time go on."""

from __future__ import annotations

from fabrictwin.api.v1.director_pb2 import ResumeRequest
from fabrictwin.cli.clock import show_answer
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName


def resume(twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Lets the fabric time of a paused twin go on.

    Example: fabrictwin resume
    """
    with open_director(twin, director) as stub:
        answer = stub.Resume(ResumeRequest())
    output().print(show_answer(answer))
