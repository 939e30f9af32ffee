# SPDX-License-Identifier: Apache-2.0
"""The folder of runs: what each was, and which of them died and may have left something behind.

Who runs a drill holds a lock on a file in the folder of the run as long as it lives, however it ends. The
file says what the run may leave: its twin on this machine, or its faults on another.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabrictwin.errors import InputError, nearest

JOURNAL_FILE = "journal.json"
_OPEN_FILE = "running.json"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that has begun and did not come to its end.

    Attributes:
        id: Its id; its faults and workloads have it as their owner.
        drill: Name of the drill.
        twin: Name of the twin.
        director: host:port of a director elsewhere; empty: the twin is the run's own, on this machine.
        containers: Whether it may have done something to containers of the twin.
    """

    id: str
    drill: str
    twin: str
    director: str = ""
    containers: bool = False


def runs_root() -> Path:
    """The folder that holds the folders of runs."""
    state = os.environ.get("XDG_STATE_HOME")
    return Path(state or Path.home() / ".local/state", "fabrictwin-drills")


@contextmanager
def open_run(root: Path, run: OpenRun) -> Iterator[Path]:
    """Makes the folder of a run, and says that it has begun; takes that back behind the block.

    Raises:
        InputError: The folder cannot be made.
    """
    folder = root / run.id
    try:
        folder.mkdir(parents=True, mode=0o700)
        mark = os.open(folder / _OPEN_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError.of(f"cannot hold a run: {error.strerror}", file=str(folder)) from None
    try:
        fcntl.flock(mark, fcntl.LOCK_EX)
        os.write(mark, json.dumps(asdict(run)).encode())
        yield folder
        (folder / _OPEN_FILE).unlink(missing_ok=True)
    finally:
        os.close(mark)


def dead_runs(root: Path) -> list[OpenRun]:
    """Runs that have begun, did not come to their end, and whose process is gone."""
    return [run for mark in sorted(root.glob(f"*/{_OPEN_FILE}")) if (run := _read_dead(mark)) is not None]


def _read_dead(mark: Path) -> OpenRun | None:
    with suppress(OSError, ValueError, TypeError), mark.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return OpenRun(**json.load(file))
    return None


def forget_dead(root: Path, run: OpenRun) -> None:
    """Notes that nothing is left over of a run that died."""
    (root / run.id / _OPEN_FILE).unlink(missing_ok=True)


def read_journal(root: Path, run: str) -> dict[str, Any]:
    """The journal of a run.

    Args:
        root: The folder of runs.
        run: Id of the run; ``last``: the latest one.

    Raises:
        InputError: There is none.
    """
    known = {path.parent.name: path for path in root.glob(f"*/{JOURNAL_FILE}")}
    if run == "last" and known:
        run = max(known, key=lambda name: known[name].stat().st_mtime_ns)
    if run not in known:
        hint = nearest(run, known) if known else f": none is in {root}"
        raise InputError.of(f"no run {run[:80]!r}{hint}")
    journal: dict[str, Any] = json.loads(known[run].read_text(encoding="utf-8"))
    return journal
