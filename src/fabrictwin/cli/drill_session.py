# SPDX-License-Identifier: Apache-2.0
"""What drills are run on: a twin of their own on this machine, or one that runs elsewhere."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import gmtime, strftime, time
from typing import Any

from fabrictwin.api.v1.director_pb2 import TwinState
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import diagnostics, printable
from fabrictwin.cli.output_file import write_text
from fabrictwin.cli.supervisor import end_twin, start_twin
from fabrictwin.drills.actions import ACTIONS, Hands
from fabrictwin.drills.containers import Containers
from fabrictwin.drills.drill import Drill
from fabrictwin.drills.journal import Run, write_journal
from fabrictwin.drills.judge import judge
from fabrictwin.drills.monitor import Monitor
from fabrictwin.drills.runner import Runner, Show
from fabrictwin.drills.runs import JOURNAL_FILE, OpenRun, dead_runs, forget_dead, open_run
from fabrictwin.drills.services import LocalServices, Services
from fabrictwin.drills.twin import Twin
from fabrictwin.drills.variant import scenario_text
from fabrictwin.errors import FabricTwinError, InputError, Problem
from fabrictwin.runtime.local_twins import known_twins, read_twin, twin_folder

EMBEDDED = "embedded"


@dataclass(frozen=True)
class Session:
    """Where and for whom drills are run.

    Attributes:
        runs: The folder of runs.
        operator: Who runs them.
        director: host:port of a twin that runs; None: each drill gets one of its own.
        has_containers: Whether that one runs in containers of this machine.
        prometheus: URL of Prometheus; None: there is none.
        alertmanager: URL of Alertmanager; None: there is none.
    """

    runs: Path
    operator: str
    director: str | None = None
    has_containers: bool = False
    prometheus: str | None = None
    alertmanager: str | None = None

    def check(self, drills: Sequence[Drill]) -> None:
        """Makes sure that the drills can be run here, before anything is started.

        Raises:
            InputError: With everything that does not fit.
        """
        problems = []
        if self.alertmanager and not self.prometheus:
            problems.append(Problem("'--alertmanager' wants '--prometheus' too", field="--alertmanager"))
        if self.prometheus and self.director is None:
            problems.append(Problem("'--prometheus' watches the twin of '--director'", field="--prometheus"))
        if self.has_containers and self.director is None:
            problems.append(Problem("'--containers' wants '--director' too", field="--containers"))
        able = self._able()
        for drill in drills:
            actions = [each for each in (*drill.method, *drill.rollbacks) if each.is_action]
            wanted = {each.func for each in actions if ACTIONS[each.func].is_of_service} - set(able)
            if wanted:
                what = f"{', '.join(sorted(wanted))} cannot be done here: they want containers"
                problems.append(Problem(what, file=str(drill.file)))
        if problems:
            raise InputError(problems)

    def _able(self) -> Sequence[str]:
        if self.director is None:
            return LocalServices.can
        return Containers.can if self.has_containers else ()

    def clear_left_overs(self) -> None:
        """Lists what runs that died have left over, and clears it away."""
        for run in dead_runs(self.runs):
            try:
                for text in self._clear(run):
                    diagnostics().print(f"left over of {run.id}: {printable(text)}", soft_wrap=True)
            except FabricTwinError as error:
                message = f"cannot clear what {run.id} has left over: {error}"
                diagnostics().print(printable(message), soft_wrap=True)
                continue
            forget_dead(self.runs, run)

    def _clear(self, run: OpenRun) -> Iterator[str]:
        if not run.director:
            if run.twin in known_twins():
                end_twin(run.twin)
                yield f"twin {run.twin} is ended"
            return
        with open_director(None, run.director) as stub:
            twin = Twin(stub, lambda: False)
            for fault in twin.faults():
                if fault.owner == run.id and fault.state in ("active", "scheduled"):
                    twin.clear(fault.id, run.id)
                    yield f"fault {fault.id} is cleared"
            for workload in twin.workloads():
                if workload.owner == run.id and workload.stop_ps < 0:
                    twin.stop_workload(workload.name, run.id)
                    yield f"workload {workload.name} is stopped"
        if run.containers:
            yield from Containers(run.twin).restore()

    def run(self, drill: Drill, negative: str, show: Show) -> dict[str, Any]:
        """Runs a drill; returns its journal, which is kept in the folder of runs too.

        Args:
            drill: The drill.
            negative: Name of the negative that it was made to.
            show: Takes what happens.

        Raises:
            FabricTwinError: There is no twin to run it on.
        """
        run_id = f"{drill.name}-{strftime('%Y%m%d-%H%M%S', gmtime())}-{secrets.token_hex(2)}"
        if self.director is None:
            return self._run_embedded(drill, negative, run_id, show)
        with open_director(None, self.director) as stub:
            twin = Twin(stub, lambda: False)
            status = twin.status()
            _check_scenario(drill, status.scenario_sha256)
            was_running = status.state == TwinState.TWIN_STATE_RUNNING
            record = OpenRun(run_id, drill.name, status.twin, self.director, self.has_containers)
            with open_run(self.runs, record) as folder:
                services = Containers(status.twin) if self.has_containers else None
                journal = self._perform(drill, negative, record, stub, services, show)
                _keep(folder, journal)
            if was_running and not twin.has_ended():
                twin.resume()
        return journal

    def _run_embedded(self, drill: Drill, negative: str, run_id: str, show: Show) -> dict[str, Any]:
        name = f"drill-{os.getpid()}"
        record = OpenRun(run_id, drill.name, name)
        with open_run(self.runs, record) as folder, _scenario_file(drill) as scenario:
            show("start", "bringing a twin up")
            try:
                with start_twin(name, scenario, None, is_paused=True) as (local, _):
                    pass
                with open_director(None, local.director) as stub:
                    services = LocalServices(lambda: _pids(name))
                    journal = self._perform(drill, negative, record, stub, services, show)
            finally:
                end_twin(name)
            _keep(folder, journal)
        return journal

    def _perform(
        self,
        drill: Drill,
        negative: str,
        record: OpenRun,
        stub: DirectorStub,
        services: Services | None,
        show: Show,
    ) -> dict[str, Any]:
        started_s = time()
        with _stop_on_signals() as stop:
            twin = Twin(stub, stop.is_set)
            status = twin.status()
            monitor = (
                None if self.prometheus is None else Monitor(self.prometheus, self.alertmanager, status.twin)
            )
            hands = Hands(twin, services, record.id, drill.lease_ps)
            course = Runner(drill, hands, monitor, not record.director, show).run()
            commands = twin.command_log()
        judgement = judge(drill, course)
        run = Run(
            record.id,
            self.operator,
            negative,
            record.director or EMBEDDED,
            status.twin,
            status.version,
            started_s,
            time(),
        )
        return write_journal(run, drill, course, judgement, commands)


def _pids(twin: str) -> Mapping[str, int]:
    state = read_twin(twin_folder(twin))
    return {} if state is None else {name: int(record["pid"]) for name, record in state.services.items()}


def _check_scenario(drill: Drill, sha256: str) -> None:
    if sha256 != drill.scenario.sha256:
        raise InputError.of(
            f"the twin runs another scenario than the drill: load {drill.scenario_file} into one, with "
            f"'fabrictwin up {drill.scenario_file} --director HOST:PORT'",
            file=str(drill.file),
        )


@contextmanager
def _scenario_file(drill: Drill) -> Iterator[Path]:
    """The scenario of a drill as a file, with what the drill changes in it."""
    if not drill.changes:
        yield drill.scenario_file
        return
    with TemporaryDirectory(prefix="fabrictwin-") as folder:
        file = Path(folder, drill.scenario_file.name)
        file.write_text(scenario_text(drill), encoding="utf-8")
        yield file


@contextmanager
def _stop_on_signals() -> Iterator[Event]:
    """SIGINT and SIGTERM set an event; whoever looks at it goes on to clean up."""
    stop = Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _keep(folder: Path, journal: Mapping[str, Any]) -> None:
    write_text(folder / JOURNAL_FILE, json.dumps(journal, indent=1) + "\n")
