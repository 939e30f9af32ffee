# SPDX-License-Identifier: Apache-2.0
"""Putting the arrays of all shards together, for a result or a closer look."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import grpc.aio
import numpy as np

from fabrictwin.api.v1.shard_pb2 import ReadArraysRequest
from fabrictwin.api.v1.shard_pb2_grpc import ShardStub
from fabrictwin.engine.partition import Partition
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.readout import Readout
from fabrictwin.engine.result import describe_ports, describe_run
from fabrictwin.runtime.director.state import Twin
from fabrictwin.runtime.director.watch import Watch
from fabrictwin.runtime.records import read_dtype

WITHIN_S = 120.0
READ = (
    "g",
    "port",
    "port_more",
    "pv",
    "pv_input",
    "lane",
    "lane_more",
    "buffer",
    "voq",
    "packet",
    "node",
    "lft",
    "requester",
    "responder",
    "rank",
    "cc",
    "rate",
    "latency",
    "mark",
    "log",
)
"""The arrays that a readout needs."""


async def collect(plan: Plan, partition: Partition, watch: Watch, twin: Twin) -> Readout:
    """The arrays of every shard, which must all stand at the fabric time that the twin has reached.

    Args:
        plan: The scenario as it is now, and its rows.
        partition: Which shard simulates which node.
        watch: Knows where the shards listen.
        twin: Knows the fabric time, and what the subnet managers have said.

    Raises:
        grpc.aio.AioRpcError: A shard does not answer, or stands elsewhere.
    """
    # One that was started again listens elsewhere.
    await watch.look()
    channels = [watch.channel_to(name) for name in partition.names]
    states = await asyncio.gather(*(_read(channel, twin.reached_ps) for channel in channels))
    shards = [SimpleNamespace(number=number, state=state) for number, state in enumerate(states)]
    group: Any = SimpleNamespace(
        shards=shards, partition=partition, now_ps=twin.reached_ps, events=tuple(twin.subnet_events)
    )
    return Readout(plan, group)


async def _read(channel: grpc.aio.Channel, at_ps: int) -> Any:
    state = SimpleNamespace()
    arrays: dict[str, tuple[np.dtype[Any], bytearray]] = {}
    request = ReadArraysRequest(at_ps=at_ps, names=READ)
    async for chunk in ShardStub(channel).ReadArrays(request, timeout=WITHIN_S):
        if chunk.dtype:
            arrays[chunk.array] = (read_dtype(json.loads(chunk.dtype)), bytearray())
        arrays[chunk.array][1].extend(chunk.data)
    for name, (dtype, data) in arrays.items():
        array = np.frombuffer(data, dtype)
        setattr(state, name, array.view(np.recarray) if dtype.names else array)
    return state


def describe_twin(readout: Readout, twin: Twin) -> dict[str, Any]:
    """The result of a twin that stands still, with the code that ``simulate`` uses.

    Args:
        readout: Its arrays.
        twin: Why it stands, and since when.
    """
    end_ps = twin.end_ps if twin.stopped else twin.reached_ps
    return describe_run(readout, end_ps, twin.stopped or "paused", twin.deadlock, describe_ports(readout))
