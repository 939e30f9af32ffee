# SPDX-License-Identifier: Apache-2.0
"""A cable goes down and comes up again, several times."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, FaultSpec, link_state_change
from fabrictwin.model.lookup import find_cable
from fabrictwin.model.quantities import Cable, TimePs

MOST_FLAPS = 1_000


class LinkFlapSpec(FaultSpec):
    """Keys of ``link_flap``."""

    kind: Literal["link_flap"]
    link: Annotated[Cable, Field(description="the two ends of a cable")]
    down: Annotated[TimePs, Field(description="how long it is down each time", gt=0)]
    up: Annotated[TimePs, Field(description="how long it is up between two times", gt=0)]
    count: Annotated[int, Field(description="how often it goes down", ge=1, le=MOST_FLAPS)]

    @property
    def end_ps(self) -> int:
        """Fabric time at which the cable is up for good."""
        return self.at + self.count * self.down + (self.count - 1) * self.up


def compile_link_flap(spec: LinkFlapSpec, context: FaultContext) -> list[Change] | None:
    """So many outages, one after the other."""
    link = find_cable(context.fabric, context.section, spec.link, "link")
    if link is None:
        return None
    starts = (spec.at + flap * (spec.down + spec.up) for flap in range(spec.count))
    return [link_state_change(link, start_ps, start_ps + spec.down) for start_ps in starts]


LINK_FLAP = FaultKind(
    "link_flap", "A cable goes down and comes up again, several times.", LinkFlapSpec, compile_link_flap
)
