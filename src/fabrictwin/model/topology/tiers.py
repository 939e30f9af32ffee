# SPDX-License-Identifier: Apache-2.0
"""Cables between two tiers of switches in which every lower one meets every upper one."""

from __future__ import annotations

from collections.abc import Sequence

from fabrictwin.model.topology.builder import FabricBuilder


def connect_tiers(
    builder: FabricBuilder,
    lower: Sequence[int],
    upper: Sequence[int],
    links_per_pair: int,
    first_port: int,
) -> None:
    """Cables every lower switch to every upper one.

    Args:
        builder: Takes the cables.
        lower: Node numbers of the lower switches (leaves).
        upper: Node numbers of the upper switches (spines).
        links_per_pair: Parallel cables of each pair.
        first_port: Lower switch's port to the first upper one; an upper switch's ports begin at 1.
    """
    for lower_index, lower_switch in enumerate(lower):
        for upper_index, upper_switch in enumerate(upper):
            for cable in range(links_per_pair):
                builder.connect(
                    (lower_switch, first_port + upper_index * links_per_pair + cable),
                    (upper_switch, lower_index * links_per_pair + cable + 1),
                )
