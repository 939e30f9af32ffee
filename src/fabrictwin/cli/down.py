# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin down``: ends a twin and leaves nothing behind."""

from __future__ import annotations

from fabrictwin.api.v1.director_pb2 import ShutdownRequest
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, TwinName
from fabrictwin.cli.owner import owner_or_user
from fabrictwin.cli.supervisor import end_twin
from fabrictwin.runtime.local_twins import check_known, known_twins, only_one


def down(twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Ends a twin: its services, its Redis server, its folder. Save its result first: it goes too.

    Example: fabrictwin down
    """
    if director is not None:
        with open_director(twin, director) as stub:
            stub.Shutdown(ShutdownRequest(by=owner_or_user(None)))
        output().print(f"the twin at {director} ends")
        return
    name = only_one(known_twins()) if twin is None else check_known(twin)
    end_twin(name)
    output().print(f"{name} is down")
