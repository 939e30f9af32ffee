# SPDX-License-Identifier: Apache-2.0
"""A subnet manager dies: the process, not the host that it runs on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import NodeKind, PortRef, Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LastingFaultSpec
from fabrictwin.model.lookup import find_node
from fabrictwin.model.quantities import Wanted


class SmDownSpec(LastingFaultSpec):
    """Keys of ``sm_down``."""

    kind: Literal["sm_down"]
    node: Annotated[str, Wanted("an HCA, e.g. `h0`"), Field(description="where the subnet manager runs")]


def compile_sm_down(spec: SmDownSpec, context: FaultContext) -> list[Change] | None:
    """It stops, and starts again from nothing."""
    node = find_node(context.fabric, context.section, spec.node, "node", kind=NodeKind.HCA)
    if node is None:
        return None
    manager = next((manager for manager in context.managers if manager.node == node), None)
    if manager is None:
        hosts = [context.fabric.nodes[manager.node].name for manager in context.managers]
        context.section.refuse_name("host of a subnet manager", spec.node, hosts, "node")
        return None
    return [Change(ActionKind.SM_STATE, PortRef(node, manager.port), 0, 1, spec.at, spec.end_ps)]


SM_DOWN = FaultKind(
    "sm_down",
    "A subnet manager dies, for a while or for ever; the fabric goes on.",
    SmDownSpec,
    compile_sm_down,
    Technology.INFINIBAND,
)
