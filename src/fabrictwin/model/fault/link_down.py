# SPDX-License-Identifier: Apache-2.0
"""A cable goes down."""

from __future__ import annotations

from typing import Literal

from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LinkFaultSpec, link_state_change


class LinkDownSpec(LinkFaultSpec):
    """Keys of ``link_down``."""

    kind: Literal["link_down"]


def compile_link_down(spec: LinkDownSpec, context: FaultContext) -> list[Change] | None:
    """Both directions, at once."""
    link = context.cable(spec)
    return None if link is None else [link_state_change(link, spec.at, spec.end_ps)]


LINK_DOWN = FaultKind(
    "link_down", "A cable goes down, for a while or for ever.", LinkDownSpec, compile_link_down
)
