# SPDX-License-Identifier: Apache-2.0
"""What the subnet manager has decided, as plain arrays: the engine's only view of routing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabrictwin.model.fabric import PortRef


@dataclass(frozen=True)
class Forwarding:
    """Forwarding tables, addresses and service levels.

    Attributes:
        lft: [switches, lids] uint8 in the order of ``fabric.switches``; 255: discard.
        lid_of: Base LID of an HCA port.
        lmc: An HCA port answers to 2**lmc LIDs; queue pairs of a flow take them in turn.
        service_level: SL of the path from a port to a LID, where routing decides it; None: the flow's own.
        group: [switches, lids] uint16, which of ``groups`` a switch sends a LID to; group 0: discard. None
            where every LID has a single output, that of ``lft``.
        groups: Output ports of equal cost in ascending order, the first that of ``lft``; several switches may
            use one group.
    """

    lft: np.ndarray
    lid_of: dict[PortRef, int]
    lmc: int = 0
    service_level: Callable[[PortRef, int], int] | None = None
    group: np.ndarray | None = None
    groups: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def port_of(self) -> dict[int, PortRef]:
        """The port that a LID leads to."""
        return {
            base + offset: end
            for end, base in self.lid_of.items()
            for offset in range(1 << self.lmc if end.port > 0 else 1)
        }
