# SPDX-License-Identifier: Apache-2.0
"""One physics: in one process, split into shards, and as services over Redis the result is the same."""

from __future__ import annotations

import random
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.blueprint import draw_blueprint
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.runtime.scenario_source import read_source
from integration.live_twin import LiveTwin, live_twin
from integration.physics_scenarios import SCENARIOS, write_scenario
from integration.redis_server import short_folder
from integration.services_at_work import Running, run_module

SAME = ("digest", "stopped", "fabric_time_ns", "deadlock", "events", "flows", "totals")
"""What must not depend on how a scenario is run."""
STOPPED = dict.fromkeys(SCENARIOS, "duration") | dict.fromkeys(("three-levels", "idle"), "idle")
STOPPED["deadlock"] = "deadlock"

pytestmark = pytest.mark.xdist_group("one_physics")


def _simulate(path: Path, shards: int) -> dict[str, Any]:
    simulation = open_simulation(load_scenario(path), shards=shards)
    simulation.run()
    return simulation.result()


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in SAME if one[name] != other[name]]


def _finish(twin: LiveTwin) -> dict[str, Any]:
    """The result of a twin that stops by itself."""
    answer = twin.wait()
    assert (answer.done, answer.error) == (True, "")
    return twin.result()


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_comes_to_one_result_however_it_is_run(name: str, tmp_path: Path) -> None:
    path = write_scenario(name, tmp_path)
    whole = _simulate(path, 1)
    assert whole["stopped"] == STOPPED[name]
    assert whole["totals"]["messages"] > 0 or name == "deadlock"
    assert _differences(whole, _simulate(path, 4)) == []
    with live_twin(path, name, shuffled=list(SCENARIOS).index(name)) as twin:
        assert _differences(whole, _finish(twin)) == []
        assert twin.shut_down() == 0
