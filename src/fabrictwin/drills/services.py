# SPDX-License-Identifier: Apache-2.0
"""Faults of a twin's processes on this machine: SIGKILL, SIGSTOP and SIGCONT."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Protocol

from fabrictwin.errors import FabricTwinError, nearest


class ServiceError(FabricTwinError):
    """Nothing could be done to a service."""


class Services(Protocol):
    """Does something to the services of a twin, and undoes it.

    Attributes:
        can: Names of the actions that it knows, a subset of those that begin with a verb and ``_service``.
    """

    can: ClassVar[Sequence[str]]

    def do(self, action: str, service: str, memory_bytes: int = 0) -> str:
        """Does something to a service; returns it in words.

        Raises:
            ServiceError: It could not be done.
        """

    def left_overs(self) -> list[str]:
        """What is not as it was, in words."""

    def restore(self) -> list[str]:
        """Undoes everything that was done and can be undone; returns what was, in words."""


class LocalServices:
    """The processes of a twin on this machine: :class:`Services`.

    Args:
        pids: Asks for the process numbers as they are now, by logical process.
    """

    can: ClassVar[Sequence[str]] = ("kill_service", "pause_service", "resume_service")

    def __init__(self, pids: Callable[[], Mapping[str, int]]) -> None:
        self._pids = pids
        self._paused: dict[str, int] = {}

    def do(self, action: str, service: str, memory_bytes: int = 0) -> str:
        """Sends a signal to a process."""
        number = _SIGNALS[action]
        pid = self._pid(service)
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            raise ServiceError(f"{service} has no process {pid} any more") from None
        if number == signal.SIGSTOP:
            self._paused[service] = pid
        elif number == signal.SIGCONT:
            self._paused.pop(service, None)
        return f"{signal.Signals(number).name} to {service}, process {pid}"

    def _pid(self, service: str) -> int:
        pids = self._pids()
        if service not in pids:
            raise ServiceError(f"the twin has no service {service!r}{nearest(service, pids)}")
        return pids[service]

    def left_overs(self) -> list[str]:
        """Processes that still stand."""
        return [f"{service} (process {pid}) is stopped" for service, pid in self._paused.items()]

    def restore(self) -> list[str]:
        """Lets every process go on that was stopped."""
        restored = []
        for service, pid in list(self._paused.items()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
                restored.append(f"SIGCONT to {service}, process {pid}")
            del self._paused[service]
        return restored


_SIGNALS = {
    "kill_service": signal.SIGKILL,
    "pause_service": signal.SIGSTOP,
    "resume_service": signal.SIGCONT,
}
