# SPDX-License-Identifier: Apache-2.0
"""An HCA has no receive work requests posted: it answers with RNR NAKs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, FaultSpec
from fabrictwin.model.lookup import find_hca_port
from fabrictwin.model.quantities import Endpoint, TimePs


class ReceiverNotReadySpec(FaultSpec):
    """Keys of ``receiver_not_ready``."""

    kind: Literal["receiver_not_ready"]
    node: Annotated[Endpoint, Field(description="the HCA")]
    duration: Annotated[TimePs, Field(description="how long it lasts", gt=0)]

    @property
    def end_ps(self) -> int:
        """Fabric time at which it ends."""
        return self.at + self.duration


def compile_receiver_not_ready(spec: ReceiverNotReadySpec, context: FaultContext) -> list[Change] | None:
    """No receive work requests, and then as many as needed."""
    port = find_hca_port(context.fabric, context.section, spec.node, "node")
    return None if port is None else [Change(ActionKind.RECEIVE_QUEUE, port, 0, 1, spec.at, spec.end_ps)]


RECEIVER_NOT_READY = FaultKind(
    "receiver_not_ready",
    "An HCA has no receive work requests posted and answers with RNR NAKs.",
    ReceiverNotReadySpec,
    compile_receiver_not_ready,
)
