# SPDX-License-Identifier: Apache-2.0
"""A node's subnet management agent hangs: the node forwards as before, but cannot be managed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LastingFaultSpec
from fabrictwin.model.lookup import find_node, first_cabled_port
from fabrictwin.model.quantities import Wanted


class SmaUnresponsiveSpec(LastingFaultSpec):
    """Keys of ``sma_unresponsive``."""

    kind: Literal["sma_unresponsive"]
    node: Annotated[
        str, Wanted("a switch or an HCA, e.g. `leaf0`"), Field(description="the node that does not answer")
    ]


def compile_sma_unresponsive(spec: SmaUnresponsiveSpec, context: FaultContext) -> list[Change] | None:
    """It answers no SMPs, and then does again."""
    node = find_node(context.fabric, context.section, spec.node, "node")
    if node is None:
        return None
    port = first_cabled_port(context.fabric, node)
    if port is None:
        context.section.refuse(f"{spec.node!r} has no cable", "node")
        return None
    return [Change(ActionKind.SMA_STATE, port, 0, 1, spec.at, spec.end_ps)]


SMA_UNRESPONSIVE = FaultKind(
    "sma_unresponsive",
    "A node does not answer subnet management packets, while its data plane goes on.",
    SmaUnresponsiveSpec,
    compile_sma_unresponsive,
    Technology.INFINIBAND,
)
