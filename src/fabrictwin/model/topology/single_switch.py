# SPDX-License-Identifier: Apache-2.0
"""Hosts on one switch: host i on port i + 1 of sw0."""

from __future__ import annotations

from typing import Literal

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.builder import FabricBuilder
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.parameters import Count, TopologyParameters
from fabrictwin.model.topology.size import FabricSize


class SingleSwitch(TopologyParameters):
    """Parameters of ``single_switch``.

    Attributes:
        generator: Name of the topology.
        hosts: HCAs on the switch.
    """

    generator: Literal["single_switch"] = "single_switch"
    hosts: Count


def size_single_switch(parameters: SingleSwitch) -> FabricSize:
    """What will be built."""
    return FabricSize(switches=1, hcas=parameters.hosts, links=parameters.hosts, radix=parameters.hosts)


def build_single_switch(parameters: SingleSwitch, equipment: Equipment, radix: int) -> Fabric:
    """The fabric; every switch has ``radix`` ports."""
    builder = FabricBuilder(equipment)
    hosts = [builder.add_hca(f"h{index}") for index in range(parameters.hosts)]
    switch = builder.add_switch("sw0", radix)
    for index, host in enumerate(hosts):
        builder.connect((host, 1), (switch, index + 1))
    return builder.build()
