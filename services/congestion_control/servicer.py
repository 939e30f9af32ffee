# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``CongestionControl``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from fabrictwin.api.v1 import congestion_control_pb2 as pb
from fabrictwin.api.v1.congestion_control_pb2_grpc import CongestionControlServicer as Base
from fabrictwin.model.congestion import ALGORITHMS
from fabrictwin.model.fabric import Technology
from fabrictwin.runtime.failures import StateError
from fabrictwin.runtime.reading import cut_page
from fabrictwin.runtime.shard_service import ShardView

SLS = 16
_NOT_SHOWN = ("algorithm", "rates", "cct", "victim_ports")
"""What is the algorithm itself, or too long for a parameter."""


class CongestionControlServicer(Base):
    """Answers from the arrays of the reaction points."""

    def __init__(self, shard: ShardView) -> None:
        self._shard = shard

    async def GetParameters(self, request: pb.GetParametersRequest, context: Any) -> pb.GetParametersResponse:
        """What the scenario sets."""
        control = self._shard.plan.scenario.congestion_control
        settings = control.rates or control
        shown = [item.name for item in fields(settings) if item.name not in _NOT_SHOWN]
        return pb.GetParametersResponse(
            algorithm=control.algorithm, parameters={name: str(getattr(settings, name)) for name in shown}
        )

    async def ListAlgorithms(
        self, request: pb.ListAlgorithmsRequest, context: Any
    ) -> pb.ListAlgorithmsResponse:
        """The algorithms that a scenario may name."""
        technology = self._shard.plan.scenario.fabric.technology
        return pb.ListAlgorithmsResponse(algorithms=sorted(ALGORITHMS[technology]))

    async def GetFlowState(self, request: pb.GetFlowStateRequest, context: Any) -> pb.GetFlowStateResponse:
        """What holds flows back now."""
        shard = self._shard
        control = shard.plan.scenario.congestion_control
        if shard.plan.scenario.fabric.technology is Technology.ROCE:
            raise StateError(
                f"{control.algorithm} runs in the adapters: ask hca_endpoint for the rates of its queue pairs"
            )
        with shard.hold() as at_ps:
            entities = shard.state.cc.copy()
        if control.algorithm == "none":
            return pb.GetFlowStateResponse(at_ps=at_ps)
        seen = (entities.becns > 0) | (entities.ccti > control.ccti_min)
        limited = entities.ccti > control.ccti_min
        rows, token = cut_page(np.flatnonzero(limited if request.limited else seen).tolist(), request.page)
        flows = [_describe(shard, row, entities[row]) for row in rows]
        return pb.GetFlowStateResponse(at_ps=at_ps, flows=flows, next_page=token)


def _describe(shard: ShardView, row: int, entity: Any) -> pb.FlowState:
    plan = shard.plan
    state = pb.FlowState(
        node=plan.scenario.fabric.nodes[int(entity.node)].name,
        sl=-1,
        queue_pair=-1,
        ccti=int(entity.ccti),
        applied_ccti=int(entity.applied),
        becns=int(entity.becns),
    )
    if plan.scenario.congestion_control.control == "sl":
        port, state.sl = divmod(row, SLS)
        state.port = port - int(plan.ports.first[int(entity.node)]) + 1
    else:
        state.queue_pair = row
    return state
