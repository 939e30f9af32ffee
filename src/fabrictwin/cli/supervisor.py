# SPDX-License-Identifier: Apache-2.0
"""Starting and ending the processes of a twin on this machine, so that none of it is ever left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from fabrictwin.api.v1.director_pb2 import ShutdownRequest, StatusResponse
from fabrictwin.cli.connection import TwinError, open_director
from fabrictwin.cli.first_step import POLL_S, START_S, wait_for_first_step
from fabrictwin.cli.owner import owner_or_user
from fabrictwin.errors import EXIT_INPUT, FabricTwinError, InputError, Problem
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import delete_twin
from fabrictwin.runtime.embedded_redis import stop_left_behind
from fabrictwin.runtime.local_twins import (
    LOCK_FILE,
    LocalTwin,
    clear_folder,
    is_alive,
    lock_folder,
    read_twin,
    twin_folder,
)

END_S = 20.0
KILL_S = 5.0
_LOG = "supervisor.log"
_LINES_SHOWN = 10


@contextmanager
def start_twin(
    name: str, scenario: Path, redis: str | None, *, is_paused: bool = False
) -> Iterator[tuple[LocalTwin, StatusResponse]]:
    """Starts a twin in the background, and waits until its fabric time goes on.

    Args:
        name: Its name.
        scenario: Scenario file.
        redis: URL of a Redis server; None: it starts one of its own.
        is_paused: Let it wait at fabric time 0 instead.

    Yields:
        It, and its first status. If the block ends with an exception, the twin ends too.

    Raises:
        InputError: There is one of this name, or the scenario is wrong.
        TwinError: It did not start; nothing is left of it.
    """
    folder = twin_folder(name)
    try:
        with lock_folder(folder) as lock:
            stop_left_behind(folder)
            clear_folder(folder, keep_lock=True)
            process = None
            try:
                with _interrupts_held():
                    process = _spawn(name, scenario, redis, folder, lock, is_paused=is_paused)
                twin = _wait_for_state(process, folder)
                yield twin, _wait_for_step(process, twin)
            except BaseException:
                if process is not None:
                    _terminate(process)
                clear_folder(folder, keep_lock=False)
                raise
    except BlockingIOError:
        raise InputError.of(
            f"a twin {name!r} runs already: end it with 'fabrictwin down --twin {name}', or give this one "
            f"another name with --twin",
            field="--twin",
        ) from None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C in the block takes effect behind it: a process that is just being started would be lost."""
    arrived: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: arrived.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if arrived:
        signal.raise_signal(signal.SIGINT)


def _spawn(
    name: str, scenario: Path, redis: str | None, folder: Path, lock: int, *, is_paused: bool
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "services", "--twin", name]
    command += ["--scenario", str(scenario.absolute()), "--state-dir", str(folder)]
    command += [] if redis is None else ["--redis", redis]
    command += ["--paused"] if is_paused else []
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock,),
        )
    os.pwrite(lock, f"{process.pid}\n".encode(), 0)
    return process


def _wait_for_state(process: subprocess.Popen[bytes], folder: Path) -> LocalTwin:
    deadline = monotonic() + START_S
    while True:
        _check_running(process, folder)
        twin = read_twin(folder)
        if twin is not None:
            return twin
        if monotonic() > deadline:
            raise TwinError(f"the twin did not start within {START_S:.0f} s{_last_words(folder)}")
        sleep(POLL_S)


def _wait_for_step(process: subprocess.Popen[bytes], twin: LocalTwin) -> StatusResponse:
    """Until fabric time has gone on, or will not."""
    with open_director(None, twin.director) as director:
        try:
            return wait_for_first_step(director, lambda: _check_running(process, twin.folder))
        except TwinError as error:
            raise TwinError(f"{error}{_last_words(twin.folder)}") from None


def _check_running(process: subprocess.Popen[bytes], folder: Path) -> None:
    code = process.poll()
    if code is None:
        return
    lines = _log_lines(folder / _LOG)
    if code == EXIT_INPUT:
        raise InputError(
            [Problem(line.removeprefix("error: ")) for line in lines] or [Problem("wrong input")]
        )
    raise TwinError(f"the twin did not start: it ended with code {code}{_last_words(folder)}")


def _last_words(folder: Path) -> str:
    """Why processes of a twin have failed, as they say themselves; else the last lines of the supervisor."""
    reasons = [
        f"{log.stem}: {entry['message']}"
        for log in sorted(folder.glob("*.log"))
        for entry in map(_entry, _log_lines(log))
        if entry.get("event") == "failed" and "message" in entry
    ]
    words = reasons or _log_lines(folder / _LOG)[-_LINES_SHOWN:]
    return "".join(f"\n  {line}" for line in words)


def _log_lines(log: Path) -> list[str]:
    with suppress(OSError):
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    return []


def _entry(line: str) -> dict[str, object]:
    with suppress(ValueError):
        entry = json.loads(line)
        return entry if isinstance(entry, dict) else {}
    return {}


def _terminate(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def end_twin(name: str) -> None:
    """Ends a twin, whatever state it is in, and removes what is left of it.

    Args:
        name: Its name.

    Raises:
        TwinError: A process of it does not end.
    """
    folder = twin_folder(name)
    twin = read_twin(folder)
    if is_alive(folder):
        _tell_to_end(folder, twin)
    try:
        with lock_folder(folder):
            stop_left_behind(folder)
            if twin is not None:
                _forget(twin)
            clear_folder(folder, keep_lock=False)
    except BlockingIOError:
        raise TwinError(f"a process of twin {name!r} does not end: see the logs in {folder}") from None


def _tell_to_end(folder: Path, twin: LocalTwin | None) -> None:
    """Asks the director, then the supervisor, and at last does not ask."""
    if twin is not None:
        with suppress(FabricTwinError), open_director(None, twin.director) as director:
            director.Shutdown(ShutdownRequest(by=owner_or_user(None)))
            if _is_over(folder, END_S):
                return
    for number, patience_s in ((signal.SIGTERM, END_S), (signal.SIGKILL, KILL_S)):
        pid = _supervisor(folder)
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if _is_over(folder, patience_s):
            return


def _is_over(folder: Path, patience_s: float) -> bool:
    deadline = monotonic() + patience_s
    while is_alive(folder):
        if monotonic() > deadline:
            return False
        sleep(POLL_S)
    return True


def _supervisor(folder: Path) -> int:
    """Process number of the supervisor; 0: it has not been written down yet."""
    with suppress(OSError, ValueError):
        return int((folder / LOCK_FILE).read_text())
    return 0


def _forget(twin: LocalTwin) -> None:
    """Removes the keys of a twin that had no time to, from a server that is not its own."""
    if str(twin.folder) in twin.redis:
        return
    with suppress(BusError):
        delete_twin(connect(twin.redis), twin.name)
