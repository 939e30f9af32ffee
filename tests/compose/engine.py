# SPDX-License-Identifier: Apache-2.0
"""A container engine to test with: the one of this machine, or a private one, of which nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException

from fabrictwin.runtime.embedded_redis import die_with_parent
from integration.patience import PATIENCE_S, wait_until

STORAGE = ([], ["--storage-driver=vfs"])
"""Options to try one after the other: vfs works where a file system cannot be laid over another."""
BRIDGE = "docker0"


@dataclass(frozen=True)
class Engine:
    """A running engine.

    Attributes:
        host: Its address, as in DOCKER_HOST.
        client: A client of it.
        is_private: Whether it was started for the tests.
    """

    host: str
    client: docker.DockerClient
    is_private: bool


def skip_loudly(reason: str) -> None:
    """Skips, and says so where nobody overlooks it."""
    message = f"NOTHING OF THE TWIN IN CONTAINERS IS TESTED HERE: {reason}"
    print(f"\n{'!' * 100}\n{message}\n{'!' * 100}", flush=True)
    pytest.skip(message)


@contextmanager
def running_engine() -> Iterator[Engine]:
    """The engine of this machine if one answers, else a private one; skips where there can be none."""
    if (here := _engine_of_this_machine()) is not None:
        yield here
        return
    if os.getuid() != 0:
        skip_loudly("no engine runs, and only root can start one")
    for program in ("dockerd", "docker"):
        if shutil.which(program) is None:
            skip_loudly(f"{program} is not installed (Debian package docker.io)")
    with _private_engine() as engine:
        yield engine


def _engine_of_this_machine() -> Engine | None:
    with suppress(DockerException):
        client = docker.from_env()
        client.ping()
        return Engine(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"), client, False)
    return None


@contextmanager
def _private_engine() -> Iterator[Engine]:
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="ft-engine-"))
    try:
        with _network_restored(), (folder / "log").open("wb") as log:
            for options in STORAGE:
                process = _start(folder, options, log.fileno())
                try:
                    if _answers(process, folder):
                        host = _host(folder)
                        yield Engine(host, docker.DockerClient(base_url=host), True)
                        return
                finally:
                    _end(process)
            words = (folder / "log").read_text(errors="replace").strip().splitlines()
            skip_loudly(f"dockerd does not start: {words[-1] if words else 'it says nothing'}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _host(folder: Path) -> str:
    return f"unix://{folder}/docker.sock"


def _start(folder: Path, options: list[str], log: int) -> subprocess.Popen[bytes]:
    command = ["dockerd", "--host", _host(folder), "--data-root", str(folder / "data")]
    command += ["--exec-root", str(folder / "exec"), "--pidfile", str(folder / "pid"), *options]
    return subprocess.Popen(
        command, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent()
    )


def _answers(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Waits until an engine answers; false if it ends instead."""

    def is_there() -> bool:
        with suppress(DockerException):
            return bool(docker.DockerClient(base_url=_host(folder)).ping())
        return False

    wait_until(lambda: process.poll() is not None or is_there())
    return process.poll() is None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends an engine with its containers; one that does not listen is killed with its helpers."""
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _network_restored() -> Iterator[None]:
    """Puts back what an engine leaves behind when it ends: rules of the firewall, and its bridge."""
    had_bridge = Path("/sys/class/net", BRIDGE).exists()
    rules = subprocess.run(["iptables-save"], capture_output=True)
    try:
        yield
    finally:
        if rules.returncode == 0:
            subprocess.run(["iptables-restore"], input=rules.stdout, check=True)
        if not had_bridge and shutil.which("ip"):
            subprocess.run(["ip", "link", "delete", BRIDGE], capture_output=True)
