# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

from fabrictwin.api.v1.director_pb2 import ServiceStatus, StatusResponse, TwinState
from fabrictwin.cli.message_json import as_plain


def test_as_plain_keeps_names_and_numbers_and_what_is_zero() -> None:
    status = StatusResponse(
        twin="demo",
        state=TwinState.TWIN_STATE_RUNNING,
        fabric_time_ps=2**60,
        services=[ServiceStatus(shard="switch0", silent_s=0.5)],
        deadlock_cycle=["a/1 vl0"],
    )
    plain = as_plain(status)
    assert plain["twin"] == "demo"
    assert plain["state"] == "running"
    assert plain["fabric_time_ps"] == 2**60
    assert plain["active_faults"] == 0
    assert plain["deadlock_cycle"] == ["a/1 vl0"]
    assert plain["services"][0]["shard"] == "switch0"
    assert plain["services"][0]["silent_s"] == 0.5
    assert json.loads(json.dumps(plain)) == plain
