# SPDX-License-Identifier: Apache-2.0
"""All services of a twin on this machine, as children of one process.

It imports everything, reads the scenario and loads the kernels once, and then forks a process for each
service, before any thread exists. The children are ordinary services: they meet on the bus, and each could as
well have been started by itself. When this process ends, however it does, so do they.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from types import FrameType

from fabrictwin.runtime.blueprint import DIRECTOR, Blueprint
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import delete_twin
from fabrictwin.runtime.directory import ServiceRecord, TwinDirectory
from fabrictwin.runtime.embedded_redis import EmbeddedRedis, die_with_parent
from fabrictwin.runtime.local_twins import STATE_FILE, TARGETS_FILE
from fabrictwin.runtime.processor import choose_cpu, stay_on
from fabrictwin.runtime.service import Service, serve
from fabrictwin.runtime.settings import Settings, ShardOf
from fabrictwin.telemetry import Service as Name
from fabrictwin.telemetry import Target, target_groups

POLL_S = 0.02
END_WITHIN_S = 10.0
EXIT_FAILURE = 3

Make = Callable[[Settings, Blueprint], Service]


@dataclass(frozen=True, slots=True)
class Member:
    """One process of the stack.

    Attributes:
        process: Name of its logical process.
        make: Makes the service.
        shard: Which of how many.
    """

    process: str
    make: Make
    shard: ShardOf


class LocalStack:
    """The processes of one twin.

    Args:
        settings: Those of every service; ports must be 0.
        folder: The twin's runtime folder: state file, logs, socket of an embedded Redis server.
        blueprint: The scenario.
        members: The services, the director first.
    """

    def __init__(
        self, settings: Settings, folder: Path, blueprint: Blueprint, members: tuple[Member, ...]
    ) -> None:
        self._settings = settings
        if settings.cpu is None and blueprint.takes_turns:
            self._settings = replace(settings, cpu=choose_cpu())
        self._folder = folder
        self._blueprint = blueprint
        self._members = members
        self._pids: dict[int, str] = {}
        self._is_ending = False
        self._is_announced = False

    def run(self, *, embedded: bool) -> int:
        """Runs until the director ends, or this process is told to; returns the exit code.

        Args:
            embedded: Start a Redis server too.

        Raises:
            FabricTwinError: Redis cannot be started or used.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as closing:
            if embedded:
                server = closing.enter_context(EmbeddedRedis(self._folder))
                stay_on(self._settings.cpu, server.pid)
                self._settings = replace(self._settings, redis=server.url)
            for name in (STATE_FILE, TARGETS_FILE):
                closing.callback((self._folder / name).unlink, missing_ok=True)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._end)
            for member in self._members:
                self._fork(member)
            code = self._watch()
            self._forget()
            return code

    def _fork(self, member: Member) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self._pids[pid] = member.process
            return
        code = EXIT_FAILURE
        try:
            code = self._be(member, parent)
        finally:
            os._exit(code)

    def _be(self, member: Member, parent: int) -> int:
        """What a child does."""
        ask = die_with_parent()
        if ask is not None:
            ask()
        if os.getppid() != parent:
            return EXIT_FAILURE
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        log = os.open(self._folder / f"{member.process}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        settings = replace(self._settings, shard=member.shard)
        return serve(member.make(settings, self._blueprint), settings)

    def _watch(self) -> int:
        """Waits for the children; the first that ends by itself ends all. Returns the worst exit code."""
        directory = TwinDirectory(connect(self._settings.redis), self._settings.twin)
        worst = 0
        deadline = 0.0
        while self._pids:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                name = self._pids.pop(pid)
                code = abs(os.waitstatus_to_exitcode(status))
                if code:
                    print(f"{name} ended with code {code}: see {self._folder / name}.log", file=sys.stderr)
                    worst = EXIT_FAILURE
                if name == DIRECTOR:
                    self._end()
                continue
            if not self._is_announced:
                self._announce(directory)
            if self._is_ending:
                deadline = deadline or monotonic() + END_WITHIN_S
                if monotonic() > deadline:
                    self._signal(signal.SIGKILL)
            sleep(POLL_S)
        return worst

    def _announce(self, directory: TwinDirectory) -> None:
        """Writes down where everybody listens, once all do."""
        services = directory.services()
        if not all(member.process in services for member in self._members):
            return
        self._is_announced = True
        write_state(self._folder, self._settings, services)

    def _end(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Tells all children to end; told again, they hurry."""
        self._is_ending = True
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _forget(self) -> None:
        """Removes the twin's keys."""
        with suppress(BusError):
            delete_twin(connect(self._settings.redis), self._settings.twin)


def write_state(folder: Path, settings: Settings, services: Mapping[str, ServiceRecord]) -> None:
    """Writes ``twin.json`` (twin, pid, redis, director, services) and, before it, Prometheus' targets."""
    state = {
        "twin": settings.twin,
        "pid": os.getpid(),
        "redis": settings.redis,
        "director": services[DIRECTOR].address,
        "services": {name: asdict(record) for name, record in services.items()},
    }
    targets = [
        Target(Name(record.service), process, record.metrics_address) for process, record in services.items()
    ]
    _write(folder / TARGETS_FILE, target_groups(settings.twin, targets))
    _write(folder / STATE_FILE, state)


def _write(target: Path, content: object) -> None:
    partial = target.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(target)
