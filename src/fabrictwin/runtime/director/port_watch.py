# SPDX-License-Identifier: Apache-2.0
"""Watching the ports of all shards at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import grpc.aio

from fabrictwin.api.v1.common_pb2 import PortActivity, WatchPortsRequest
from fabrictwin.api.v1.shard_pb2_grpc import ShardStub
from fabrictwin.runtime.director.watch import Watch
from fabrictwin.runtime.port_activity import merge, read_interval_s, read_most

AGAIN_AFTER_S = 1.0


async def watch_ports(
    watch: Watch, shards: Sequence[str], request: WatchPortsRequest, stopping: asyncio.Event
) -> AsyncIterator[PortActivity]:
    """What goes over the ports of every shard that answers, again and again.

    Args:
        watch: Knows where the shards are.
        shards: Names of their logical processes.
        request: How often, and how many ports.
        stopping: Ends it.

    Raises:
        InputError: The request asks for too much.
    """
    every_s, most = read_interval_s(request), read_most(request)
    latest: dict[str, PortActivity] = {}
    tasks = [asyncio.create_task(_follow(watch, name, request, latest)) for name in shards]
    try:
        while not stopping.is_set():
            await asyncio.sleep(every_s)
            if latest:
                yield merge([*latest.values()], most)
    finally:
        for task in tasks:
            task.cancel()


async def _follow(
    watch: Watch, name: str, request: WatchPortsRequest, latest: dict[str, PortActivity]
) -> None:
    """Keeps the latest answer of a shard, and none while it does not answer."""
    while True:
        try:
            async for activity in ShardStub(watch.channel_to(name)).WatchPorts(request):
                latest[name] = activity
        except grpc.aio.AioRpcError:
            latest.pop(name, None)
            await asyncio.sleep(AGAIN_AFTER_S)
