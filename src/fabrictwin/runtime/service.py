# SPDX-License-Identifier: Apache-2.0
"""The skeleton of every service: what is opened in which order, when it is healthy, and how it ends.

The event loop serves gRPC; a service's own work runs in threads beside it. SIGTERM drains: the service says
NOT_SERVING, finishes what it is at, and exits with 0; a second SIGTERM does not wait for calls in flight.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import grpc.aio
import redis

from fabrictwin.errors import EXIT_FAILURE, EXIT_INPUT, FabricTwinError, InputError
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.directory import ServiceRecord, TwinDirectory
from fabrictwin.runtime.grpc_server import GrpcServer
from fabrictwin.runtime.interceptors import CallGuard
from fabrictwin.runtime.logs import Log, open_log
from fabrictwin.runtime.metrics_http import MetricsEndpoint
from fabrictwin.runtime.settings import Settings, read_settings
from fabrictwin.runtime.version import VERSION

GIL_INTERVAL_S = 0.0005
"""A stepping thread must not wait long for a thread that formats an answer."""


@dataclass(frozen=True)
class Host:
    """What the skeleton gives a service.

    Attributes:
        settings: Where and how it runs.
        log: Its log.
        redis: A client, for all but the stepping thread.
        directory: The twin's directory.
        stopping: Set when the process is to end.
        server: Its gRPC server.
    """

    settings: Settings
    log: Log
    redis: redis.Redis
    directory: TwinDirectory
    stopping: asyncio.Event
    server: GrpcServer


class Service(Protocol):
    """What a service adds to the skeleton.

    Attributes:
        name: Its name: switch_node, ….
        process: Name of its logical process: switch0, ….
        largest_request_bytes: Requests above this are refused.
    """

    name: str
    process: str
    largest_request_bytes: int

    @property
    def fabric_time_ps(self) -> int:
        """Fabric time that it has reached."""
        ...

    def register(self, server: grpc.aio.Server) -> Sequence[str]:
        """Adds its servicers to a server; returns the full names of their gRPC services."""
        ...

    def render_metrics(self) -> Sequence[bytes]:
        """The parts of the answer to a scrape; called in a thread of its own."""
        ...

    async def run(self, host: Host) -> None:
        """Does its work until ``host.stopping`` is set, or it is done; says when it is ready to serve.

        Raises:
            FabricTwinError: It cannot go on.
        """
        ...


def main(make: Callable[[Settings], Service], name: str) -> None:
    """Entry point of a service: reads the settings, serves, exits."""
    try:
        settings = read_settings(f"python -m services.{name}", sys.argv[1:], os.environ)
    except InputError as error:
        print(*(f"error: {problem}" for problem in error.problems), sep="\n", file=sys.stderr)
        sys.exit(EXIT_INPUT)
    sys.exit(serve(make(settings), settings))


def serve(service: Service, settings: Settings) -> int:
    """Runs a service in this process until it ends; returns its exit code."""
    log = open_log(service.name, service.process, settings.log_level, lambda: service.fabric_time_ps)
    sys.setswitchinterval(GIL_INTERVAL_S)
    try:
        asyncio.run(_serve(service, settings, log))
    except FabricTwinError as error:
        log.error("failed", reason=type(error).__name__, message=str(error))
        return EXIT_FAILURE
    except Exception:
        log.exception("failed", reason="unexpected")
        return EXIT_FAILURE
    log.info("ended")
    return 0


async def _serve(service: Service, settings: Settings, log: Log) -> None:
    stopping = asyncio.Event()
    hurry = asyncio.Event()
    _handle_signals(stopping, hurry)
    server = GrpcServer(CallGuard(VERSION, log), service.largest_request_bytes)
    names = service.register(server.server)
    client = await asyncio.to_thread(connect, settings.redis)
    port = await server.start(settings.listen, settings.port, names)
    metrics = MetricsEndpoint(settings.listen, settings.metrics_port, service.render_metrics)
    host = Host(settings, log, client, TwinDirectory(client, settings.twin), stopping, server)
    record = ServiceRecord(
        service.name, f"{settings.host}:{port}", f"{settings.host}:{metrics.port}", os.getpid(), VERSION
    )
    log.info("listening", address=record.address, metrics_address=record.metrics_address, pid=record.pid)
    try:
        await asyncio.to_thread(host.directory.announce, service.process, record)
        await service.run(host)
        await asyncio.to_thread(host.directory.withdraw, service.process)
    except Exception as error:
        failed = replace(record, error=f"{type(error).__name__}: {error}")
        # Where Redis takes no writes, the director notices by itself.
        with suppress(BusError):
            await asyncio.to_thread(host.directory.announce, service.process, failed)
        raise
    finally:
        log.info("draining")
        await _drain(server, settings.grace, hurry)
        metrics.close()
        client.close()


def _handle_signals(stopping: asyncio.Event, hurry: asyncio.Event) -> None:
    def stop() -> None:
        (hurry if stopping.is_set() else stopping).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


async def _drain(server: GrpcServer, grace_s: float, hurry: asyncio.Event) -> None:
    """Drains for at most a grace, or until it has to hurry."""
    draining = asyncio.create_task(server.drain(grace_s))
    hurried = asyncio.create_task(hurry.wait())
    await asyncio.wait((draining, hurried), return_when=asyncio.FIRST_COMPLETED)
    if not draining.done():
        await server.server.stop(None)
    hurried.cancel()
    await draining
