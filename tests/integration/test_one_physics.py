# SPDX-License-Identifier: Apache-2.0
"""One physics: in one process, split into shards, and as services over Redis the result is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.offline import open_simulation
from integration.live_twin import LONGEST_RUN_S, live_twin
from integration.patience import PATIENCE_S
from integration.physics_scenarios import LONG, SCENARIOS, write_scenario
from integration.separate_services import separate_services

SAME = ("digest", "stopped", "fabric_time_ns", "deadlock", "events", "flows", "ports", "totals", "jobs")
"""What must not depend on how a scenario is run."""
STOPPED = {"three-levels": "idle", "idle": "idle", "deadlock": "deadlock", "roce-deadlock": "deadlock"}
"""Why a scenario stops that does not last for its duration."""


def _simulate(path: Path, shards: int) -> dict[str, Any]:
    simulation = open_simulation(load_scenario(path), shards=shards)
    simulation.run()
    return simulation.result()


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in SAME if one[name] != other[name]]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SCENARIOS]
)
def test_scenario_comes_to_one_result_however_it_is_run(name: str, tmp_path: Path) -> None:
    path = write_scenario(name, tmp_path)
    whole = _simulate(path, 1)
    assert whole["stopped"] == STOPPED.get(name, "duration")
    assert whole["packet_hops"] > 0
    assert _differences(whole, _simulate(path, 4)) == []
    with live_twin(path, name, shuffled=list(SCENARIOS).index(name)) as twin:
        answer = twin.wait()
        assert (answer.done, answer.error) == (True, "")
        assert _differences(whole, twin.result()) == []
        assert twin.shut_down() == 0


@pytest.mark.parametrize(("name", "seed"), [("incast-cc", 1), ("link-flap", 2)])
def test_services_that_are_started_one_by_one_come_to_the_same_result(
    name: str, seed: int, tmp_path: Path
) -> None:
    path = write_scenario(name, tmp_path)
    with separate_services(path, name, seed) as (redis_url, services):
        director = DirectorStub(services["director"].channel())
        director.Load(pb.LoadRequest(scenario=path.read_text(), start=True), timeout=PATIENCE_S)
        assert director.Wait(pb.WaitRequest(), timeout=LONGEST_RUN_S).done
        chunks = director.Result(pb.ResultRequest(), timeout=PATIENCE_S)
        result = json.loads(b"".join(chunk.json for chunk in chunks))
        assert _differences(_simulate(path, 1), result) == []
        director.Shutdown(pb.ShutdownRequest(by="test"), timeout=PATIENCE_S)
        assert {
            process: service.process.wait(PATIENCE_S) for process, service in services.items()
        } == dict.fromkeys(services, 0)
        assert connect(redis_url).keys(f"ft:{{{name}}}:*") == []
