# SPDX-License-Identifier: Apache-2.0
"""A cable comes up narrower or slower than it should be."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LinkFaultSpec
from fabrictwin.model.hardware.link_speed import link_rate_bps
from fabrictwin.model.quantities import RateBps
from fabrictwin.units import show_rate

_LANES = 4
"""A fabric keeps the rate of a link and not its width; every cable is taken for a 4x one."""

Speed = Literal["SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR"]


class LinkDegradedSpec(LinkFaultSpec):
    """Keys of ``link_degraded``."""

    kind: Literal["link_degraded"]
    width: Annotated[
        Literal["1x", "2x"] | None, Field(description="lanes left of a 4x cable; the speed of a lane stays")
    ] = None
    speed: Annotated[Speed | None, Field(description="or the speed of each of the 4 lanes")] = None
    rate: Annotated[RateBps | None, Field(description="or the rate itself")] = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if sum(value is not None for value in (self.width, self.speed, self.rate)) != 1:
            raise ValueError("give one of 'width', 'speed' and 'rate'")
        return self

    def rate_from(self, rate_bps: int) -> int:
        """The rate that is left of a cable's."""
        if self.width is not None:
            return rate_bps * int(self.width[0]) // _LANES
        if self.speed is not None:
            return link_rate_bps(self.speed, _LANES)
        return self.rate or 0


def compile_link_degraded(spec: LinkDegradedSpec, context: FaultContext) -> list[Change] | None:
    """The lower rate, in both directions."""
    link = context.cable(spec)
    if link is None:
        return None
    rate_bps = spec.rate_from(link.rate_bps)
    if rate_bps >= link.rate_bps:
        field = next(name for name in ("width", "speed", "rate") if getattr(spec, name) is not None)
        context.section.refuse(
            f"{show_rate(rate_bps)} is not less than the {show_rate(link.rate_bps)} that the cable has", field
        )
        return None
    return [Change(ActionKind.LINK_RATE, link.a, rate_bps, link.rate_bps, spec.at, spec.end_ps)]


LINK_DEGRADED = FaultKind(
    "link_degraded",
    "A cable runs at a lower width, speed or rate.",
    LinkDegradedSpec,
    compile_link_degraded,
)
