# SPDX-License-Identifier: Apache-2.0
"""An adapter sends PFC frames without end: whoever sends to it waits, and then everybody behind them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, HcaFaultSpec
from fabrictwin.model.lookup import find_hca_port


class PfcStormSpec(HcaFaultSpec):
    """Keys of ``pfc_storm``."""

    kind: Literal["pfc_storm"]
    priority: Annotated[
        int | None,
        Field(ge=0, le=7, description="the priority that it pauses; default: the lowest lossless one"),
    ] = None


def compile_pfc_storm(spec: PfcStormSpec, context: FaultContext) -> list[Change] | None:
    """The pause of the priority, and its end."""
    port = find_hca_port(context.fabric, context.section, spec.node, "node")
    if not context.lossless:
        context.section.refuse("no priority is lossless: PFC pauses none", "kind")
        return None
    priority = min(context.lossless) if spec.priority is None else spec.priority
    if priority not in context.lossless:
        names = ", ".join(map(str, sorted(context.lossless)))
        context.section.refuse(
            f"priority {priority} is not lossless: PFC does not pause it; expected one of {names}", "priority"
        )
        return None
    if port is None:
        return None
    return [Change(ActionKind.PFC_STORM, port, 1 + priority, -(1 + priority), spec.at, spec.end_ps)]


PFC_STORM = FaultKind(
    "pfc_storm",
    "RoCE: an adapter pauses a priority all the time.",
    PfcStormSpec,
    compile_pfc_storm,
    Technology.ROCE,
)
