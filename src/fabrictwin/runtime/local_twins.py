# SPDX-License-Identifier: Apache-2.0
"""Twins of this user on this machine: where their state stands, which of them are alive, how to reach them.

Each twin has a folder with its state file, its logs and its sockets. Whoever starts a twin locks the folder,
and its processes inherit the lock: it is held exactly as long as one of them lives, however they end.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from fabrictwin.errors import InputError, nearest
from fabrictwin.model.quantities import NAME_PATTERN

STATE_FILE = "twin.json"
TARGETS_FILE = "prometheus.json"
"""Where the services are scraped: for the file discovery of Prometheus."""
LOCK_FILE = "lock"
LONGEST_FOLDER_BYTES = 88
"""The kernel takes a socket's path up to 107 bytes, and the name of the socket comes behind the folder."""
_TRY_AGAIN_S = 0.01
_GLANCES_S = 0.2
"""A lock that others hold for a glance is free again within this time."""


@dataclass(frozen=True, slots=True)
class LocalTwin:
    """A twin that runs on this machine.

    Attributes:
        name: Its name.
        folder: Its folder: state file, logs, sockets.
        pid: The process whose children are its services.
        director: host:port of the director.
        redis: URL of the Redis server that carries its bus.
        services: What each process has said of itself, by the name of its logical process.
    """

    name: str
    folder: Path
    pid: int
    director: str
    redis: str
    services: Mapping[str, Mapping[str, Any]]


def state_root() -> Path:
    """The folder that holds the twins' folders."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime, "fabrictwin")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state", "fabrictwin")


def twin_folder(name: str) -> Path:
    """The folder of a twin, whether it exists or not.

    Raises:
        InputError: The name is none, or the path is too long to hold a socket.
    """
    if not NAME_PATTERN.match(name) or name.startswith("."):
        raise InputError.of(
            f"expected a name of up to 64 letters, digits, '_', '.' and '-', got {name[:80]!r}",
            field="--twin",
        )
    folder = state_root() / name
    if len(os.fsencode(folder)) > LONGEST_FOLDER_BYTES:
        raise InputError.of(
            f"{folder} is too long for the sockets in it: choose a shorter name, or another XDG_RUNTIME_DIR",
            field="--twin",
        )
    return folder


def running_twins() -> list[str]:
    """Names of the twins that are alive."""
    with suppress(OSError):
        return sorted(folder.name for folder in state_root().iterdir() if is_alive(folder))
    return []


def known_twins() -> list[str]:
    """Names of the twins that are alive, and of those that died and left their folder."""
    with suppress(OSError):
        return sorted(folder.name for folder in state_root().iterdir() if (folder / LOCK_FILE).exists())
    return []


def is_alive(folder: Path) -> bool:
    """Whether a process of the twin with this folder lives."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def find_twin(name: str | None = None) -> LocalTwin:
    """A twin that runs, by its name.

    Args:
        name: Its name; None: the only one that runs.

    Raises:
        InputError: There is none, it is starting or dead, or there are several.
    """
    running = running_twins()
    if name is None:
        name = only_one(running)
    folder = twin_folder(check_known(name))
    if name not in running:
        raise InputError.of(
            f"twin {name!r} has died: its logs stay in {folder} until 'fabrictwin down --twin {name}'",
            field="--twin",
        )
    twin = read_twin(folder)
    if twin is None:
        raise InputError.of(f"twin {name!r} is still starting", field="--twin")
    return twin


def only_one(names: Sequence[str]) -> str:
    """The only one of several twins.

    Raises:
        InputError: There is none, or more than one.
    """
    if not names:
        raise InputError.of("no twin runs on this machine: start one with 'fabrictwin up SCENARIO'")
    if len(names) > 1:
        raise InputError.of(
            f"there are {len(names)} twins, say which one: {', '.join(names)}", field="--twin"
        )
    return names[0]


def check_known(name: str) -> str:
    """The name of a twin that is alive or has left its folder.

    Raises:
        InputError: There is none of this name.
    """
    known = known_twins()
    if name not in known:
        hint = nearest(name, known) if known else "; none does"
        raise InputError.of(f"no twin {name[:80]!r} runs on this machine{hint}", field="--twin")
    return name


def read_twin(folder: Path) -> LocalTwin | None:
    """What a twin's state file says; None: there is none yet."""
    try:
        state = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
        return LocalTwin(
            state["twin"], folder, state["pid"], state["director"], state["redis"], state["services"]
        )
    except (OSError, ValueError, KeyError):
        return None


@contextmanager
def lock_folder(folder: Path) -> Iterator[int]:
    """Makes and locks a twin's folder; closes the lock behind the block.

    Args:
        folder: The folder.

    Yields:
        The descriptor that holds the lock; a process that inherits it holds it too.

    Raises:
        BlockingIOError: A process of the twin lives.
        InputError: The folder cannot be made.
    """
    descriptor = _lock(folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(folder: Path) -> int:
    deadline = monotonic() + _GLANCES_S
    while True:
        descriptor = _open_lock(folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it before may have removed the folder.
            if _is_in_place(descriptor, folder):
                return descriptor
        except BlockingIOError:
            if monotonic() > deadline:
                os.close(descriptor)
                raise
        os.close(descriptor)
        sleep(_TRY_AGAIN_S)


def _open_lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError.of(f"cannot hold a twin's state: {error.strerror}", file=str(folder)) from None


def _is_in_place(descriptor: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder / LOCK_FILE))
    except FileNotFoundError:
        return False


def clear_folder(folder: Path, *, keep_lock: bool) -> None:
    """Removes what is in a twin's folder, which the caller has locked.

    Args:
        folder: The folder.
        keep_lock: Leave the lock and the folder; otherwise they go last.
    """
    for entry in folder.iterdir():
        if entry.name == LOCK_FILE:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    if not keep_lock:
        (folder / LOCK_FILE).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
