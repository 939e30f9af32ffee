# SPDX-License-Identifier: Apache-2.0
"""Watching the services of a twin: who has come, who answers, who has gone silent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from fabrictwin.runtime.checkpoint import CheckpointAge
from fabrictwin.runtime.directory import ServiceRecord, TwinDirectory
from fabrictwin.runtime.grpc_server import CLIENT_OPTIONS
from fabrictwin.runtime.logs import Log
from fabrictwin.runtime.version import VERSION

EVERY_S = 1.0
ANSWER_WITHIN_S = 2.0
"""With the interval, a service that does not answer is shown within 3 s."""

MISSING = "missing"
UNREACHABLE = "unreachable"
OTHER_VERSION = "other_version"


@dataclass(slots=True)
class Watched:
    """How a service is.

    Attributes:
        process: Name of its logical process.
        record: Where it listens; None: it has not come yet.
        health: ``serving``, ``not_serving``, ``unreachable``, ``missing`` or ``other_version``.
        answered_s: Monotonic time of its last answer.
        is_gone: Whether nobody listens at its address any more; one that is only slow still does.
        checkpoint: Its last checkpoint; None: it has none.
    """

    process: str
    record: ServiceRecord | None
    health: str
    answered_s: float
    is_gone: bool = False
    checkpoint: CheckpointAge | None = None

    @property
    def silent_s(self) -> float:
        """Wall seconds since it last answered."""
        return monotonic() - self.answered_s


class Watch:
    """Watches until it is cancelled.

    Args:
        directory: Where the services say where they listen.
        shards: The logical processes that there should be.
        log: Where changes of health are written.

    Attributes:
        services: By the name of the logical process.
    """

    def __init__(self, directory: TwinDirectory, shards: tuple[str, ...], log: Log) -> None:
        self._directory = directory
        self._log = log
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._looking = asyncio.Lock()
        self.services = {name: Watched(name, None, MISSING, monotonic()) for name in shards}

    @property
    def all_serve(self) -> bool:
        """Whether every service is ready."""
        return all(service.health == "serving" for service in self.services.values())

    @property
    def failure(self) -> str:
        """What a service has failed with, or that one is of another version; empty: all is well."""
        for service in self.services.values():
            if service.record is not None and service.record.error:
                return f"{service.process}: {service.record.error}"
            if service.record is not None and service.record.version != VERSION:
                return f"{service.process} is of version {service.record.version}, the director of {VERSION}"
        return ""

    async def look(self) -> None:
        """Asks every service once; who looks while another does, waits for it."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        records = await asyncio.to_thread(self._directory.services)
        for process, checkpoint in (await asyncio.to_thread(self._directory.checkpoints)).items():
            if process in self.services:
                self.services[process].checkpoint = checkpoint
        for shard, record in records.items():
            if shard in self.services and self.services[shard].record != record:
                await self._forget(shard)
                self.services[shard].record = record
        await asyncio.gather(*(self._ask(service) for service in self.services.values()))

    async def _ask(self, service: Watched) -> None:
        health = await self._health_of(service)
        if health not in (MISSING, UNREACHABLE):
            service.answered_s = monotonic()
        if health != service.health:
            self._log.info("service_health", watched=service.process, health=health, before=service.health)
            service.health = health

    async def _health_of(self, service: Watched) -> str:
        if service.record is None:
            return MISSING
        if service.record.version != VERSION:
            return OTHER_VERSION
        stub = health_pb2_grpc.HealthStub(self.channel_to(service.process))
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=ANSWER_WITHIN_S)
        except grpc.aio.AioRpcError as error:
            service.is_gone = error.code() is grpc.StatusCode.UNAVAILABLE
            return UNREACHABLE
        service.is_gone = False
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)).lower()

    def channel_to(self, shard: str) -> grpc.aio.Channel:
        """A channel to a service that has come."""
        record = self.services[shard].record
        assert record is not None
        if shard not in self._channels:
            self._channels[shard] = grpc.aio.insecure_channel(record.address, options=CLIENT_OPTIONS)
        return self._channels[shard]

    async def _forget(self, shard: str) -> None:
        if shard in self._channels:
            await self._channels.pop(shard).close(None)

    async def close(self) -> None:
        """Closes the channels."""
        for shard in list(self._channels):
            await self._forget(shard)
