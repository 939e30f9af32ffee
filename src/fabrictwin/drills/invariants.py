# SPDX-License-Identifier: Apache-2.0
"""What has to hold whatever happens to a fabric: every packet is somewhere, and one subnet manager rules."""

from __future__ import annotations

from collections.abc import Iterator

from fabrictwin.drills.course import Invariant
from fabrictwin.drills.look import Look
from fabrictwin.drills.subnet import masters_of
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario

IDLE = "idle"
MOST_ON_A_CABLE = 64
"""Packets that a cable may carry; those of a longer one are control frames."""
_PLACES_SHOWN = 3


def check_invariants(scenario: Scenario, look: Look, ours: set[str]) -> list[Invariant]:
    """What holds at the end of a drill, and what does not.

    Args:
        scenario: What the twin runs.
        look: The last look.
        ours: Ids of the faults that the drill has injected.
    """
    checks = [_conserve(look), _end_faults(look, ours)]
    if scenario.fabric.technology is Technology.INFINIBAND:
        checks.append(_one_master(scenario, look))
    return checks


def _conserve(look: Look) -> Invariant:
    """Sent = received + damaged + in flight, on each cable and in each direction.

    Once all is idle nothing is in flight; what a cable loses as it goes down counts for that outage.
    """
    wrong = list(_unaccounted(look))
    if wrong:
        shown = "; ".join(wrong[:_PLACES_SHOWN])
        return Invariant("packets conserved", False, f"{len(wrong)} cables: {shown}")
    sent = sum(row["port_xmit_pkts"] for row in look.ports.values())
    how = "nothing is in flight" if look.stopped == IDLE else "what is missing is in flight"
    return Invariant("packets conserved", True, f"{sent:,} sent over {len(look.ports)} ports; {how}")


def _unaccounted(look: Look) -> Iterator[str]:
    for name, row in look.ports.items():
        peer = look.ports[row["peer"]]
        missing = row["port_xmit_pkts"] - peer["port_rcv_pkts"] - peer["port_rcv_errors"]
        outages = row["link_downed_counter"]
        most = MOST_ON_A_CABLE * (outages + (look.stopped != IDLE))
        if not 0 <= missing <= most:
            yield f"{name} sent {row['port_xmit_pkts']:,}, {missing:,} of them are nowhere"


def _end_faults(look: Look, ours: set[str]) -> Invariant:
    left = sorted(ours & set(look.active_faults)) if not look.stopped else []
    text = f"still active: {', '.join(left)}" if left else f"{len(ours)} injected, none active"
    return Invariant("no fault left", not left, text)


def _one_master(scenario: Scenario, look: Look) -> Invariant:
    masters = masters_of(scenario, look.events)
    return Invariant("one master subnet manager", len(masters) == 1, ", ".join(sorted(masters)) or "none")
