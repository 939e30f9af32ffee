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

from fabrictwin.errors import EXIT_FAILURE
from fabrictwin.runtime.blueprint import DIRECTOR, Blueprint
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import check_free, delete_twin
from fabrictwin.runtime.directory import ServiceRecord, TwinDirectory
from fabrictwin.runtime.embedded_redis import EmbeddedRedis, die_with_parent
from fabrictwin.runtime.local_twins import STATE_FILE, TARGETS_FILE
from fabrictwin.runtime.processor import Seat, assign_seats, stay_on, usable_cpus
from fabrictwin.runtime.service import Service, serve
from fabrictwin.runtime.settings import Settings, ShardOf
from fabrictwin.telemetry import Service as Name
from fabrictwin.telemetry import Target, target_groups

POLL_S = 0.02
END_WITHIN_S = 30.0
MOST_DEATHS, DEATHS_WITHIN_S = 5, 60.0
"""A process that was killed is started again, but not more often than this within so many seconds."""

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
        self._seats: dict[str, Seat] = {}
        if settings.cpu is None:
            self._seats = assign_seats(usable_cpus(), blueprint.shards, takes_turns=blueprint.takes_turns)
            settings = replace(settings, cpu=self._seats[blueprint.shards[-1]].cpu)
        self._settings = settings
        self._folder = folder
        self._blueprint = blueprint
        self._members = members
        self._pids: dict[int, Member] = {}
        self._deaths: dict[str, list[float]] = {}
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
            # Before a service of it could be taken for one of the twin that is there.
            check_free(connect(self._settings.redis), self._settings.twin)
            for name in (STATE_FILE, TARGETS_FILE):
                closing.callback((self._folder / name).unlink, missing_ok=True)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._end)
            for member in self._members:
                self._fork(member, os.O_TRUNC)
            code = self._watch()
            self._forget()
            return code

    def _fork(self, member: Member, log_flag: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self._pids[pid] = member
            return
        code = EXIT_FAILURE
        try:
            code = self._be(member, parent, log_flag)
        finally:
            os._exit(code)

    def _be(self, member: Member, parent: int, log_flag: int) -> int:
        """What a child does."""
        ask = die_with_parent()
        if ask is not None:
            ask()
        if os.getppid() != parent:
            return EXIT_FAILURE
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        path = self._folder / f"{member.process}.log"
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | log_flag, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        settings = replace(self._settings, shard=member.shard)
        if member.process in self._seats:
            seat = self._seats[member.process]
            look = settings.look or seat.look_us
            settings = replace(settings, cpu=seat.cpu, shared_cpu=seat.shared_cpu, look=look)
        return serve(member.make(settings, self._blueprint), settings)

    def _watch(self) -> int:
        """Waits for the children; when the director ends, so do all. Returns the worst exit code."""
        directory = TwinDirectory(connect(self._settings.redis), self._settings.twin)
        worst = 0
        deadline = 0.0
        while self._pids:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                if self._take_leave(self._pids.pop(pid), os.waitstatus_to_exitcode(status)):
                    worst = EXIT_FAILURE
                continue
            if not self._is_announced:
                self._announce(directory)
            if self._is_ending:
                deadline = deadline or monotonic() + END_WITHIN_S
                if monotonic() > deadline:
                    self._signal(signal.SIGKILL)
            sleep(POLL_S)
        return worst

    def _take_leave(self, member: Member, code: int) -> bool:
        """Starts a process again that was killed, if it may be; returns whether it is gone for bad.

        A process that ends with an error has found something wrong, and would again.
        """
        name = member.process
        if name == DIRECTOR:
            self._end()
        if code == 0:
            return False
        what = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        print(f"{name} {what}: see {self._folder / name}.log", file=sys.stderr)
        if code > 0 or self._is_ending or self._settings.checkpoint == 0:
            return True
        since_s = monotonic() - DEATHS_WITHIN_S
        deaths = [at_s for at_s in self._deaths.get(name, ()) if at_s > since_s]
        self._deaths[name] = [*deaths, monotonic()]
        if len(deaths) >= MOST_DEATHS:
            print(f"{name} is not started again: it was {len(deaths)} times of late", file=sys.stderr)
            return True
        self._is_announced = False
        self._fork(member, 0)
        return False

    def _announce(self, directory: TwinDirectory) -> None:
        """Writes down where everybody listens, once all do."""
        services = directory.services()
        if not {service.pid for service in services.values()} >= self._pids.keys():
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
