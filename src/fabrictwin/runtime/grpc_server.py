# SPDX-License-Identifier: Apache-2.0
"""The gRPC server of a process: limits, keep-alive, health, reflection."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from fabrictwin.runtime.failures import PortInUseError
from fabrictwin.runtime.interceptors import CallGuard

LARGEST_REQUEST_BYTES = 4 << 20
LARGEST_ANSWER_BYTES = 32 << 20
MOST_CALLS = 256
KEEPALIVE_MS = 10_000
PING_TIMEOUT_MS = 2_000
"""A keep-alive alone finds a frozen peer only after a minute; this makes it seconds."""

_KEEPALIVE: tuple[tuple[str, int], ...] = (
    ("grpc.keepalive_time_ms", KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", PING_TIMEOUT_MS),
    ("grpc.http2.ping_timeout_ms", PING_TIMEOUT_MS),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)
CLIENT_OPTIONS: tuple[tuple[str, int], ...] = (
    *_KEEPALIVE,
    ("grpc.max_receive_message_length", LARGEST_ANSWER_BYTES),
)
"""Options of every channel to a service; both ends must agree on the keep-alive."""


class GrpcServer:
    """A server that is not started yet.

    Args:
        guard: What every call goes through.
        largest_request_bytes: Requests above this are refused.

    Attributes:
        server: To register servicers with.
    """

    def __init__(self, guard: CallGuard, largest_request_bytes: int = LARGEST_REQUEST_BYTES) -> None:
        self.server = grpc.aio.server(
            interceptors=(guard,),
            maximum_concurrent_rpcs=MOST_CALLS,
            options=(
                *_KEEPALIVE,
                # Two processes on one port would share its calls.
                ("grpc.so_reuseport", 0),
                ("grpc.http2.min_ping_interval_without_data_ms", KEEPALIVE_MS // 2),
                ("grpc.max_receive_message_length", largest_request_bytes),
                ("grpc.max_send_message_length", LARGEST_ANSWER_BYTES),
            ),
        )
        self._health = HealthServicer()
        self._names: tuple[str, ...] = ()

    async def start(self, host: str, port: int, names: Sequence[str]) -> int:
        """Starts serving, with health NOT_SERVING.

        Args:
            host: Address to bind to.
            port: Port; 0: any that is free.
            names: Full names of the gRPC services that were registered.

        Returns:
            The port.

        Raises:
            PortInUseError: The port is taken.
        """
        self._names = ("", *names)
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)
        reflected = (
            *names,
            health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
            reflection.SERVICE_NAME,
        )
        reflection.enable_server_reflection(reflected, self.server)
        try:
            bound = self.server.add_insecure_port(f"{host}:{port}")
        except RuntimeError as error:
            raise PortInUseError(f"{host}:{port}", "gRPC", "it is in use or not ours") from error
        await self.server.start()
        return int(bound)

    async def set_serving(self) -> None:
        """Says to health checks that the service is ready."""
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)

    async def drain(self, grace_s: float) -> None:
        """Says NOT_SERVING, lets calls in flight finish, refuses new ones."""
        await self._health.enter_graceful_shutdown()
        await self.server.stop(grace_s)

    async def _set_health(self, status: health_pb2.HealthCheckResponse.ServingStatus.ValueType) -> None:
        for name in self._names:
            await self._health.set(name, status)
