# SPDX-License-Identifier: Apache-2.0
"""Switches in a line, which a chain leaves open and a ring closes."""

from __future__ import annotations

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology.builder import FabricBuilder
from fabrictwin.model.topology.equipment import Equipment


def build_line(
    switches: int, hosts_per_switch: int, equipment: Equipment, radix: int, *, closed: bool
) -> Fabric:
    """Switches sw0, sw1, … with their hosts, each cabled to the next.

    A port means the same on every switch: 1 to H its hosts in order, H + 1 the next switch, H + 2 the
    previous one. At the ends of an open line one of the two stays empty.

    Args:
        switches: Number of switches.
        hosts_per_switch: H.
        equipment: What it is built of.
        radix: Ports of each switch.
        closed: Whether the last switch's next is the first.
    """
    builder = FabricBuilder(equipment)
    hosts = [builder.add_hca(f"h{index}") for index in range(switches * hosts_per_switch)]
    line = [builder.add_switch(f"sw{index}", radix) for index in range(switches)]
    for index, host in enumerate(hosts):
        builder.connect((host, 1), (line[index // hosts_per_switch], index % hosts_per_switch + 1))
    for index in range(switches if closed else switches - 1):
        following = line[(index + 1) % switches]
        builder.connect((line[index], hosts_per_switch + 1), (following, hosts_per_switch + 2))
    return builder.build()
