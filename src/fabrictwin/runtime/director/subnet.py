# SPDX-License-Identifier: Apache-2.0
"""Who rules the subnet, asked of the subnet managers themselves."""

from __future__ import annotations

import asyncio

import grpc.aio

from fabrictwin.api.v1.subnet_manager_pb2 import GetSmInfoRequest, GetSmInfoResponse
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerStub
from fabrictwin.runtime.director.watch import Watch
from fabrictwin.runtime.failures import StateError

ANSWER_WITHIN_S = 2.0


async def find_master(watch: Watch, managers: int) -> int:
    """Number of the master subnet manager; of several the one of the highest rank.

    Args:
        watch: Knows where the services listen.
        managers: How many subnet managers there are.

    Raises:
        StateError: None is master, or none answers.
    """
    channels = [watch.channel_to(f"sm{number}") for number in range(managers)]
    answers = await asyncio.gather(*map(_ask, channels))
    masters = [each for each in answers if each is not None and each.state == "master"]
    if not masters:
        raise StateError("no subnet manager is master now: wait for the next one to take over")
    return int(max(masters, key=lambda each: (each.priority, -each.guid)).number)


async def _ask(channel: grpc.aio.Channel) -> GetSmInfoResponse | None:
    try:
        return await SubnetManagerStub(channel).GetSmInfo(GetSmInfoRequest(), timeout=ANSWER_WITHIN_S)
    except grpc.aio.AioRpcError:
        return None
