# SPDX-License-Identifier: Apache-2.0
"""The service ``congestion_control``: what it is made of."""

from __future__ import annotations

import grpc.aio

from fabrictwin.api.v1 import congestion_control_pb2
from fabrictwin.api.v1.congestion_control_pb2_grpc import add_CongestionControlServicer_to_server
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.shard_service import ShardService, ShardView
from fabrictwin.telemetry import Service as Name
from services.congestion_control.servicer import CongestionControlServicer


def make_service(settings: Settings, prepared: Blueprint | None = None) -> ShardService:
    """The one service of its kind."""
    return ShardService(Name.CONGESTION_CONTROL, "cc", settings, _register, prepared)


def _register(view: ShardView, server: grpc.aio.Server) -> str:
    add_CongestionControlServicer_to_server(CongestionControlServicer(view), server)
    return str(congestion_control_pb2.DESCRIPTOR.services_by_name["CongestionControl"].full_name)
