# SPDX-License-Identifier: Apache-2.0
"""The service ``director``: what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import grpc.aio

from fabrictwin.api.v1 import director_pb2
from fabrictwin.api.v1.director_pb2_grpc import add_DirectorServicer_to_server
from fabrictwin.runtime.blueprint import DIRECTOR, Blueprint
from fabrictwin.runtime.director.core import Director
from fabrictwin.runtime.scenario_source import read_source
from fabrictwin.runtime.service import Host
from fabrictwin.runtime.settings import Settings
from fabrictwin.telemetry import Exporter, Health
from fabrictwin.telemetry import Service as Name
from services.director.servicer import DirectorServicer

LARGEST_SCENARIO_BYTES = 80 << 20
"""A scenario with the files that it imports."""


class DirectorService:
    """A :class:`fabrictwin.runtime.service.Service`: the one door to a twin.

    Args:
        settings: Where and how it runs.
        prepared: The scenario to begin with, worked out; None: that of the settings, or it waits for one.
        is_paused: Whether it stays at fabric time 0 until it is told to go on.
    """

    largest_request_bytes = LARGEST_SCENARIO_BYTES

    def __init__(
        self, settings: Settings, prepared: Blueprint | None = None, *, is_paused: bool = False
    ) -> None:
        self.name = str(Name.DIRECTOR)
        self.process = DIRECTOR
        self._director = Director(settings.twin, Health(settings.twin, Name.DIRECTOR, DIRECTOR, ""))
        self._exporter = Exporter(self._director.health)
        self._prepared = prepared
        self._scenario = settings.scenario
        self._is_paused = is_paused

    @property
    def fabric_time_ps(self) -> int:
        """Fabric time that every process has reached."""
        return self._director.twin.reached_ps

    def register(self, server: grpc.aio.Server) -> Sequence[str]:
        """Adds its servicer to a server."""
        add_DirectorServicer_to_server(DirectorServicer(self._director), server)
        return (str(director_pb2.DESCRIPTOR.services_by_name["Director"].full_name),)

    def render_metrics(self) -> Sequence[bytes]:
        """The answer to a scrape."""
        self._director.describe_health()
        return self._exporter.render()

    async def run(self, host: Host) -> None:
        """Serves until it is to stop."""
        self._director.attach(host)
        if self._prepared is not None:
            await self._director.begin(self._prepared, start=not self._is_paused)
        elif self._scenario is not None:
            await self._director.load(read_source(self._scenario), start=True)
        await host.server.set_serving()
        await host.stopping.wait()
        await self._director.close()


def make_service(settings: Settings, prepared: Blueprint | None = None) -> DirectorService:
    """The one service of its kind."""
    return DirectorService(settings, prepared)


def make_paused_service(settings: Settings, prepared: Blueprint) -> DirectorService:
    """The same, which waits at fabric time 0."""
    return DirectorService(settings, prepared, is_paused=True)
