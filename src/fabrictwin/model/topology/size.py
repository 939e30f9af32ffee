# SPDX-License-Identifier: Apache-2.0
"""How large a topology will be, known before it is expanded, and the bounds that refuse a hostile one."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.errors import Problem

MAX_NODES = 49_151
"""Every switch and every HCA port needs a LID, and a subnet has so many for unicast (IBTA)."""
MAX_PORTS = 1_000_000
MAX_LINKS = 300_000
"""The largest tree of three levels that has LIDs enough (k = 56) has 131,712 cables."""


@dataclass(frozen=True, slots=True)
class FabricSize:
    """Counts of a fabric.

    Attributes:
        switches: Number of switches.
        hcas: Number of HCAs, each with one port.
        links: Number of cables.
        radix: Ports that the busiest switch needs.
    """

    switches: int
    hcas: int
    links: int
    radix: int


def check_size(size: FabricSize, ports_per_switch: int, field: str) -> list[Problem]:
    """Which bounds a fabric would break.

    Args:
        size: What would be built.
        ports_per_switch: Ports of each switch, cabled or not.
        field: Where the topology stands in its scenario.

    Returns:
        One problem per broken bound.
    """
    counts = (
        ("nodes", size.switches + size.hcas, MAX_NODES),
        ("ports", size.switches * ports_per_switch + size.hcas, MAX_PORTS),
        ("links", size.links, MAX_LINKS),
    )
    return [
        Problem(f"the fabric would have {count:,} {what}; the most is {most:,}", field=field)
        for what, count, most in counts
        if count > most
    ]
