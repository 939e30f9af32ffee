# SPDX-License-Identifier: Apache-2.0
"""What the subnet manager has decided, as plain arrays: the engine's only view of routing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from fabrictwin.model.fabric import PortRef


@dataclass(frozen=True)
class BlockWrite:
    """One block of 64 forwarding-table entries, written at a fabric time.

    Attributes:
        at_ps: Fabric time at which the switch uses it.
        node: Node index of the switch.
        block: Number of the block.
        ports: [64] uint8, output ports.
    """

    at_ps: int
    node: int
    block: int
    ports: np.ndarray


@dataclass(frozen=True)
class Forwarding:
    """Forwarding tables, addresses and service levels.

    Attributes:
        lft: [switches, lids] uint8 in the order of ``fabric.switches``; 255: discard.
        lid_of: Base LID of an HCA port.
        lmc: An HCA port answers to 2**lmc LIDs; queue pairs of a flow take them in turn.
        service_level: SL of the path from a port to a LID, where routing decides it; None: the flow's own.
        writes: Changes of the tables during the run.
        events: (fabric time in ps, kind, text) of what the subnet manager did, for the event log.
    """

    lft: np.ndarray
    lid_of: dict[PortRef, int]
    lmc: int = 0
    service_level: Callable[[PortRef, int], int] | None = None
    writes: tuple[BlockWrite, ...] = ()
    events: tuple[tuple[int, str, str], ...] = field(default=())
