# SPDX-License-Identifier: Apache-2.0
"""Who simulates what: nodes to shards, and where the reaction points of congestion control are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabrictwin.model.fabric import Fabric

CONGESTION_CONTROL = "cc"
"""Name of the logical process that holds the reaction points, where it is one of its own."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A fabric, divided among logical processes.

    Attributes:
        names: Name of each shard; the last one is :data:`CONGESTION_CONTROL` if that is one of its own.
        owner: [nodes] number of the shard that owns each node.
    """

    names: tuple[str, ...]
    owner: np.ndarray

    @property
    def congestion_control(self) -> int | None:
        """Number of the shard that holds every reaction point; None: each is with its HCA."""
        return len(self.names) - 1 if self.names[-1] == CONGESTION_CONTROL else None


def split_evenly(fabric: Fabric, count: int) -> Partition:
    """Equal runs of nodes in index order, at most one shard a node."""
    nodes = len(fabric.nodes)
    count = max(1, min(count, nodes))
    owner = np.arange(nodes, dtype=np.int64) * count // max(1, nodes)
    return Partition(tuple(f"shard{number}" for number in range(count)), owner)


def split_by_kind(fabric: Fabric, switch_shards: int, hca_shards: int) -> Partition:
    """Switches, HCAs and congestion control apart: the services of a live twin."""
    owner = np.zeros(len(fabric.nodes), np.int64)
    names: list[str] = []
    for prefix, nodes, count in (
        ("switch", fabric.switches, switch_shards),
        ("hca", fabric.hcas, hca_shards),
    ):
        count = max(1, min(count, len(nodes)))
        owner[list(nodes)] = len(names) + _runs(nodes, count)
        names += [f"{prefix}{number}" for number in range(count)]
    return Partition((*names, CONGESTION_CONTROL), owner)


def _runs(nodes: Sequence[int], count: int) -> np.ndarray:
    return np.arange(len(nodes), dtype=np.int64) * count // max(1, len(nodes))
