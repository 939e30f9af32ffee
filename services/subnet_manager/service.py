# SPDX-License-Identifier: Apache-2.0
"""The service ``subnet_manager``: what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import grpc.aio

from fabrictwin.api.v1 import subnet_manager_pb2
from fabrictwin.api.v1.subnet_manager_pb2_grpc import add_SubnetManagerServicer_to_server
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.grpc_server import LARGEST_REQUEST_BYTES
from fabrictwin.runtime.process_runner import ProcessRunner
from fabrictwin.runtime.service import Host
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.sm_process import SmProcess
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.telemetry import Exporter, Health
from fabrictwin.telemetry import Service as Name
from services.subnet_manager.servicer import SubnetManagerServicer


class SubnetManagerService:
    """A :class:`fabrictwin.runtime.service.Service`: one subnet manager.

    Args:
        settings: Where and how it runs.
        prepared: The scenario as it was worked out before this process was forked.
    """

    largest_request_bytes = LARGEST_REQUEST_BYTES

    def __init__(self, settings: Settings, prepared: Blueprint | None = None) -> None:
        self.name = str(Name.SUBNET_MANAGER)
        self.process = f"sm{settings.shard.number}"
        self._health = Health(settings.twin, Name.SUBNET_MANAGER, self.process, "")
        self._runner = ProcessRunner(self.process, SmProcess, self._health, prepared)
        self._exporter = Exporter(self._health)
        self._servicer = SubnetManagerServicer(self._runner)

    @property
    def fabric_time_ps(self) -> int:
        """Fabric time that it has reached."""
        return self._runner.fabric_time_ps

    def register(self, server: grpc.aio.Server) -> Sequence[str]:
        """Adds its servicer to a server."""
        add_SubnetManagerServicer_to_server(self._servicer, server)
        return (str(subnet_manager_pb2.DESCRIPTOR.services_by_name["SubnetManager"].full_name),)

    def render_metrics(self) -> Sequence[bytes]:
        """The answer to a scrape."""
        self._describe_health()
        return self._exporter.render()

    def _describe_health(self) -> None:
        """What the subnet manager has done, for its metrics."""
        process = self._runner.process_or_none
        if process is None:
            return
        self._health.set("fabrictwin_sm_state", int(process.manager.info.state))
        self._health.set("fabrictwin_sm_lft_blocks_written_total", process.writes)
        for kind in EventKind:
            self._health.set("fabrictwin_sm_events_total", process.counts.get(kind, 0), kind)

    async def run(self, host: Host) -> None:
        """Runs it until it is to stop."""
        self._servicer.attach(host)
        await self._runner.run(host, self._begin)

    def _begin(self, blueprint: Blueprint) -> None:
        self._health.scenario = blueprint.scenario.name


def make_service(settings: Settings, prepared: Blueprint | None = None) -> SubnetManagerService:
    """The service of one subnet manager."""
    return SubnetManagerService(settings, prepared)
