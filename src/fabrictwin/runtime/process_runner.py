# SPDX-License-Identifier: Apache-2.0
"""A logical process inside a service: waits for the scenario, builds its part, steps it over the bus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from fabrictwin.runtime.blueprint import Blueprint, draw_blueprint
from fabrictwin.runtime.bus.redis_bus import RedisBus, Retention
from fabrictwin.runtime.bus.twin import Identity, Keys
from fabrictwin.runtime.checkpoint import CheckpointStore
from fabrictwin.runtime.checkpoint_keeper import CheckpointKeeper
from fabrictwin.runtime.directory import TwinRecord
from fabrictwin.runtime.failures import DeploymentError, NotReadyError
from fabrictwin.runtime.process import LogicalProcess, Stepper
from fabrictwin.runtime.processor import Lookout, Seat
from fabrictwin.runtime.recovery import Recovery
from fabrictwin.runtime.service import Host
from fabrictwin.telemetry import Health

POLL_S = 0.05
ProcessT = TypeVar("ProcessT", bound=LogicalProcess)


class ProcessRunner(Generic[ProcessT]):
    """Runs a logical process inside a service.

    Args:
        name: Its name on the bus.
        build: Makes it from a scenario.
        health: What its metrics say of it.
        prepared: The scenario as it was worked out before this process was forked; None: it was not.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[Blueprint, str], ProcessT],
        health: Health,
        prepared: Blueprint | None = None,
    ) -> None:
        self._name = name
        self._build = build
        self._health = health
        self._prepared = prepared
        self._process: ProcessT | None = None
        self._stepper: Stepper | None = None

    @property
    def process(self) -> ProcessT:
        """The logical process.

        Raises:
            NotReadyError: It is not built yet.
        """
        if self._process is None:
            raise NotReadyError("this service has no scenario yet: load one into the director")
        return self._process

    @property
    def process_or_none(self) -> ProcessT | None:
        """The logical process; None: it is not built yet."""
        return self._process

    @property
    def fabric_time_ps(self) -> int:
        """Fabric time that it has reached."""
        return 0 if self._process is None else self._process.reached_ps

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keeps it between two steps; gives the fabric time that it has reached."""
        if self._stepper is None:
            raise NotReadyError("this service has no scenario yet: load one into the director")
        with self._stepper.hold() as at_ps:
            yield at_ps

    async def run(self, host: Host, begin: Callable[[Blueprint], None]) -> None:
        """Runs it until the service is to stop.

        Args:
            host: The skeleton of the service.
            begin: Called when it has been built, before it goes.

        Raises:
            FabricTwinError: It cannot go on.
        """
        record = await self._wait_for_scenario(host)
        if record is None:
            return
        blueprint = await asyncio.to_thread(self._draw, record)
        if self._name not in blueprint.processes:
            known = ", ".join(blueprint.processes)
            raise DeploymentError(f"the scenario has no process {self._name!r}; expected one of {known}")
        self._process = await asyncio.to_thread(self._build, blueprint, self._name)
        stepper, bus = await asyncio.to_thread(self._take_up, host, record.identity, blueprint)
        self._stepper = stepper
        await asyncio.to_thread(begin, blueprint)
        stepper.start()
        await host.server.set_serving()
        host.log.info("ready", epoch=record.identity.epoch)
        try:
            await self._watch(host, stepper)
        finally:
            await asyncio.to_thread(stepper.stop)
            bus.close()

    def _take_up(self, host: Host, identity: Identity, blueprint: Blueprint) -> tuple[Stepper, RedisBus]:
        """Brings the process to where it was, if it was there before, and makes ready to step it."""
        process, settings = self.process, host.settings
        store = CheckpointStore(host.redis, settings.twin, identity)
        checkpoint = store.load(self._name)
        if checkpoint is not None:
            process.load(checkpoint.snapshot)
            age = host.directory.checkpoints()[self._name]
            self._health.checkpoint(age.at_s, age.reached_ps)
        keys, epoch = Keys(settings.twin), identity.epoch
        lookout = Lookout(Seat(settings.cpu, settings.shared_cpu, settings.look))
        bus = RedisBus(
            host.redis,
            keys,
            epoch,
            self._name,
            blueprint.channels,
            cursors=None if checkpoint is None else checkpoint.cursors,
            retention=Retention(checkpoints=settings.checkpoint > 0),
            lookout=lookout,
        )
        recovery = Recovery(process, bus, 0 if checkpoint is None else checkpoint.granted_ps)
        resumption = recovery.run(host.stopping.is_set)
        if recovery.has_gone_on:
            since_ps = 0 if checkpoint is None else checkpoint.reached_ps
            host.log.info("recovered", checkpoint_ps=since_ps, reached_ps=process.reached_ps)
        keeper = None
        if settings.checkpoint > 0:
            keeper = CheckpointKeeper(store, process, bus, self._health, settings.checkpoint)
        return Stepper(process, bus, self._health, lookout, keeper, resumption), bus

    async def _wait_for_scenario(self, host: Host) -> TwinRecord | None:
        while not host.stopping.is_set():
            record = await asyncio.to_thread(host.directory.read)
            if record is not None:
                return record
            await asyncio.sleep(POLL_S)
        return None

    def _draw(self, record: TwinRecord) -> Blueprint:
        prepared = self._prepared
        if prepared is not None and prepared.scenario.sha256 == record.identity.scenario_sha256:
            return prepared
        blueprint = draw_blueprint(record.source)
        if blueprint.scenario.sha256 != record.identity.scenario_sha256:
            raise DeploymentError("the scenario in Redis is not the one that the director has loaded")
        return blueprint

    async def _watch(self, host: Host, stepper: Stepper) -> None:
        """Returns when the service is to stop; raises what the stepping thread has failed with."""
        while not host.stopping.is_set():
            if stepper.error is not None:
                raise stepper.error
            if stepper.is_over:
                return
            try:
                await asyncio.wait_for(host.stopping.wait(), POLL_S)
            except TimeoutError:
                continue
