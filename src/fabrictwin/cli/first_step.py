# SPDX-License-Identifier: Apache-2.0
"""The start of a twin, as those see it who wait for its first step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from fabrictwin.api.v1.director_pb2 import LoadRequest, StatusRequest, StatusResponse, TwinState
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import TwinError
from fabrictwin.cli.console import print_warnings
from fabrictwin.cli.status import SERVING
from fabrictwin.errors import Problem
from fabrictwin.runtime.scenario_source import read_source

START_S = 600.0
"""The first start compiles the kernels, which takes a minute, and longer where much else runs."""
LOAD_S = 120.0
_STANDING = (TwinState.TWIN_STATE_STOPPED, TwinState.TWIN_STATE_PAUSED)
POLL_S = 0.02


def load_scenario_into(director: DirectorStub, scenario: Path) -> None:
    """Gives a director a scenario with what it imports, and shows what was odd.

    Raises:
        InputError: The scenario is wrong, or the director has one already.
    """
    source = read_source(scenario)
    request = LoadRequest(scenario=source.text, file=source.file, imported=dict(source.imported), start=True)
    answer = director.Load(request, timeout=LOAD_S)
    print_warnings([Problem(one.message, one.file, one.line, one.field) for one in answer.warnings])


def wait_for_first_step(director: DirectorStub, check: Callable[[], None]) -> StatusResponse:
    """Waits until fabric time has gone on, or stands, or will not go on; returns how the twin is.

    Args:
        director: The director.
        check: Called again and again; raises what else has gone wrong.

    Raises:
        TwinError: The twin failed, or did not begin in time.
    """
    deadline = monotonic() + START_S
    while True:
        check()
        status = director.Status(StatusRequest())
        if status.state == TwinState.TWIN_STATE_FAILED:
            raise TwinError(f"the twin failed at its start: {status.error}")
        if status.fabric_time_ps > 0 or status.state in _STANDING:
            return status
        if monotonic() > deadline:
            missing = ", ".join(one.shard for one in status.services if one.health != SERVING)
            raise TwinError(f"the twin did not begin within {START_S:.0f} s; not ready: {missing or 'none'}")
        sleep(POLL_S)
