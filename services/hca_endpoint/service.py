# SPDX-License-Identifier: Apache-2.0
"""The service ``hca_endpoint``: what it is made of."""

from __future__ import annotations

import grpc.aio

from fabrictwin.api.v1 import hca_endpoint_pb2
from fabrictwin.api.v1.hca_endpoint_pb2_grpc import add_HcaEndpointServicer_to_server
from fabrictwin.runtime.blueprint import Blueprint
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.shard_service import ShardService, ShardView
from fabrictwin.telemetry import Service as Name
from services.hca_endpoint.servicer import HcaEndpointServicer


def make_service(settings: Settings, prepared: Blueprint | None = None) -> ShardService:
    """The service of one shard."""
    return ShardService(Name.HCA_ENDPOINT, f"hca{settings.shard.number}", settings, _register, prepared)


def _register(view: ShardView, server: grpc.aio.Server) -> str:
    add_HcaEndpointServicer_to_server(HcaEndpointServicer(view), server)
    return str(hca_endpoint_pb2.DESCRIPTOR.services_by_name["HcaEndpoint"].full_name)
