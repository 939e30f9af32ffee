# SPDX-License-Identifier: Apache-2.0
"""Switches in an open line, each with its hosts."""

from __future__ import annotations

from typing import Literal

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.line import build_line
from fabrictwin.model.topology.parameters import Count, TopologyParameters
from fabrictwin.model.topology.size import FabricSize


class Chain(TopologyParameters):
    """Parameters of ``chain``.

    Attributes:
        generator: Name of the topology.
        switches: Switches in the line.
        hosts_per_switch: HCAs on each.
    """

    generator: Literal["chain"] = "chain"
    switches: Count
    hosts_per_switch: Count


def size_chain(parameters: Chain) -> FabricSize:
    """What will be built."""
    hcas = parameters.switches * parameters.hosts_per_switch
    # The previous switch's port comes after the next one's, so even two switches need both.
    radix = parameters.hosts_per_switch + (2 if parameters.switches > 1 else 0)
    return FabricSize(
        switches=parameters.switches, hcas=hcas, links=hcas + parameters.switches - 1, radix=radix
    )


def build_chain(parameters: Chain, equipment: Equipment, radix: int) -> Fabric:
    """The fabric; every switch has ``radix`` ports."""
    return build_line(parameters.switches, parameters.hosts_per_switch, equipment, radix, closed=False)
