# SPDX-License-Identifier: Apache-2.0
"""docker-compose.yml fits its scenario, gives no container a right that it does not need, and is valid."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fabrictwin.engine.partition import split_by_kind
from fabrictwin.model.scenario import load_scenario
from fabrictwin.telemetry import Service, Target, target_groups

REPOSITORY = Path(__file__).resolve().parents[2]
SCENARIO = REPOSITORY / "deploy" / "scenarios" / "composed.yaml"
TWIN = "composed"
PREFIXES = {
    "sm": Service.SUBNET_MANAGER,
    "switch": Service.SWITCH_NODE,
    "hca": Service.HCA_ENDPOINT,
    "cc": Service.CONGESTION_CONTROL,
    "director": Service.DIRECTOR,
}
COMPOSE_FILE: dict[str, Any] = YAML(typ="safe").load(REPOSITORY / "docker-compose.yml")
CONTAINERS: dict[str, dict[str, Any]] = COMPOSE_FILE["services"]
SOCKET = "${DOCKER_SOCKET}:/var/run/docker.sock"
SETTINGS = dict(
    line.split("=", 1)
    for line in (REPOSITORY / ".env").read_text().splitlines()
    if line and not line.startswith("#")
)


def _processes() -> list[str]:
    """The logical processes of the scenario, the director among them."""
    scenario = load_scenario(SCENARIO)
    deployment = scenario.deployment
    partition = split_by_kind(scenario.fabric, deployment.switch_shards, deployment.hca_shards)
    managers = [f"sm{number}" for number in range(len(scenario.managers))]
    return ["director", *partition.names, *managers]


def _split(process: str) -> tuple[str, str]:
    """Prefix and number of a logical process."""
    prefix = process.rstrip("0123456789")
    return prefix, process.removeprefix(prefix)


def test_core_is_redis_and_the_processes_of_the_scenario() -> None:
    core = {name for name, container in CONTAINERS.items() if "profiles" not in container}
    assert core == {"redis", *_processes()}
    assert SETTINGS["SCENARIO"] == SCENARIO.name


def test_each_process_runs_its_service_with_its_shard() -> None:
    processes = _processes()
    for process in processes:
        prefix, number = _split(process)
        command = [*CONTAINERS[process]["command"]]
        assert command[:3] == ["python3", "-m", f"services.{PREFIXES[prefix]}"]
        count = sum(_split(other)[0] == prefix for other in processes)
        assert command[3:] == (["--shard", f"{number}/{count}"] if number else command[3:])
        assert CONTAINERS[process]["environment"]["FABRICTWIN_ADVERTISE"] == process
        assert CONTAINERS[process]["environment"]["FABRICTWIN_TWIN"] == TWIN


def test_prometheus_scrapes_each_process() -> None:
    targets = [Target(PREFIXES[_split(name)[0]], name, f"{name}:9464") for name in _processes()]
    written = json.loads((REPOSITORY / "deploy" / "prometheus" / "composed" / "targets.json").read_text())
    assert written == target_groups(TWIN, targets)


@pytest.mark.parametrize("name", CONTAINERS)
def test_container_has_no_more_rights_than_it_needs(name: str) -> None:
    container = CONTAINERS[name]
    assert container["read_only"] is True
    assert container["init"] is True
    assert container["cap_drop"] == ["ALL"]
    assert container["security_opt"] == ["no-new-privileges:true"]
    assert not container["user"].startswith(("0", "root"))
    assert {"mem_limit", "cpus", "pids_limit"} <= container.keys()
    assert not container.keys() & {"privileged", "network_mode", "pid", "cap_add", "devices"}
    assert (SOCKET in container.get("volumes", [])) == (name == "drills")
    mounts = [volume for volume in container.get("volumes", ()) if volume.startswith("./")]
    assert [mount for mount in mounts if not mount.endswith(":ro")] == []


@pytest.mark.parametrize("name", CONTAINERS)
def test_container_is_marked_as_ours(name: str) -> None:
    labels = CONTAINERS[name]["labels"]
    prefix = _split(name)[0]
    assert labels.get("io.fabrictwin.twin", "") == ("" if name == "drills" else TWIN)
    assert labels["io.fabrictwin.service"] == PREFIXES.get(prefix, name)
    assert labels.get("io.fabrictwin.process", "") == (name if prefix in PREFIXES else "")


def test_ports_are_of_this_machine_alone_and_of_what_people_use() -> None:
    ports = {name: container["ports"] for name, container in CONTAINERS.items() if "ports" in container}
    assert ports.keys() == {"director", "prometheus", "alertmanager", "grafana"}
    for name, (port,) in ports.items():
        assert re.fullmatch(rf"127\.0\.0\.1:\$\{{{name.upper()}_PORT\}}:\d+", port)


def test_images_and_ports_stand_in_the_environment_file_with_versions() -> None:
    text = (REPOSITORY / "docker-compose.yml").read_text()
    assert set(re.findall(r"\$\{(\w+)\}", text)) == SETTINGS.keys() - {"COMPOSE_PROJECT_NAME"}
    for name, value in SETTINGS.items():
        assert not name.endswith("_IMAGE") or re.search(r":v?\d+\.\d+\.\d+", value), name
    pinned = re.search(r"^ARG PYTHON_IMAGE=(.*)$", (REPOSITORY / "deploy" / "Dockerfile").read_text(), re.M)
    assert pinned is not None
    assert pinned[1] == SETTINGS["PYTHON_IMAGE"]


@pytest.mark.parametrize("command", [["docker", "compose"], ["docker-compose"]], ids=" ".join)
def test_compose_takes_the_file(command: list[str]) -> None:
    if not shutil.which(command[0]) or subprocess.run([*command, "version"], capture_output=True).returncode:
        pytest.skip(f"{' '.join(command)} is not installed")
    options = [option for name in ("observability", "drills") for option in ("--profile", name)]
    told = subprocess.run(
        [*command, *options, "config", "-q"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
