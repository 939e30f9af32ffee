# SPDX-License-Identifier: Apache-2.0
"""A switch dies: every cable on it goes down."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LastingFaultSpec, link_state_change
from fabrictwin.model.lookup import find_node
from fabrictwin.model.quantities import Wanted


class SwitchDownSpec(LastingFaultSpec):
    """Keys of ``switch_down``."""

    kind: Literal["switch_down"]
    switch: Annotated[str, Wanted("a switch, e.g. `spine0`"), Field(description="the switch")]


def compile_switch_down(spec: SwitchDownSpec, context: FaultContext) -> list[Change] | None:
    """Its cables, at once; what it held is lost with them."""
    node = find_node(context.fabric, context.section, spec.switch, "switch", kind=NodeKind.SWITCH)
    if node is None:
        return None
    links = (link for link in context.fabric.links if node in (link.a.node, link.b.node))
    return [link_state_change(link, spec.at, spec.end_ps) for link in links]


SWITCH_DOWN = FaultKind(
    "switch_down", "A switch dies, for a while or for ever.", SwitchDownSpec, compile_switch_down
)
