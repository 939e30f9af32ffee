# SPDX-License-Identifier: Apache-2.0
"""Service levels, virtual lanes and their arbitration tables; on RoCE both are the priorities of 802.1p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fabrictwin.model.fabric import Technology
from fabrictwin.model.quantities import Spec, Wanted, show_value
from fabrictwin.model.section import Section

SERVICE_LEVELS = 16
DROP_VL = 15
"""An SL2VL entry of 15 discards the packet (IBTA 7.6.6)."""
OPERATIONAL_VLS = (1, 2, 4, 8, 15)
LONGEST_VLARB_TABLE = 64
FAIR_WEIGHT = 64
"""4 KiB: one packet of the largest MTU a turn."""
LARGEST_WEIGHT = 255
UNLIMITED = 255
"""``vl_high_limit`` that never lets the low table in before the high one is empty."""
PRIORITIES = 8
DEFAULT_LOSSLESS_PRIORITY = 3
"""What operators of RoCE use for RDMA (P)."""
DEFAULT_STRICT_PRIORITY = 6
"""That of CNPs (P)."""


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
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_WEIGHT


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


def _is_priority(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < PRIORITIES


def _priorities(value: Any) -> list[int]:
    if not isinstance(value, list) or not all(map(_is_priority, value)) or len(set(value)) < len(value):
        raise ValueError(f"expected a list of priorities from 0 to 7, each once, got {show_value(value)}")
    return value


def _weights(value: Any) -> dict[int, int]:
    expected = "a mapping of priority to weight such as {3: 64, 0: 64}"
    if not isinstance(value, dict):
        raise ValueError(f"expected {expected}, got {show_value(value)}")
    pairs = {int(key) if str(key).isdecimal() else -1: weight for key, weight in value.items()}
    if not all(_is_priority(key) for key in pairs):
        raise ValueError(f"expected {expected}; a priority is a number from 0 to 7")
    if not all(_is_weight(weight) and weight for weight in pairs.values()):
        raise ValueError(f"expected {expected}; a weight is a number from 1 to 255, in 64 bytes")
    return pairs


PriorityList = Annotated[
    list[int], BeforeValidator(_priorities), Wanted("a list of priorities, 0 to 7, e.g. `[3]`")
]


class RoceQosSpec(Spec):
    """Keys of ``qos`` on RoCE."""

    lossless_priorities: Annotated[
        PriorityList,
        Field(
            default=[DEFAULT_LOSSLESS_PRIORITY],
            description="priorities with PFC, `[]`: none; the lowest is that of a workload that names none",
        ),
    ]
    strict: Annotated[
        PriorityList,
        Field(
            default=[DEFAULT_STRICT_PRIORITY],
            description="priorities that go before all others, the highest first",
        ),
    ]
    weights: Annotated[
        dict[int, int],
        BeforeValidator(_weights),
        Wanted("a mapping of priority to weight, e.g. `{3: 64, 0: 64}`"),
        Field(default={}, description="shares of the others, in 64 bytes; default: 64 each"),
    ]


@dataclass(frozen=True, slots=True)
class Qos:
    """How service levels share the links.

    Attributes:
        data_vls: Operational data VLs.
        sl2vl: VL of each SL; 15 drops.
        vlarb_high: (VL, weight in 64 bytes) of the high-priority table.
        vlarb_low: The same of the low-priority table.
        vl_high_limit: Limit of high priority in units of 4096 bytes; 0 is one packet, 255 unlimited.
        lossless: Priorities that PFC keeps from losing packets, on RoCE.
    """

    data_vls: int
    sl2vl: tuple[int, ...]
    vlarb_high: tuple[tuple[int, int], ...]
    vlarb_low: tuple[tuple[int, int], ...]
    vl_high_limit: int
    lossless: frozenset[int] = frozenset()

    @property
    def default_sl(self) -> int:
        """Service level of a workload that names none: on RoCE the first lossless priority."""
        return min(self.lossless, default=0)


_SPECS: dict[Technology, type[QosSpec] | type[RoceQosSpec]] = {
    Technology.INFINIBAND: QosSpec,
    Technology.ROCE: RoceQosSpec,
}


def read_qos(section: Section, technology: Technology) -> QosSpec | RoceQosSpec | None:
    """The keys of ``qos``; problems are noted in the section."""
    value = {} if section.value is None else section.value
    own = _SPECS[technology]
    if isinstance(value, dict):
        foreign = {
            key: other
            for other, spec in _SPECS.items()
            for key in value
            if key in spec.model_fields and key not in own.model_fields
        }
        for key, other in foreign.items():
            names = ", ".join(own.model_fields)
            section.refuse(
                f"{key!r} belongs to technology {other.value!r}; on {technology.label} there are {names}", key
            )
        value = {key: value[key] for key in value if key not in foreign}
    return section.read(own, value)


def compile_qos(spec: QosSpec | RoceQosSpec, section: Section, hardware_vls: int) -> Qos:
    """The tables that every port gets; problems are noted in the section.

    Args:
        spec: Key ``qos`` of the scenario.
        section: Where it stands.
        hardware_vls: Data VLs that every switch has.
    """
    if isinstance(spec, RoceQosSpec):
        return _compile_priorities(spec, section)
    return _compile_lanes(spec, section, hardware_vls)


def _compile_priorities(spec: RoceQosSpec, section: Section) -> Qos:
    """Priorities as virtual lanes: strict ones in the high table, the others in the low one."""
    strict = sorted(spec.strict, reverse=True)
    for priority in spec.weights:
        if priority in strict:
            section.refuse(f"priority {priority} is strict: it has no weight", "weights", priority)
    low = [
        (priority, spec.weights.get(priority, FAIR_WEIGHT))
        for priority in range(PRIORITIES)
        if priority not in strict
    ]
    return Qos(
        data_vls=PRIORITIES,
        sl2vl=(*range(PRIORITIES), *[DROP_VL] * (SERVICE_LEVELS - PRIORITIES)),
        vlarb_high=tuple((priority, LARGEST_WEIGHT) for priority in strict),
        vlarb_low=tuple(low),
        vl_high_limit=UNLIMITED,
        lossless=frozenset(spec.lossless_priorities),
    )


def _compile_lanes(spec: QosSpec, section: Section, hardware_vls: int) -> Qos:
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
