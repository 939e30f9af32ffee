# SPDX-License-Identifier: Apache-2.0
"""Service levels, virtual lanes and their arbitration tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fabrictwin.model.quantities import Spec, Wanted, show_value
from fabrictwin.model.section import Section

SERVICE_LEVELS = 16
DROP_VL = 15
"""An SL2VL entry of 15 discards the packet (IBTA 7.6.6)."""
OPERATIONAL_VLS = (1, 2, 4, 8, 15)
LONGEST_VLARB_TABLE = 64
_ROCE_KEY = "lossless_priorities"
FAIR_WEIGHT = 64
"""4 KiB: one packet of the largest MTU a turn."""


def _sl2vl(value: Any) -> list[int]:
    expected = f"a list of {SERVICE_LEVELS} VLs, or a mapping of SL to VL such as {{0: 0, 1: 1}}"
    if isinstance(value, dict):
        pairs = [(int(sl) if str(sl).isdecimal() else -1, vl) for sl, vl in value.items()]
        if any(not 0 <= sl < SERVICE_LEVELS for sl, _ in pairs):
            raise ValueError(f"expected {expected}; an SL is a number from 0 to 15")
        table = dict.fromkeys(range(SERVICE_LEVELS), 0) | dict(pairs)
        value = [table[sl] for sl in range(SERVICE_LEVELS)]
    if not isinstance(value, list) or len(value) != SERVICE_LEVELS or not all(map(_is_vl, value)):
        raise ValueError(f"expected {expected}, got {show_value(value)}; a VL is a number from 0 to 15")
    return value


def _is_vl(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= DROP_VL


def _vlarb(value: Any) -> list[tuple[int, int]]:
    expected = "a list of [VL, weight] such as [[0, 64], [1, 192]]"
    if not isinstance(value, list) or len(value) > LONGEST_VLARB_TABLE:
        raise ValueError(
            f"expected {expected} with up to {LONGEST_VLARB_TABLE} entries, got {show_value(value)}"
        )
    for entry in value:
        if not isinstance(entry, list) or len(entry) != 2 or not _is_vl(entry[0]) or not _is_weight(entry[1]):
            raise ValueError(f"expected {expected}; a weight is a number from 0 to 255")
    return [(vl, weight) for vl, weight in value]


def _is_weight(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255


def _operational_vls(value: Any) -> Any:
    if value not in OPERATIONAL_VLS or isinstance(value, bool):
        raise ValueError(f"expected one of {', '.join(map(str, OPERATIONAL_VLS))}, got {show_value(value)}")
    return value


VlWeights = Annotated[
    list[tuple[int, int]],
    BeforeValidator(_vlarb),
    Wanted("a list of [VL, weight], e.g. `[[0, 64], [1, 192]]`"),
]


class QosSpec(Spec):
    """Keys of ``qos``."""

    data_vls: Annotated[
        int | None,
        BeforeValidator(_operational_vls),
        Wanted("1, 2, 4, 8 or 15"),
        Field(description="operational data VLs; default: as many as every switch has"),
    ] = None
    sl2vl: Annotated[
        list[int] | None,
        BeforeValidator(_sl2vl),
        Wanted("a list of 16 VLs, or a mapping of SL to VL (others: 0)"),
        Field(description="VL of each SL, on every port; 15 drops. Default: SL modulo `data_vls`"),
    ] = None
    vlarb_high: Annotated[
        VlWeights, Field(default=[], description="high-priority table, weights in 64 bytes")
    ]
    vlarb_low: Annotated[
        VlWeights | None,
        Field(description="low-priority table; default: every data VL with weight 64"),
    ] = None
    vl_high_limit: Annotated[
        int,
        Field(
            ge=0, le=255, description="limit of high priority in 4096 bytes; 0: one packet, 255: unlimited"
        ),
    ] = 0


@dataclass(frozen=True, slots=True)
class Qos:
    """How service levels share the links.

    Attributes:
        data_vls: Operational data VLs.
        sl2vl: VL of each SL; 15 drops.
        vlarb_high: (VL, weight in 64 bytes) of the high-priority table.
        vlarb_low: The same of the low-priority table.
        vl_high_limit: Limit of high priority in units of 4096 bytes; 0 is one packet, 255 unlimited.
    """

    data_vls: int
    sl2vl: tuple[int, ...]
    vlarb_high: tuple[tuple[int, int], ...]
    vlarb_low: tuple[tuple[int, int], ...]
    vl_high_limit: int


def read_qos(section: Section) -> QosSpec | None:
    """The keys of ``qos``; problems are noted in the section."""
    value = {} if section.value is None else section.value
    if isinstance(value, dict) and _ROCE_KEY in value:
        section.refuse(f"{_ROCE_KEY!r} belongs to technology 'roce'", _ROCE_KEY)
        value = {key: value[key] for key in value if key != _ROCE_KEY}
    return section.read(QosSpec, value)


def compile_qos(spec: QosSpec, section: Section, hardware_vls: int) -> Qos:
    """The tables that every port gets; problems are noted in the section.

    Args:
        spec: Key ``qos`` of the scenario.
        section: Where it stands.
        hardware_vls: Data VLs that every switch has.
    """
    if spec.data_vls is not None and spec.data_vls > hardware_vls:
        section.refuse(f"the switch model has {hardware_vls} data VLs, got {spec.data_vls}", "data_vls")
    data_vls = min(hardware_vls, spec.data_vls or hardware_vls)
    sl2vl = spec.sl2vl or [sl % data_vls for sl in range(SERVICE_LEVELS)]
    low = spec.vlarb_low or [(vl, FAIR_WEIGHT) for vl in range(data_vls)]
    for sl, vl in enumerate(sl2vl):
        if data_vls <= vl != DROP_VL:
            section.refuse(f"SL {sl} goes to VL {vl}, but the data VLs are 0 to {data_vls - 1}", "sl2vl")
    for key, table in (("vlarb_high", spec.vlarb_high), ("vlarb_low", low)):
        for index, (vl, _) in enumerate(table):
            if vl >= data_vls:
                section.refuse(f"VL {vl} is not one of the data VLs 0 to {data_vls - 1}", key, index)
    served = {vl for vl, weight in [*spec.vlarb_high, *low] if weight}
    for sl, vl in enumerate(sl2vl):
        if vl != DROP_VL and vl < data_vls and vl not in served:
            section.refuse(f"SL {sl} goes to VL {vl}, which no arbitration table serves", "sl2vl")
            break
    return Qos(data_vls, tuple(sl2vl), tuple(spec.vlarb_high), tuple(low), spec.vl_high_limit)
