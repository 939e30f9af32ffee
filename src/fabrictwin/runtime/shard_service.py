# SPDX-License-Identifier: Apache-2.0
"""A service that simulates a shard of the fabric: its arrays, read while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import grpc.aio
import numpy as np

from fabrictwin.api.v1 import shard_pb2
from fabrictwin.api.v1.shard_pb2_grpc import add_ShardServicer_to_server
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.state import State
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.grpc_server import LARGEST_REQUEST_BYTES
from fabrictwin.runtime.process_runner import ProcessRunner
from fabrictwin.runtime.service import Host
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.shard_process import ShardProcess
from fabrictwin.runtime.shard_servicer import ShardServicer
from fabrictwin.telemetry import Exporter, Health
from fabrictwin.telemetry import Service as Name


class ShardView:
    """A shard as those see it who read it: :class:`fabrictwin.telemetry.FabricSource`.

    Args:
        runner: Runs the shard.
    """

    def __init__(self, runner: ProcessRunner[ShardProcess]) -> None:
        self._runner = runner

    @property
    def plan(self) -> Plan:
        """Names of the rows of its arrays."""
        return self._runner.process.plan

    @property
    def owned(self) -> np.ndarray:
        """[nodes] whether it simulates the node."""
        return self._runner.process.owned

    @property
    def state(self) -> State:
        """Its arrays."""
        return self._runner.process.state

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keeps it between two steps, its arrays settled; gives the fabric time reached, in ps."""
        with self._runner.hold() as at_ps:
            self._runner.process.settle()
            yield at_ps


Register = Callable[[ShardView, grpc.aio.Server], str]
"""Adds a servicer to a server; gives the full name of its gRPC service."""


class ShardService:
    """A :class:`fabrictwin.runtime.service.Service` that simulates a shard.

    Args:
        name: Its name.
        process: Name of its logical process.
        settings: Where and how it runs.
        register: Adds its own servicer.
        prepared: The scenario as it was worked out before this process was forked.
    """

    largest_request_bytes = LARGEST_REQUEST_BYTES

    def __init__(
        self,
        name: Name,
        process: str,
        settings: Settings,
        register: Register,
        prepared: Blueprint | None = None,
    ) -> None:
        self.name = str(name)
        self.process = process
        self._register = register
        self._health = Health(settings.twin, name, process, "")
        self._runner = ProcessRunner(process, ShardProcess, self._health, prepared)
        self._view = ShardView(self._runner)
        self._exporter = Exporter(self._health)

    @property
    def fabric_time_ps(self) -> int:
        """Fabric time that it has reached."""
        return self._runner.fabric_time_ps

    def register(self, server: grpc.aio.Server) -> Sequence[str]:
        """Adds its servicers to a server."""
        add_ShardServicer_to_server(ShardServicer(self._view), server)
        shard = shard_pb2.DESCRIPTOR.services_by_name["Shard"].full_name
        return (self._register(self._view, server), shard)

    def render_metrics(self) -> Sequence[bytes]:
        """The answer to a scrape."""
        return self._exporter.render()

    async def run(self, host: Host) -> None:
        """Runs it until it is to stop."""
        await self._runner.run(host, self._begin)

    def _begin(self, blueprint: Blueprint) -> None:
        self._health.scenario = blueprint.scenario.name
        exporter = Exporter(self._health, self._view)
        # The first page of many is the slow one.
        exporter.render()
        self._exporter = exporter
