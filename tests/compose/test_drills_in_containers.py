# SPDX-License-Identifier: Apache-2.0
"""Drills on the twin in containers: their alerts arrive at Alertmanager, and its containers are as before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compose.composed import BUILD_S, ComposedTwin
from compose.stand_ins import REPOSITORY
from fabrictwin.drills.catalogue import drill_files
from fabrictwin.drills.containers import Containers
from fabrictwin.drills.services import ServiceError
from fabrictwin.errors import InputError

pytestmark = pytest.mark.compose

DRILLS = REPOSITORY / "deploy" / "drills" / "composed"


def _run(twin: ComposedTwin, runs: Path, *arguments: str) -> dict[str, Any]:
    where = ("--director", twin.director, "--containers", "--drills", str(DRILLS), "--runs", str(runs))
    seen_by = ("--prometheus", twin.prometheus, "--alertmanager", twin.alertmanager)
    command = [sys.executable, "-m", "fabrictwin.cli.main", "drill", "run", *arguments, *where, *seen_by]
    run = subprocess.run(
        [*command, "--json", "-"],
        env=dict(twin.environment),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
    )
    assert run.returncode in (0, 1), (run.stdout[-3000:], run.stderr)
    journal: dict[str, Any] = json.loads(run.stdout)
    return journal


@pytest.mark.parametrize("name", drill_files(DRILLS))
def test_drill_passes_and_its_alert_is_at_alertmanager(
    composed_twin: ComposedTwin, tmp_path: Path, name: str
) -> None:
    journal = _run(composed_twin, tmp_path, name)
    assert journal["verdict"] == "PASS", journal["reasons"]
    (expected,) = (each for each in journal["alerts"]["seen"] if each["expected"])
    assert expected["firing_s"] is not None
    assert journal["detection"]["fabric_ttd_ns"] is not None
    assert journal["rollback"] == {"errors": [], "left_overs": []}
    assert composed_twin.status().active_faults == 0
    composed_twin.wait_for_health("switch0", "serving")
    composed_twin.wait_for_progress()


def test_containers_of_another_twin_are_not_touched(
    composed_twin: ComposedTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "DOCKER_HOST", composed_twin.environment["DOCKER_HOST"])
    with pytest.raises(InputError, match=r"none is labelled io\.fabrictwin\.twin=somebody-elses"):
        Containers("somebody-elses")
    with pytest.raises(ServiceError, match="no container 'prometheus2'"):
        Containers("composed").do("pause_service", "prometheus2")


def test_container_off_its_networks_comes_back_under_all_of_its_names(
    composed_twin: ComposedTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "DOCKER_HOST", composed_twin.environment["DOCKER_HOST"])

    def names() -> dict[str, set[str]]:
        networks = composed_twin.container("cc").attrs["NetworkSettings"]["Networks"]
        return {name: set(settings["Aliases"] or ()) for name, settings in networks.items()}

    containers, before = Containers("composed"), names()
    containers.do("disconnect_service", "cc")
    assert names() == {}
    assert containers.left_overs() != []
    containers.do("connect_service", "cc")
    after = names()
    assert after.keys() == before.keys()
    assert all("cc" in aliases for aliases in after.values())
    assert containers.left_overs() == []
    composed_twin.wait_for_progress()
