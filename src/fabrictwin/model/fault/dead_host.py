# SPDX-License-Identifier: Apache-2.0
"""A host dies, and others go on sending to it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, HcaFaultSpec, link_state_change
from fabrictwin.model.lookup import find_hca_port


class DeadHostSpec(HcaFaultSpec):
    """Keys of ``dead_host``."""

    kind: Literal["dead_host"]
    flooding: Annotated[
        bool,
        Field(
            description="its switch has forgotten its MAC address and still knows its IP address: what comes "
            "for it goes to every port; `false`: it is dropped"
        ),
    ] = False


def compile_dead_host(spec: DeadHostSpec, context: FaultContext) -> list[Change] | None:
    """The host's cable is down, and its switch may flood."""
    port = find_hca_port(context.fabric, context.section, spec.node, "node")
    link = context.fabric.link_at.get(port) if port is not None else None
    if port is None or link is None:
        return None
    changes = [link_state_change(link, spec.at, spec.end_ps)]
    if spec.flooding:
        changes.append(Change(ActionKind.FLOODING, link.other(port), 1, 0, spec.at, spec.end_ps))
    return changes


DEAD_HOST = FaultKind(
    "dead_host",
    "RoCE: a host dies; its switch drops what still comes for it, or floods it.",
    DeadHostSpec,
    compile_dead_host,
    Technology.ROCE,
)
