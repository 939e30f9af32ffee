# SPDX-License-Identifier: Apache-2.0
"""Which part of one technology stands for which of the other: the same class and generation.

The tables are ours (M). Where the first choice has too few ports or is too slow for the cables of the fabric,
the next one is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Fabric, NodeKind, Technology
from fabrictwin.model.hardware import (
    ETHERNET_SWITCH_MODELS,
    HCA_MODELS,
    ROCE_HCA_MODELS,
    SWITCH_MODELS,
    HardwareModel,
)
from fabrictwin.units import show_rate

Pairs = Mapping[str, tuple[str, ...]]

_TO_ROCE: Pairs = {
    "quantum_hdr": ("spectrum4", "native_roce"),
    "quantum2": ("spectrum4", "native_roce"),
    "quantum_x800": ("spectrum4", "native_roce"),
    "infiniscale4": ("trident2", "spectrum4", "native_roce"),
    "native_ib": ("spectrum4", "native_roce"),
    "connectx6": ("connectx6_roce",),
    "connectx7": ("connectx7_roce",),
    "connectx8": ("connectx8_roce",),
    "native_hca": ("connectx7_roce", "connectx8_roce"),
}
# Trident II's 40 Gb/s are more than QDR has.
_TO_INFINIBAND: Pairs = {
    "spectrum4": ("quantum2", "quantum_x800", "native_ib"),
    "tomahawk5": ("quantum2", "quantum_x800", "native_ib"),
    "tomahawk_ultra": ("quantum2", "quantum_x800", "native_ib"),
    "trident2": ("quantum_hdr", "native_ib"),
    "native_roce": ("quantum2", "quantum_x800", "native_ib"),
    "connectx6_roce": ("connectx6",),
    "connectx7_roce": ("connectx7",),
    "connectx8_roce": ("connectx8",),
}
PAIRS: dict[Technology, Pairs] = {Technology.ROCE: _TO_ROCE, Technology.INFINIBAND: _TO_INFINIBAND}
"""Rows of the tables of models for each row of the other technology, the best first."""

_MODELS: dict[Technology, Mapping[str, HardwareModel]] = {
    Technology.INFINIBAND: {**SWITCH_MODELS, **HCA_MODELS},
    Technology.ROCE: {**ETHERNET_SWITCH_MODELS, **ROCE_HCA_MODELS},
}


def find_pair(name: str, fabric: Fabric, to: Technology) -> str:
    """The part of the other technology that can take the place of one.

    Args:
        name: Row of a table of models.
        fabric: Where it is used.
        to: The other technology.

    Raises:
        InputError: None has as many ports, or ports as fast, as the fabric needs.
    """
    is_switch = name in {**SWITCH_MODELS, **ETHERNET_SWITCH_MODELS}
    ports, rate_bps = _needs(fabric, NodeKind.SWITCH if is_switch else NodeKind.HCA)
    for candidate in PAIRS[to][name]:
        model = _MODELS[to][candidate]
        if model.ports >= ports and model.highest_rate_bps >= rate_bps:
            return candidate
    raise InputError.of(
        f"no {to.label} model stands for {name!r} here: {', '.join(PAIRS[to][name])} cannot have {ports} "
        f"ports with cables of {show_rate(rate_bps)}"
    )


def _needs(fabric: Fabric, kind: NodeKind) -> tuple[int, int]:
    """(highest port number, fastest cable) at the nodes of a kind."""
    ends = [
        (end.port, link.rate_bps)
        for link in fabric.links
        for end in (link.a, link.b)
        if fabric.nodes[end.node].kind is kind
    ]
    return max((port for port, _ in ends), default=1), max((rate for _, rate in ends), default=1)
