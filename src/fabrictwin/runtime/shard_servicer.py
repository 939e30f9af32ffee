# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``Shard``: what the director reads of a shard, to put it together."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np

from fabrictwin.api.v1 import shard_pb2 as pb
from fabrictwin.api.v1.common_pb2 import PortActivity, WatchPortsRequest
from fabrictwin.api.v1.shard_pb2_grpc import ShardServicer as Base
from fabrictwin.engine.state import ARRAYS, LOGS
from fabrictwin.errors import nearest
from fabrictwin.runtime.failures import StateError, UnknownNameError
from fabrictwin.runtime.port_activity import PortReader, read_interval_s, read_most
from fabrictwin.telemetry import FabricSource

CHUNK_BYTES = 1 << 20


class ShardServicer(Base):
    """Streams arrays."""

    def __init__(self, source: FabricSource) -> None:
        self._source = source

    async def ReadArrays(  # noqa: N802  the name of the call
        self, request: pb.ReadArraysRequest, context: Any
    ) -> AsyncIterator[pb.ArrayChunk]:
        """Its arrays at the fabric time that it has reached."""
        for name in request.names:
            if name not in ARRAYS:
                raise UnknownNameError(f"no array {name[:80]!r}{nearest(name[:80], ARRAYS)}")
        for name in request.names:
            with self._source.hold() as at_ps:
                if at_ps != request.at_ps:
                    raise StateError(f"fabric time is {at_ps} ps here, not {request.at_ps} ps: pause first")
                array = _filled(self._source.state, name).copy()
            for chunk in _chunks(name, array):
                yield chunk

    async def WatchPorts(  # noqa: N802  the name of the call
        self, request: WatchPortsRequest, context: Any
    ) -> AsyncIterator[PortActivity]:
        """What goes over its ports, until nobody listens any more."""
        every_s, most = read_interval_s(request), read_most(request)
        reader = await asyncio.to_thread(PortReader, self._source)
        while True:
            await asyncio.sleep(every_s)
            yield await asyncio.to_thread(reader.read, most)


def _filled(state: Any, name: str) -> np.ndarray:
    """An array; of a log only what is in it."""
    array = np.asarray(getattr(state, name))
    return array[: int(state.g[0][LOGS[name]])] if name in LOGS else array


def _chunks(name: str, array: np.ndarray) -> list[pb.ArrayChunk]:
    data = array.tobytes()
    chunks = [
        pb.ArrayChunk(array=name, data=data[first : first + CHUNK_BYTES])
        for first in range(0, max(1, len(data)), CHUNK_BYTES)
    ]
    chunks[0].size_bytes = len(data)
    chunks[0].dtype = json.dumps(np.lib.format.dtype_to_descr(array.dtype))
    return chunks
