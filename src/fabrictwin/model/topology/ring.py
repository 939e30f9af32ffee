# SPDX-License-Identifier: Apache-2.0
"""Switches in a closed line, each with its hosts: the smallest fabric with a credit loop."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.line import build_line
from fabrictwin.model.topology.parameters import Count, TopologyParameters
from fabrictwin.model.topology.size import MAX_NODES, FabricSize


class Ring(TopologyParameters):
    """Parameters of ``ring``.

    Attributes:
        generator: Name of the topology.
        switches: Switches in the ring, three at least.
        hosts_per_switch: HCAs on each.
    """

    generator: Literal["ring"] = "ring"
    switches: Annotated[int, Field(ge=3, le=MAX_NODES)]
    hosts_per_switch: Count


def size_ring(parameters: Ring) -> FabricSize:
    """What will be built."""
    hcas = parameters.switches * parameters.hosts_per_switch
    return FabricSize(
        switches=parameters.switches,
        hcas=hcas,
        links=hcas + parameters.switches,
        radix=parameters.hosts_per_switch + 2,
    )


def build_ring(parameters: Ring, equipment: Equipment, radix: int) -> Fabric:
    """The fabric; every switch has ``radix`` ports."""
    return build_line(parameters.switches, parameters.hosts_per_switch, equipment, radix, closed=True)
