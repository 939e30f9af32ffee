# SPDX-License-Identifier: Apache-2.0
"""Faults of a twin's containers, by the Docker API; only of containers that are labelled as the twin's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fabrictwin.drills.services import ServiceError
from fabrictwin.errors import InputError, nearest

TWIN_LABEL = "io.fabrictwin.twin"
PROCESS_LABEL = "io.fabrictwin.process"
COMPOSE_LABEL = "com.docker.compose.service"
"""Where a container does not say which logical process it is, its service in the Compose file is."""
STOP_S = 5


@dataclass
class Containers:
    """The containers of a twin: :class:`fabrictwin.drills.services.Services`.

    Attributes:
        twin: Name of the twin.

    Raises:
        InputError: No Docker engine answers, or it has no container of the twin.
    """

    can: ClassVar[Sequence[str]] = (
        *("kill_service", "pause_service", "resume_service", "stop_service", "start_service"),
        *("disconnect_service", "connect_service", "limit_service"),
    )
    twin: str
    _undo: dict[tuple[str, str], Callable[[], str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._client = _connect()
        if not self._all():
            raise InputError.of(
                f"the Docker engine has no container of twin {self.twin!r}: none is labelled "
                f"{TWIN_LABEL}={self.twin}"
            )

    def _all(self) -> dict[str, Any]:
        """Containers of the twin by logical process, also those that do not run."""
        label = f"{TWIN_LABEL}={self.twin}"
        found = self._client.containers.list(all=True, filters={"label": label})
        return {_process(container): container for container in found}

    def _find(self, service: str) -> Any:
        containers = self._all()
        if service not in containers:
            raise ServiceError(
                f"twin {self.twin!r} has no container {service!r}{nearest(service, containers)}"
            )
        return containers[service]

    def do(self, action: str, service: str, memory_bytes: int = 0) -> str:
        """Does something to a container, and remembers how it is undone."""
        from docker.errors import DockerException

        container = self._find(service)
        try:
            return _ACTIONS[action](self, container, memory_bytes)
        except DockerException as error:
            raise ServiceError(f"{action} of {container.name}: {error}") from None

    def _kill(self, container: Any, _: int) -> str:
        container.kill()
        # A kill switches the restart policy off: somebody has to start it again.
        self._undo[(container.id, "start")] = lambda: _start(container)
        return f"killed container {container.name}"

    def _stop(self, container: Any, _: int) -> str:
        container.stop(timeout=STOP_S)
        self._undo[(container.id, "start")] = lambda: _start(container)
        return f"stopped container {container.name}"

    def _start(self, container: Any, _: int) -> str:
        self._undo.pop((container.id, "start"), None)
        return _start(container)

    def _pause(self, container: Any, _: int) -> str:
        container.pause()
        self._undo[(container.id, "unpause")] = lambda: _unpause(container)
        return f"paused container {container.name}"

    def _unpause(self, container: Any, _: int) -> str:
        self._undo.pop((container.id, "unpause"), None)
        return _unpause(container)

    def _disconnect(self, container: Any, _: int) -> str:
        networks = dict(container.attrs["NetworkSettings"]["Networks"])
        for name, settings in networks.items():
            network = self._client.networks.get(settings["NetworkID"])
            network.disconnect(container)
            self._undo[(container.id, f"network {name}")] = _reconnection(network, container, settings)
        return f"took container {container.name} off {', '.join(networks)}"

    def _connect(self, container: Any, _: int) -> str:
        keys = [key for key in self._undo if key[0] == container.id and key[1].startswith("network ")]
        return "; ".join(self._undo.pop(key)() for key in keys) or f"{container.name} is connected"

    def _limit(self, container: Any, memory_bytes: int) -> str:
        before = container.attrs["HostConfig"]
        old = {"mem_limit": before["Memory"], "memswap_limit": before["MemorySwap"]}
        container.update(mem_limit=memory_bytes, memswap_limit=memory_bytes)
        self._undo.setdefault((container.id, "memory"), lambda: _set_memory(container, old))
        return f"limited container {container.name} to {memory_bytes:,} bytes"

    def left_overs(self) -> list[str]:
        """Containers of the twin that stand still or do not run, and what was not undone."""
        found = [
            f"container {container.name} is {container.status}"
            for container in self._all().values()
            if container.status in ("paused", "exited", "dead")
        ]
        return found + [f"{what} of container {name[:12]} is not undone" for name, what in self._undo]

    def restore(self) -> list[str]:
        """Undoes what was done here, and lets go on what another run has left standing."""
        from docker.errors import DockerException

        restored = []
        for key, undo in list(self._undo.items()):
            try:
                restored.append(undo())
                del self._undo[key]
            except DockerException:
                continue  # it stays among what is left over
        for container in self._all().values():
            if container.status == "paused":
                restored.append(_unpause(container))
            elif container.status == "exited":
                restored.append(_start(container))
        return restored


_ACTIONS: dict[str, Callable[[Containers, Any, int], str]] = {
    "kill_service": Containers._kill,
    "stop_service": Containers._stop,
    "start_service": Containers._start,
    "pause_service": Containers._pause,
    "resume_service": Containers._unpause,
    "disconnect_service": Containers._disconnect,
    "connect_service": Containers._connect,
    "limit_service": Containers._limit,
}


def _connect() -> Any:
    try:
        import docker
        from docker.errors import DockerException
    except ImportError:
        raise InputError.of(
            "containers want the Docker SDK: install it with \"pip install 'fabrictwin[drills]'\""
        ) from None
    try:
        client = docker.from_env()
        client.ping()
    except DockerException as error:
        raise InputError.of(f"no Docker engine answers: {error}") from None
    return client


def _process(container: Any) -> str:
    labels = container.labels
    return str(labels.get(PROCESS_LABEL) or labels.get(COMPOSE_LABEL) or container.name)


def _start(container: Any) -> str:
    container.start()
    return f"started container {container.name}"


def _unpause(container: Any) -> str:
    container.unpause()
    return f"unpaused container {container.name}"


def _reconnection(network: Any, container: Any, settings: dict[str, Any]) -> Callable[[], str]:
    """Puts a container back on a network as it was: a plain connect would lose its names."""
    aliases: Sequence[str] = [alias for alias in settings.get("Aliases") or () if alias != container.id[:12]]
    address = (settings.get("IPAMConfig") or {}).get("IPv4Address") or None

    def reconnect() -> str:
        network.connect(container, aliases=list(aliases), ipv4_address=address)
        return f"put container {container.name} back on {network.name}"

    return reconnect


def _set_memory(container: Any, limits: dict[str, int]) -> str:
    container.update(**limits)
    return f"gave container {container.name} its memory back"
