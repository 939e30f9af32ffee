# SPDX-License-Identifier: Apache-2.0
"""The twin of docker-compose.yml, brought up: it runs, is watched, takes a loss, has no right too many."""

from __future__ import annotations

import json
from pathlib import Path
from time import time
from typing import Any
from urllib.request import urlopen

import pytest

from compose.composed import ComposedTwin
from compose.stand_ins import REPOSITORY
from fabrictwin.api.v1 import director_pb2 as pb
from integration.patience import wait_until

pytestmark = pytest.mark.compose

TARGETS = REPOSITORY / "deploy" / "prometheus" / "composed" / "targets.json"
PROCESSES = ("director", "sm0", "sm1", "switch0", "switch1", "hca0", "hca1", "cc")
CONTAINERS = ("redis", *PROCESSES, "prometheus", "alertmanager")
KILLED = 137


def _exec(twin: ComposedTwin, name: str, command: str) -> tuple[int, str]:
    code, output = twin.container(name).exec_run(["sh", "-c", command])
    return code, output.decode()


def test_all_containers_are_healthy_and_fabric_time_goes_on(
    composed_twin: ComposedTwin, record_property: Any
) -> None:
    record_property("healthy_s", composed_twin.healthy_s)
    print(f"all healthy and running {composed_twin.healthy_s:.0f} s after the build; the aim is 90 s")
    health = {
        name: each.attrs["State"]["Health"]["Status"] for name, each in composed_twin.containers().items()
    }
    assert health == dict.fromkeys(CONTAINERS, "healthy")
    status = composed_twin.status()
    assert (status.twin, status.scenario, status.state) == ("composed", "composed", pb.TWIN_STATE_RUNNING)
    assert {each.shard: each.health for each in status.services} == dict.fromkeys(PROCESSES[1:], "serving")
    composed_twin.wait_for_progress()


def test_command_line_of_this_machine_reaches_the_director(composed_twin: ComposedTwin) -> None:
    said = composed_twin.fabrictwin("status")
    assert "composed: running" in said
    assert "switch1:7000" in said


def test_prometheus_scrapes_every_service(composed_twin: ComposedTwin) -> None:
    metrics = composed_twin.metrics
    expected = {group["labels"]["shard"] for group in json.loads(TARGETS.read_text())}
    metrics.wait_for(f"count(up == 1) == {len(expected)}")
    assert {sample.labels["shard"] for sample in metrics.query("up == 1")} == expected
    assert [each["lastError"] for each in metrics.targets()] == [""] * len(expected)
    metrics.wait_for('increase(fabrictwin_fabric_seconds_total{shard="switch0"}[30s]) > 0')


def test_prometheus_has_loaded_every_rule_and_finds_alertmanager(composed_twin: ComposedTwin) -> None:
    rules = composed_twin.metrics.rules()
    assert rules
    wait_until(lambda: all(rule["health"] == "ok" for rule in composed_twin.metrics.rules()))
    wait_until(lambda: _alertmanagers(composed_twin) == ["http://alertmanager:9093/api/v2/alerts"])
    with urlopen(f"{composed_twin.alertmanager}/api/v2/status") as answer:
        assert 'alertname="SwitchDown"' in json.load(answer)["config"]["original"]


def _alertmanagers(twin: ComposedTwin) -> list[str]:
    """Those that Prometheus sends alerts to."""
    with urlopen(f"{twin.prometheus}/api/v1/alertmanagers") as answer:
        return [each["url"] for each in json.load(answer)["data"]["activeAlertmanagers"]]


@pytest.mark.parametrize("name", CONTAINERS)
def test_container_runs_without_rights(composed_twin: ComposedTwin, name: str) -> None:
    settings = composed_twin.container(name).attrs["HostConfig"]
    assert settings["ReadonlyRootfs"]
    assert settings["Init"]
    assert not settings["Privileged"]
    assert settings["CapDrop"] == ["ALL"]
    assert settings["SecurityOpt"] == ["no-new-privileges:true"]
    assert min(settings[key] for key in ("Memory", "NanoCpus", "PidsLimit")) > 0
    assert {port["HostIp"] for ports in settings["PortBindings"].values() for port in ports} <= {"127.0.0.1"}
    assert not any(
        "docker.sock" in mount["Source"] for mount in composed_twin.container(name).attrs["Mounts"]
    )
    code, output = _exec(
        composed_twin, name, "id -u; grep -E 'CapEff|NoNewPrivs' /proc/1/status; touch /mine"
    )
    assert code != 0
    assert "Read-only file system" in output
    assert not output.startswith("0\n")
    assert "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n" in output


def test_containers_start_warm(composed_twin: ComposedTwin) -> None:
    for name in PROCESSES:
        _, kernels = _exec(composed_twin, name, 'find "$FABRICTWIN_CACHE" -name "*.nbc" -type l | wc -l')
        assert int(kernels) > 100
        code, compiled = _exec(composed_twin, name, 'find "$FABRICTWIN_CACHE" -name "*.nbc" -type f')
        assert (code, compiled) == (0, ""), f"{name} has compiled kernels"


def test_redis_lets_in_who_has_the_secret_and_only_to_the_keys_of_twins(composed_twin: ComposedTwin) -> None:
    def ask(command: str) -> str:
        return _exec(composed_twin, "redis", f"redis-cli --no-auth-warning {command}")[1]

    assert "NOAUTH" in ask("get x")
    assert "NOPERM" in ask("--user health --pass '' get x")
    url = _exec(composed_twin, "director", "cat /run/secrets/redis_url")[1].strip()
    url = url.replace("@redis:", "@127.0.0.1:")
    assert "redis_version" in ask(f"-u {url} info server")
    for command in ("flushall", "config get '*'", "get x", "acl list", "eval 'return 1' 0"):
        assert "NOPERM" in ask(f"-u {url} {command}"), command


def test_secrets_are_nowhere_but_in_their_files(composed_twin: ComposedTwin) -> None:
    folder = Path(composed_twin.environment["SECRETS"])
    assert folder.stat().st_mode & 0o077 == 0
    secrets = [
        (folder / "redis_url").read_text().split(":")[2].split("@")[0],
        (folder / "grafana_password").read_text(),
    ]
    assert min(map(len, secrets)) >= 32
    image = composed_twin.container("director").image
    shown = json.dumps(image.history()) + composed_twin.compose("config")
    for name, container in composed_twin.containers().items():
        shown += json.dumps(container.attrs) + container.logs().decode()
        shown += _exec(composed_twin, name, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null")[1]
    assert [secret for secret in secrets if secret in shown] == []


def test_service_whose_process_is_killed_is_started_again(composed_twin: ComposedTwin) -> None:
    container = composed_twin.container("hca1")
    before = container.attrs["RestartCount"]
    (pid,) = (each.pid for each in composed_twin.status().services if each.shard == "hca1")
    assert _exec(composed_twin, "hca1", f"kill -9 {pid}")[0] == 0

    def restarts() -> int:
        container.reload()
        return int(container.attrs["RestartCount"])

    wait_until(lambda: restarts() == before + 1)
    wait_until(lambda: container.logs().decode().count('"event": "recovered"') > 0)
    composed_twin.wait_for_health("hca1", "serving")
    composed_twin.wait_for_progress()


def test_killed_switch_is_missed_and_goes_on_exactly_when_it_is_back(composed_twin: ComposedTwin) -> None:
    container = composed_twin.container("switch0")
    container.kill()
    composed_twin.wait_for_health("switch0", "unreachable")
    health = {each.shard: each.health for each in composed_twin.status().services}
    assert health == dict.fromkeys(PROCESSES[1:], "serving") | {"switch0": "unreachable"}
    composed_twin.metrics.wait_for('up{shard="switch0"} == 0')
    container.reload()
    assert (container.status, container.attrs["State"]["ExitCode"]) == ("exited", KILLED)
    stands_ps = composed_twin.status().fabric_time_ps
    composed_twin.metrics.wait_for(f'timestamp(up{{shard="director"}}) > {time()}')
    assert composed_twin.status().fabric_time_ps == stands_ps

    container.start()
    composed_twin.wait_for_health("switch0", "serving")
    composed_twin.wait_for_progress()
    assert '"event": "recovered"' in container.logs().decode()
    live, replayed = _digests(composed_twin)
    assert live == replayed


def _digests(twin: ComposedTwin) -> tuple[str, str]:
    """Its digest where it stands now, and that of the same in one process, where nobody was killed."""
    for verb in ("pause", "result --json live.json --commands commands", "resume"):
        code, output = _exec(twin, "director", f"cd /tmp && fabrictwin {verb} --director 127.0.0.1:7000")
        assert code == 0, output
    live = json.loads(_exec(twin, "director", "cat /tmp/live.json")[1])
    until = f"--until {live['fabric_time_ns']:.0f}ns"
    command = f"fabrictwin simulate /scenarios/composed.yaml {until} --commands commands --json replay.json"
    code, output = _exec(twin, "director", f"cd /tmp && {command}")
    assert code == 0, output
    replay = json.loads(_exec(twin, "director", "cat /tmp/replay.json")[1])
    return live["digest"], replay["digest"]
