# SPDX-License-Identifier: Apache-2.0
"""The service ``switch_node``: what it is made of."""

from __future__ import annotations

import grpc.aio

from fabrictwin.api.v1 import switch_node_pb2
from fabrictwin.api.v1.switch_node_pb2_grpc import add_SwitchNodeServicer_to_server
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.shard_service import ShardService, ShardView
from fabrictwin.telemetry import Service as Name
from services.switch_node.servicer import SwitchNodeServicer


def make_service(settings: Settings, prepared: Blueprint | None = None) -> ShardService:
    """The service of one shard."""
    return ShardService(Name.SWITCH_NODE, f"switch{settings.shard.number}", settings, _register, prepared)


def _register(view: ShardView, server: grpc.aio.Server) -> str:
    add_SwitchNodeServicer_to_server(SwitchNodeServicer(view), server)
    return str(switch_node_pb2.DESCRIPTOR.services_by_name["SwitchNode"].full_name)
