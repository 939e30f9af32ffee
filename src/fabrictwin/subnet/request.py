# SPDX-License-Identifier: Apache-2.0
"""What every routing engine is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabrictwin.subnet.graph import SubnetGraph
from fabrictwin.subnet.lids import Lids

DEFAULT_DATA_VLS = 8
"""Data VLs of common switches; OpenSM's own limit is 15 (models.md section 1.5)."""


@dataclass(frozen=True, eq=False)
class RoutingRequest:
    """A fabric to route.

    Attributes:
        graph: The fabric, with what is down.
        lids: Who has which LID.
        data_vls: Data VLs that paths may use.
        roots: Switch numbers of the roots, for engines that rank; found if empty.
        tables: Output port by switch name and destination name, for ``explicit``.
    """

    graph: SubnetGraph
    lids: Lids
    data_vls: int = DEFAULT_DATA_VLS
    roots: Sequence[int] = ()
    tables: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
