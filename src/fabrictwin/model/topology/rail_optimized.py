# SPDX-License-Identifier: Apache-2.0
"""Rail-optimised fabric of GPU servers: NIC i of every server of a unit sits on the unit's leaf i."""

from __future__ import annotations

from typing import Literal

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.builder import FabricBuilder
from fabrictwin.model.topology.equipment import Equipment
from fabrictwin.model.topology.parameters import Count, TopologyParameters
from fabrictwin.model.topology.size import FabricSize
from fabrictwin.model.topology.tiers import connect_tiers


class RailOptimized(TopologyParameters):
    """Parameters of ``rail_optimized``.

    HCAs are numbered server by server: h0 to h(rails - 1) are the rails of the first server. Leaf r of
    scalable unit u is leaf(u · rails + r); server s of the unit sits on its port s + 1.

    Attributes:
        generator: Name of the topology.
        scalable_units: Groups of servers that share leaves.
        servers_per_unit: Servers in each.
        rails: HCAs of a server, and leaves of a unit.
        spines: Spine switches.
        links_per_spine: Parallel cables between a leaf and a spine.
    """

    generator: Literal["rail_optimized"] = "rail_optimized"
    scalable_units: Count
    servers_per_unit: Count
    rails: Count
    spines: Count
    links_per_spine: Count = 1


def size_rail_optimized(parameters: RailOptimized) -> FabricSize:
    """What will be built."""
    leaves = parameters.scalable_units * parameters.rails
    hcas = leaves * parameters.servers_per_unit
    uplinks = parameters.spines * parameters.links_per_spine
    return FabricSize(
        switches=leaves + parameters.spines,
        hcas=hcas,
        links=hcas + leaves * uplinks,
        radix=max(parameters.servers_per_unit + uplinks, leaves * parameters.links_per_spine),
    )


def build_rail_optimized(parameters: RailOptimized, equipment: Equipment, radix: int) -> Fabric:
    """The fabric; every switch has ``radix`` ports."""
    builder = FabricBuilder(equipment)
    rails, servers_per_unit = parameters.rails, parameters.servers_per_unit
    servers = parameters.scalable_units * servers_per_unit
    hosts = [builder.add_hca(f"h{index}") for index in range(servers * rails)]
    leaves = [builder.add_switch(f"leaf{index}", radix) for index in range(parameters.scalable_units * rails)]
    spines = [builder.add_switch(f"spine{index}", radix) for index in range(parameters.spines)]
    for index, host in enumerate(hosts):
        server, rail = divmod(index, rails)
        unit, place = divmod(server, servers_per_unit)
        builder.connect((host, 1), (leaves[unit * rails + rail], place + 1))
    connect_tiers(builder, leaves, spines, parameters.links_per_spine, servers_per_unit + 1)
    return builder.build()
