# SPDX-License-Identifier: Apache-2.0
"""The two times to detect: in the fabric, and by way of the real Prometheus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.telemetry import Service, Target
from integration.machine import REPOSITORY, Machine, machine
from integration.real_prometheus import Prometheus, running_prometheus, skip_without_prometheus

pytestmark = pytest.mark.drills

DRILLS = REPOSITORY / "deploy" / "drills"
TWIN = "fat-tree"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    skip_without_prometheus()
    with machine() as place:
        place.environment["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
        place.do("up", DRILLS / "scenarios" / f"{TWIN}.yaml")
        yield place
        place.do("down")
        assert place.leftovers() == []


@pytest.fixture(scope="module")
def state(place: Machine) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((place.folder / "fabrictwin" / TWIN / "twin.json").read_text())
    return read


@pytest.fixture(scope="module")
def prometheus(state: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    targets = [
        Target(Service(service["service"]), shard, service["metrics_address"])
        for shard, service in state["services"].items()
    ]
    with running_prometheus(tmp_path_factory.mktemp("prometheus"), TWIN, targets) as server:
        server.wait_for_scrapes()
        yield server


def _run(place: Machine, state: dict[str, Any], prometheus: Prometheus, drill: str | Path) -> dict[str, Any]:
    where = ("--director", state["director"], "--prometheus", prometheus.url)
    run = place.run("drill", "run", drill, *where, "--json", "-")
    assert run.returncode in (0, 1), (run.stdout, run.stderr)
    journal: dict[str, Any] = json.loads(run.stdout)
    return journal


def test_alert_fires_and_both_times_are_told(
    place: Machine, state: dict[str, Any], prometheus: Prometheus
) -> None:
    journal = _run(place, state, prometheus, "degraded-link")
    assert journal["verdict"] == "PASS", journal["reasons"]
    assert journal["alerts"]["fired"] == ["LinkDegraded"]
    assert journal["detection"]["fabric_ttd_ns"] < 1e6
    assert journal["detection"]["monitoring_ttd_s"] > 0
    assert any(row["source"] == "prometheus" for row in journal["timeline"])


def test_drill_fails_when_its_alert_does_not_fire(
    place: Machine, state: dict[str, Any], prometheus: Prometheus, tmp_path: Path
) -> None:
    text = (DRILLS / "degraded-link.yaml").read_text()
    expected = "{alert: LinkDegraded, within: 60s}"
    assert expected in text
    drill = tmp_path / "quiet.yaml"
    drill.write_text(
        text.replace(expected, "{alert: SwitchDown, within: 5s}").replace(
            "scenarios/", f"{DRILLS}/scenarios/"
        )
    )
    journal = _run(place, state, prometheus, drill)
    assert journal["verdict"] == "FAIL_DETECT"
    assert journal["alerts"]["missed"] == ["SwitchDown"]
    assert "LinkDegraded" in journal["alerts"]["unexpected"]
