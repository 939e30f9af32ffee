# SPDX-License-Identifier: Apache-2.0
"""What every topology's parameters are made of: nothing extra, nothing converted, every count bounded."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fabrictwin.model.topology.size import MAX_NODES

TOPOLOGY_FIELD = "fabric.topology"
"""Where a topology stands in a scenario."""

RATE_FIELD = "fabric.link.rate"
"""Where the rate of every cable stands in a scenario."""


class TopologyParameters(BaseModel):
    """Base of every topology's parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Count = Annotated[int, Field(ge=1, le=MAX_NODES)]
"""A number of things, at least one."""
