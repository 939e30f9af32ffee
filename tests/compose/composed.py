# SPDX-License-Identifier: Apache-2.0
"""The twin of docker-compose.yml as `make up` brings it up, beside whatever else runs on this machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.models.containers import Container

from compose.engine import Engine
from compose.stand_ins import REPOSITORY, images_at_hand
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.cli.connection import open_director
from integration.patience import PATIENCE_S, wait_until
from integration.real_prometheus import Prometheus

PROJECT = f"fabrictwin-test-{os.getpid()}"
BUILD_S = 1800.0
OBSERVERS = ("prometheus", "alertmanager")
"""Grafana is in no Debian: its files are checked by other tests."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PORTS = ("DIRECTOR_PORT", "PROMETHEUS_PORT", "ALERTMANAGER_PORT", "GRAFANA_PORT")


@dataclass(frozen=True)
class ComposedTwin:
    """A twin in containers.

    Attributes:
        director: host:port of its director.
        prometheus: URL of its Prometheus.
        alertmanager: URL of its Alertmanager.
        docker: A client of the engine.
        environment: For commands that deal with it: DOCKER_HOST, project, ports.
        healthy_s: Wall seconds from the end of the build until all were healthy and fabric time went on.
    """

    director: str
    prometheus: str
    alertmanager: str
    docker: docker.DockerClient
    environment: Mapping[str, str]
    healthy_s: float

    @property
    def metrics(self) -> Prometheus:
        """Its Prometheus, to be asked."""
        return Prometheus(self.prometheus)

    def containers(self) -> dict[str, Container]:
        """Its containers by the names of their services in the file, also those that have ended."""
        found = self.docker.containers.list(
            all=True, filters={"label": f"com.docker.compose.project={PROJECT}"}
        )
        return {each.labels["com.docker.compose.service"]: each for each in found}

    def container(self, name: str) -> Container:
        """The container of a service."""
        return self.containers()[name]

    def compose(self, *arguments: str) -> str:
        """Runs docker-compose on it; returns what it prints."""
        script = '. deploy/compose.sh; compose "$@"'
        return run(["sh", "-c", script, "compose", *arguments], self.environment)

    def fabrictwin(self, *arguments: str) -> str:
        """Runs the command line on this machine against it; returns what it prints."""
        command = [sys.executable, "-m", "fabrictwin.cli.main", *arguments, "--director", self.director]
        return run(command, self.environment)

    def status(self) -> pb.StatusResponse:
        """How it is."""
        with open_director(None, self.director) as stub:
            return stub.Status(pb.StatusRequest(), timeout=PATIENCE_S)

    def wait_for_health(self, process: str, health: str) -> None:
        """Waits until the director knows how a logical process is."""
        wait_until(
            lambda: any((each.shard, each.health) == (process, health) for each in self.status().services),
            self.status,
        )

    def wait_for_progress(self) -> None:
        """Waits until fabric time has gone on."""
        before_ps = self.status().fabric_time_ps
        wait_until(lambda: self.status().fabric_time_ps > before_ps, self.status)


@contextmanager
def injected(twin: ComposedTwin, kind: str, *arguments: str) -> Iterator[None]:
    """Injects a fault, and clears it behind the block."""
    name = f"composed-{kind}"
    twin.fabrictwin("fault", "inject", kind, *arguments, "--duration", "10s", "--name", name)
    try:
        yield
    finally:
        twin.fabrictwin("fault", "clear", name)


def run(command: list[str], environment: Mapping[str, str]) -> str:
    """Runs a command in the repository; what it says is in the error if it fails."""
    done = subprocess.run(
        command, env=dict(environment), cwd=REPOSITORY, capture_output=True, text=True, timeout=BUILD_S
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@contextmanager
def composed_twin_on(engine: Engine, folder: Path) -> Iterator[ComposedTwin]:
    """Brings the twin up with `make up`, and its observers, and down with `make down`; nothing must be left.

    Args:
        engine: The engine.
        folder: For its secrets.
    """
    environment = _environment(engine, folder / "secrets")
    with images_at_hand(engine, _settings() | environment):
        try:
            said = run(["make", "up", "PROFILES="], environment)
            print(said[-1500:])
            healthy = re.search(r"up and healthy in (\d+) s", said)
            assert healthy is not None, said
            host = "127.0.0.1"
            twin = ComposedTwin(
                f"{host}:{environment['DIRECTOR_PORT']}",
                f"http://{host}:{environment['PROMETHEUS_PORT']}",
                f"http://{host}:{environment['ALERTMANAGER_PORT']}",
                engine.client,
                environment,
                float(healthy[1]),
            )
            twin.compose("up", "-d", "--no-build", *OBSERVERS)
            for name in OBSERVERS:
                _wait_until_healthy(twin, name)
            yield twin
        finally:
            run(["make", "down"], environment)
        assert left_of(engine.client, folder) == []


def left_of(client: docker.DockerClient, folder: Path) -> list[str]:
    """What is left of the twin: containers, networks, volumes, secrets."""
    label = {"label": f"com.docker.compose.project={PROJECT}"}
    found = [each.name for each in client.containers.list(all=True, filters=label)]
    found += [each.name for each in client.networks.list(filters=label)]
    found += [each.name for each in client.volumes.list(filters=label)]
    return found + [path.name for path in folder.iterdir()]


def _wait_until_healthy(twin: ComposedTwin, name: str) -> None:
    def health() -> str:
        return str(twin.container(name).attrs["State"]["Health"]["Status"])

    wait_until(lambda: health() == "healthy", lambda: twin.container(name).logs()[-3000:])


def _environment(engine: Engine, secrets: Path) -> dict[str, str]:
    environment = os.environ | {
        "DOCKER_HOST": engine.host,
        **_socket(engine.host),
        "COMPOSE_PROJECT_NAME": PROJECT,
        "SECRETS": str(secrets),
        "PYTHONPATH": os.pathsep.join(str(REPOSITORY / name) for name in ("src", ".")),
    }
    if CERTIFICATES.exists():
        target = REPOSITORY / "build" / "ca-certificates.pem"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(CERTIFICATES, target)
        environment["CA_CERTIFICATES"] = str(target.relative_to(REPOSITORY))
    return environment | dict(zip(_PORTS, map(str, _free_ports(len(_PORTS))), strict=True))


def _socket(host: str) -> dict[str, str]:
    """What the drills' container needs to reach the engine, if it is one of this machine."""
    path = Path(host.removeprefix("unix://"))
    return {"DOCKER_SOCKET": str(path), "DOCKER_GROUP": str(path.stat().st_gid)} if path.is_socket() else {}


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _settings() -> dict[str, str]:
    """What .env says."""
    lines = (REPOSITORY / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
