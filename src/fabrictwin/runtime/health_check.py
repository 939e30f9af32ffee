# SPDX-License-Identifier: Apache-2.0
"""``python -m fabrictwin.runtime.health_check HOST:PORT``: whether a service says SERVING; exit code 0 or 1.

What a container engine calls again and again: it imports nothing but the standard gRPC health service.
"""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

ANSWER_WITHIN_S = 3.0


def check(address: str) -> str:
    """What a service says of its health: ``SERVING``, ``NOT_SERVING``, or why it does not answer."""
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=ANSWER_WITHIN_S)
        except grpc.RpcError as error:
            return str(error.code().name)
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


def main() -> None:
    """The command."""
    health = check(sys.argv[1])
    print(health)
    sys.exit(health != "SERVING")


if __name__ == "__main__":
    main()
