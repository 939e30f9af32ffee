# SPDX-License-Identifier: Apache-2.0
"""A subnet manager dies: the process, not the host that it runs on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import PortRef, Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LastingFaultSpec
from fabrictwin.model.quantities import Wanted
from fabrictwin.model.subnet_manager import find_manager


class SmDownSpec(LastingFaultSpec):
    """Keys of ``sm_down``."""

    kind: Literal["sm_down"]
    node: Annotated[str, Wanted("an HCA, e.g. `h0`"), Field(description="where the subnet manager runs")]


def compile_sm_down(spec: SmDownSpec, context: FaultContext) -> list[Change] | None:
    """It stops, and starts again from nothing."""
    manager = find_manager(context.managers, context.fabric, context.section, spec.node, "node")
    if manager is None:
        return None
    return [Change(ActionKind.SM_STATE, PortRef(manager.node, manager.port), 0, 1, spec.at, spec.end_ps)]


SM_DOWN = FaultKind(
    "sm_down",
    "A subnet manager dies, for a while or for ever; the fabric goes on.",
    SmDownSpec,
    compile_sm_down,
    Technology.INFINIBAND,
)
