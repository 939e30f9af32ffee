# SPDX-License-Identifier: Apache-2.0
"""An HCA takes data out of its receive buffer slower than the link brings it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, HcaFaultSpec
from fabrictwin.model.lookup import find_hca_port
from fabrictwin.model.quantities import RateOrStopBps

LINE_RATE = -1
"""Value of a DRAIN_RATE that means: as fast as the link."""


class SlowReceiverSpec(HcaFaultSpec):
    """Keys of ``slow_receiver``."""

    kind: Literal["slow_receiver"]
    rate: Annotated[RateOrStopBps, Field(description="rate at which it drains; `0Gb/s` stops it")]


def compile_slow_receiver(spec: SlowReceiverSpec, context: FaultContext) -> list[Change] | None:
    """The rate, and afterwards the rate of the HCA's model again."""
    port = find_hca_port(context.fabric, context.section, spec.node, "node")
    if port is None:
        return None
    model_bps = context.hca_models[context.fabric.nodes[port.node].model].drain_rate_bps
    restored = LINE_RATE if model_bps is None else model_bps
    return [Change(ActionKind.DRAIN_RATE, port, spec.rate, restored, spec.at, spec.end_ps)]


SLOW_RECEIVER = FaultKind(
    "slow_receiver",
    "An HCA drains its receive buffer slowly, or not at all.",
    SlowReceiverSpec,
    compile_slow_receiver,
)
