# SPDX-License-Identifier: Apache-2.0
"""The director, as its servicer sees it: load a scenario, rule its clock, say how it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from fabrictwin.engine.look import Judge
from fabrictwin.engine.readout import Readout
from fabrictwin.model.command import Command
from fabrictwin.runtime.blueprint import DIRECTOR, Blueprint, draw_blueprint
from fabrictwin.runtime.bus.errors import BusError
from fabrictwin.runtime.bus.redis_bus import RedisBus
from fabrictwin.runtime.bus.twin import Identity, Keys, delete_twin
from fabrictwin.runtime.director.clock import Clock
from fabrictwin.runtime.director.collect import collect, describe_twin
from fabrictwin.runtime.director.command_log import CommandLog
from fabrictwin.runtime.director.command_words import say_command
from fabrictwin.runtime.director.event_stream import publish_events
from fabrictwin.runtime.director.orders import FaultEntry, Orders
from fabrictwin.runtime.director.state import ENDED, PendingCommand, Twin, TwinState
from fabrictwin.runtime.director.watch import EVERY_S, Watch
from fabrictwin.runtime.failures import NotReadyError, StateError
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.runtime.service import Host
from fabrictwin.telemetry import Health

END_WITHIN_S = 10.0
"""How long the director waits for the other processes to end."""
POLL_S = 0.02
NOT_READY = "the twin is not ready yet: some services are missing, see its status"


class Director:
    """The director of one twin.

    Args:
        name: Name of the twin.
        health: What its metrics say.

    Attributes:
        twin: What it knows.
        health: What its metrics say.
        clock: Rules fabric time; None while there is no scenario.
        watch: Of the services; None while there is no scenario.
        commands: The command log; None while there is no scenario.
    """

    def __init__(self, name: str, health: Health) -> None:
        self.twin = Twin(name)
        self.health = health
        self.clock: Clock | None = None
        self.watch: Watch | None = None
        self.commands: CommandLog | None = None
        self._blueprint: Blueprint | None = None
        self._orders: Orders | None = None
        self._shown_faults: set[tuple[str, str, str]] = set()
        self._host: Host | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self._loading = asyncio.Lock()
        self._start_when_ready = False
        self._is_over = False

    def attach(self, host: Host) -> None:
        """Begins, in the running event loop."""
        self._host = host
        self._loop = asyncio.get_running_loop()
        self.twin.changes.attach()

    @property
    def blueprint(self) -> Blueprint:
        """The scenario.

        Raises:
            StateError: None was loaded.
        """
        if self._blueprint is None:
            raise StateError("the twin has no scenario yet: load one first")
        return self._blueprint

    @property
    def host(self) -> Host:
        """The skeleton that it runs in."""
        if self._host is None:
            raise NotReadyError("the director is just starting")
        return self._host

    async def load(self, source: ScenarioSource, *, start: bool) -> Blueprint:
        """Takes a scenario, and lets the services begin with it.

        Args:
            source: The scenario.
            start: Let fabric time go on as soon as all are ready.

        Raises:
            InputError: With every problem of the scenario.
            StateError: The twin has one already.
            BusError: Redis refuses.
        """
        blueprint = await asyncio.to_thread(draw_blueprint, source)
        await self.begin(blueprint, start=start)
        return blueprint

    async def begin(self, blueprint: Blueprint, *, start: bool) -> None:
        """Lets the services begin with a scenario that was worked out; see :meth:`load`."""
        async with self._loading:
            if self._blueprint is not None:
                raise StateError("the twin has a scenario already: end it, and begin another")
            identity = await asyncio.to_thread(
                self.host.directory.publish, blueprint.source, blueprint.scenario.sha256, blueprint.channels
            )
            self._blueprint = blueprint
        self._start_when_ready = start
        self.health.scenario = blueprint.scenario.name
        self.twin.duration_ps = blueprint.scenario.duration_ps
        self.commands = CommandLog(blueprint.scenario.sha256)
        self._orders = Orders(blueprint.plan)
        self.watch = Watch(self.host.directory, blueprint.processes, self.host.log)
        self.twin.become(TwinState.STARTING)
        self._tasks = [
            asyncio.create_task(self._mind_services(self.watch)),
            asyncio.create_task(publish_events(self.host.redis, self.twin)),
            asyncio.create_task(self._start_clock(blueprint, identity)),
        ]

    async def _mind_services(self, watch: Watch) -> None:
        """Watches the services; when one has failed, so has the twin."""
        while True:
            failure = await self._failure_of(watch)
            if failure and not self.has_ended:
                with self.twin.lock:
                    self.twin.fail(failure)
            await asyncio.sleep(EVERY_S if watch.all_serve else EVERY_S / 10)

    async def _failure_of(self, watch: Watch) -> str:
        """What a service or Redis, in which it could not say so, has failed with; empty: all is well."""
        try:
            await watch.look()
            await asyncio.to_thread(self.host.directory.check_writable)
        except BusError as error:
            return f"{type(error).__name__}: {error}"
        return watch.failure

    def describe_health(self) -> None:
        """What its metrics are to say, as it is now."""
        health, twin = self.health, self.twin
        health.reached_ps = twin.reached_ps
        for state in TwinState:
            health.set("fabrictwin_twin_state", int(state is twin.state), str(state))
        health.set("fabrictwin_deadlocked_outputs", len(twin.deadlock.cycle) if twin.deadlock else 0)
        active = (
            {} if self._orders is None else {each.fault.name: each.fault for each in self.active_faults()}
        )
        for labels in self._shown_faults.copy():
            if labels[0] not in active:
                health.remove("fabrictwin_fault_active", *labels)
                self._shown_faults.discard(labels)
        for fault in active.values():
            labels = (fault.name, fault.kind, fault.text.removeprefix(f"{fault.kind} "))
            health.set("fabrictwin_fault_active", 1, *labels)
            self._shown_faults.add(labels)

    async def _start_clock(self, blueprint: Blueprint, identity: Identity) -> None:
        """Waits until all services are ready, then starts the clock."""
        assert self.watch is not None
        while not self.watch.all_serve:
            await asyncio.sleep(0.02)
        host = self.host
        keys = Keys(host.settings.twin)
        bus = await asyncio.to_thread(
            RedisBus, host.redis, keys, identity.epoch, DIRECTOR, blueprint.channels
        )
        judge = Judge(blueprint.plan)
        self.clock = Clock(
            self.twin,
            bus,
            blueprint.processes,
            judge,
            self._readout_for_clock,
            self.health,
            host.settings.cpu,
        )
        self.twin.become(TwinState.PAUSED)
        self.clock.start()
        if self._start_when_ready:
            self.go(None)

    def go(self, until_ps: int | None) -> None:
        """Lets fabric time go on.

        Args:
            until_ps: Where to pause again; None: nowhere.

        Raises:
            StateError: The twin has ended, or is not ready.
        """
        twin, clock = self.twin, self.running_clock
        with twin.lock:
            twin.goal_ps = twin.duration_ps if until_ps is None else min(until_ps, twin.duration_ps)
            clock.pace_from_here()
            if twin.goal_ps > twin.reached_ps:
                twin.become(TwinState.RUNNING)
        twin.changes.ring()

    async def pause(self) -> None:
        """Stops fabric time; returns when everybody stands."""
        twin, clock = self.twin, self.running_clock
        with twin.lock:
            twin.goal_ps = clock.promised_ps
            if twin.reached_ps >= clock.promised_ps:
                twin.become(TwinState.PAUSED)
        await self.until(lambda: twin.state is not TwinState.RUNNING)

    @property
    def running_clock(self) -> Clock:
        """The clock of a twin that has not ended.

        Raises:
            StateError: It has ended, or is not ready.
        """
        if self.twin.state is TwinState.FAILED:
            raise StateError(f"the twin has failed: {self.twin.error}")
        if self.twin.state is TwinState.STOPPED:
            raise StateError(f"the twin has stopped: {self.twin.stopped}")
        if self.clock is None:
            raise StateError(NOT_READY)
        return self.clock

    @property
    def orders(self) -> Orders:
        """What people have done to the twin.

        Raises:
            StateError: No scenario was loaded.
        """
        if self._orders is None:
            raise StateError("the twin has no scenario yet: load one first")
        return self._orders

    def order(self, make: Callable[[Orders, int], Command]) -> Command:
        """Does something to the twin, from the next look-around on.

        Args:
            make: Makes the command, for a fabric time at which it takes effect.

        Raises:
            FabricTwinError: It does not fit the twin as it is.
        """
        with self.twin.lock:
            command = make(self.orders, self.running_clock.command_at_ps)
            assert self.commands is not None
            line = self.commands.add(command.at_ps, command.by, command.do, command.arguments)
            self.twin.pending.append(PendingCommand(command.at_ps, line))
        self.health.count("fabrictwin_commands_total", command.do)
        what = say_command(command, self.orders.scenario)
        self.twin.events.add(command.at_ps, DIRECTOR, command.do, what)
        return command

    def active_faults(self) -> list[FaultEntry]:
        """Faults that are active now."""
        return [entry for entry in self.orders.faults() if entry.state(self.twin.reached_ps) == "active"]

    async def until(self, condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Waits until something is so; whether it is."""
        deadline_s = None if timeout_s is None else monotonic() + timeout_s
        while not condition():
            left_s = None if deadline_s is None else deadline_s - monotonic()
            if left_s is not None and left_s <= 0:
                return False
            await self.twin.changes.wait(left_s)
        return True

    async def result(self) -> dict[str, Any]:
        """The result, ``fabrictwin.result/1``, of a twin that stands still.

        Raises:
            StateError: Fabric time goes on, or there is none.
        """
        twin, blueprint = self.twin, self.blueprint
        if twin.state not in (TwinState.PAUSED, TwinState.STOPPED) or self.watch is None:
            raise StateError(f"the twin is {twin.state}: pause it first, or wait until it has stopped")
        readout = await collect(self.orders.plan, blueprint.partition, self.watch, twin)
        return await asyncio.to_thread(describe_twin, readout, twin)

    def _readout_for_clock(self) -> Readout:
        """The arrays of all shards, for the clock's thread, while everybody stands."""
        assert self.watch is not None
        reading = collect(self.orders.plan, self.blueprint.partition, self.watch, self.twin)
        return asyncio.run_coroutine_threadsafe(reading, self._loop).result()

    @property
    def has_ended(self) -> bool:
        """Whether fabric time will not go on."""
        return self.twin.state in ENDED

    async def shut_down(self, by: str) -> None:
        """Ends the twin: its processes, its keys, and then this one."""
        self.twin.events.add(self.twin.reached_ps, DIRECTOR, "shutdown", f"by {by}")
        if self.clock is not None and self.watch is not None:
            try:
                # One that was just started again must not be taken for one that is gone.
                await self.watch.look()
                await asyncio.to_thread(self.clock.end_all)
            except BusError as error:
                self.host.log.error("end_not_said", message=str(error))
        self._is_over = True
        self.host.stopping.set()

    async def close(self) -> None:
        """Ends."""
        for task in self._tasks:
            task.cancel()
        if self.clock is not None:
            await asyncio.to_thread(self.clock.stop)
        if self.watch is not None:
            await self.watch.close()
            if self._is_over:
                await self._forget_twin(self.watch)

    async def _forget_twin(self, watch: Watch) -> None:
        """Removes the keys, once nobody reads them any more."""
        host, deadline_s = self.host, monotonic() + END_WITHIN_S
        ending = {name for name, each in watch.services.items() if not each.is_gone}
        try:
            while ending & (await asyncio.to_thread(host.directory.services)).keys():
                if monotonic() > deadline_s:
                    break
                await asyncio.sleep(POLL_S)
            await asyncio.to_thread(delete_twin, host.redis, self.twin.name)
        except BusError as error:
            host.log.error("keys_left", message=str(error))
