# SPDX-License-Identifier: Apache-2.0
"""Congestion control: the algorithms of both technologies, and InfiniBand's parameters with the named sets
of them. Those of RoCE's algorithms have modules of their own.

Meaning of the parameters: IBTA volume 1 annex A10. Grades of the sets: P read in the source, C computed from
it, M from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fabrictwin.errors import nearest
from fabrictwin.model.dcqcn import DCQCN_PROFILES, DEFAULT_DCQCN_PROFILE, Dcqcn, DcqcnSpec, compile_dcqcn
from fabrictwin.model.fabric import Fabric, NodeKind, PortRef, Technology
from fabrictwin.model.hpcc import DEFAULT_HPCC_PROFILE, HPCC_PROFILES, Hpcc, HpccSpec, compile_hpcc
from fabrictwin.model.lookup import find_port
from fabrictwin.model.quantities import PortText, Spec, TimePs, Wanted, read_port, show_value
from fabrictwin.model.rate_profile import RateChoice, RateProfile
from fabrictwin.model.section import Section
from fabrictwin.model.timely import (
    DEFAULT_TIMELY_PROFILE,
    TIMELY_PROFILES,
    Timely,
    TimelySpec,
    compile_timely,
)
from fabrictwin.units import PS_PER_US

NO_ALGORITHM = "none"


@dataclass(frozen=True, slots=True)
class RateAlgorithm:
    """A row of the table of RoCE's algorithms.

    Attributes:
        spec: Its parameters.
        profiles: The named sets of them.
        default: Name of the set that is taken where a scenario names none.
        compile: The setting of every adapter.
    """

    spec: type[Spec]
    profiles: dict[str, RateProfile]
    default: str
    compile: Callable[[RateChoice, Fabric], Dcqcn | Timely | Hpcc]


RATE_ALGORITHMS: dict[str, RateAlgorithm] = {
    "dcqcn": RateAlgorithm(DcqcnSpec, DCQCN_PROFILES, DEFAULT_DCQCN_PROFILE, compile_dcqcn),
    "timely": RateAlgorithm(TimelySpec, TIMELY_PROFILES, DEFAULT_TIMELY_PROFILE, compile_timely),
    "hpcc": RateAlgorithm(HpccSpec, HPCC_PROFILES, DEFAULT_HPCC_PROFILE, compile_hpcc),
}
ALGORITHMS = {
    Technology.INFINIBAND: (NO_ALGORITHM, "ib_cca"),
    Technology.ROCE: (NO_ALGORITHM, *RATE_ALGORITHMS),
}
"""Names by technology."""
_NOT_YET = ("swift",)
LONGEST_CCT = 1984
"""31 blocks of 64 entries (Linux qib, P)."""
LARGEST_MULTIPLIER = 2**14 - 1

CctEntry = tuple[int, int]
"""(shift, multiplier): a packet of wire time t is followed by a delay of (t >> shift) * multiplier."""


def _quadratic(scale: int, shift: int) -> tuple[CctEntry, ...]:
    """Entry i is floor(7 i² / scale² / 0.218), in exact arithmetic."""
    return tuple((shift, 7 * i * i * 1000 // (scale * scale * 218)) for i in range(128))


CCTS = MappingProxyType({"mellanox_default": _quadratic(95, 0), "simula_optimal": _quadratic(106, 3)})
"""Named congestion control tables (LLNL's IB-CC configuration generator, P; values C)."""


def _read_cct(value: Any) -> tuple[CctEntry, ...]:
    if isinstance(value, str):
        if value not in CCTS:
            raise ValueError(f"unknown table {value!r}{nearest(value, CCTS)}")
        return CCTS[value]
    expected = "a list of {shift: 0 to 3, multiplier: 0 to 16383}"
    if not isinstance(value, list) or not 1 <= len(value) <= LONGEST_CCT:
        raise ValueError(f"expected the name of a table or {expected}, got {show_value(value)}")
    for index, entry in enumerate(value):
        if not isinstance(entry, dict) or set(entry) != {"shift", "multiplier"}:
            raise ValueError(f"expected {expected}, entry {index} is {show_value(entry)}")
        if not _is_up_to(entry["shift"], 3) or not _is_up_to(entry["multiplier"], LARGEST_MULTIPLIER):
            raise ValueError(f"expected {expected}; entry {index} is out of range")
    return tuple((entry["shift"], entry["multiplier"]) for entry in value)


def _is_up_to(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


VICTIM_MASKS = ("none", "hca_facing", "all")


def _read_victim_mask(value: Any) -> str | list[PortText]:
    if isinstance(value, list):
        return [read_port(entry) for entry in value]
    if isinstance(value, str) and value in VICTIM_MASKS:
        return value
    hint = nearest(value, VICTIM_MASKS) if isinstance(value, str) else ""
    raise ValueError(f"expected none, hca_facing, all or a list of ports, got {show_value(value)}{hint}")


Cct = Annotated[
    tuple[CctEntry, ...],
    BeforeValidator(_read_cct),
    Wanted("a named table, or a list of `{shift: 0, multiplier: 3}`"),
]
VictimMask = Annotated[
    str | list[PortText],
    BeforeValidator(_read_victim_mask),
    Wanted("`none`, `hca_facing`, `all`, or a list of switch ports"),
]


class IbCcaSpec(Spec):
    """The parameters of ``ib_cca``; each may be left to the profile."""

    threshold: Annotated[int, Field(ge=0, le=15, description="0: no marking, 1: loosest, 15: tightest")]
    packet_size: Annotated[
        int, Field(ge=0, le=255, description="smaller packets are not marked, in units of 64 bytes")
    ]
    marking_rate: Annotated[
        int, Field(ge=0, le=65535, description="mean number of packets between two marks")
    ]
    victim_mask: Annotated[VictimMask, Field(description="switch ports that mark although they are victims")]
    ccti_increase: Annotated[int, Field(ge=0, le=65535, description="added to the CCTI for each BECN")]
    ccti_limit: Annotated[int, Field(ge=0, lt=LONGEST_CCT, description="largest CCTI")]
    ccti_min: Annotated[int, Field(ge=0, lt=LONGEST_CCT, description="smallest CCTI")]
    ccti_timer: Annotated[
        int, Field(ge=1, le=65535, description="CCTI falls by 1 each time, in units of 1.024 µs")
    ]
    control: Annotated[Literal["qp", "sl"], Field(description="one CCTI for each queue pair, or for each SL")]
    cct: Annotated[Cct, Field(description="congestion control table, by CCTI")]
    reaction_latency: Annotated[
        TimePs, Field(gt=0, description="from a BECN's arrival to the new rate at the HCA")
    ]


@dataclass(frozen=True, slots=True)
class Profile:
    """A named parameter set of ``ib_cca``.

    Attributes:
        name: Value of ``profile``.
        source: Where it comes from, with grade.
        parameters: Its parameters, as a scenario would write them.
    """

    name: str
    source: str
    parameters: dict[str, Any]


_BALANCED: dict[str, Any] = {
    "threshold": 1,
    "packet_size": 8,
    "marking_rate": 3,
    "victim_mask": "hca_facing",
    "ccti_increase": 1,
    "ccti_limit": 127,
    "ccti_min": 0,
    "ccti_timer": 30,
    "control": "qp",
    "cct": "mellanox_default",
    "reaction_latency": "1us",
}
_RECOMMENDED = _BALANCED | {"threshold": 15, "marking_rate": 0, "ccti_timer": 150}
_GENERATED = _RECOMMENDED | {"packet_size": 1, "victim_mask": "all", "control": "sl"}

DEFAULT_PROFILE = "balanced"
PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            DEFAULT_PROFILE,
            "ours, from a sweep: beside an incast of 2 to 9 senders at 100 and 400 Gb/s a victim flow keeps "
            "84 % of its ideal rate or more, and the incast 89 % of its link (C)",
            _BALANCED,
        ),
        Profile(
            "gran_ipdps10",
            "Gran et al., IPDPS 2010, recommended threshold to ccti_timer (M); the table is simula_optimal",
            _RECOMMENDED | {"cct": "simula_optimal"},
        ),
        Profile(
            "mellanox_default",
            "LLNL's generator: table, packet_size, victim_mask, control (P); it sweeps threshold, "
            "marking_rate and ccti_timer, which are gran_ipdps10's here",
            _GENERATED,
        ),
        Profile(
            "simula_optimal",
            "LLNL's generator, likewise",
            _GENERATED | {"cct": "simula_optimal"},
        ),
    )
}


@dataclass(frozen=True)
class CongestionControl:
    """What every switch and HCA is set to.

    Attributes:
        algorithm: ``none``, ``ib_cca``, ``dcqcn``, ``timely`` or ``hpcc``.
        rates: The parameters of RoCE's algorithms; None with the others. What follows is that of ``ib_cca``.
        threshold: 0 (no marking) to 15 (tightest).
        packet_size_blocks: Packets of fewer 64-byte blocks are not marked.
        marking_rate: Eligible packets between two marks.
        victim_ports: Switch ports that mark although they are victims, sorted.
        ccti_increase: Added to the CCTI for each BECN.
        ccti_limit: Largest CCTI.
        ccti_min: Smallest CCTI.
        ccti_timer: Time for the CCTI to fall by 1, in units of 1.024 µs.
        control: ``qp`` or ``sl``.
        cct: (shift, multiplier) by CCTI; longer than ``ccti_limit``.
        reaction_latency_ps: From a BECN's arrival to the new rate at the HCA.
    """

    algorithm: str = NO_ALGORITHM
    rates: Dcqcn | Timely | Hpcc | None = None
    threshold: int = 0
    packet_size_blocks: int = 0
    marking_rate: int = 0
    victim_ports: tuple[PortRef, ...] = ()
    ccti_increase: int = 0
    ccti_limit: int = 0
    ccti_min: int = 0
    ccti_timer: int = 1
    control: str = "qp"
    cct: tuple[CctEntry, ...] = field(default=((0, 0),), repr=False)
    reaction_latency_ps: int = PS_PER_US


def read_congestion_control(
    section: Section, technology: Technology
) -> IbCcaSpec | tuple[str, RateChoice] | None:
    """The parameters that a scenario sets; problems are noted in the section.

    Args:
        section: Key ``congestion_control``.
        technology: Link layer of the fabric.

    Returns:
        The parameters, on RoCE with the name of the algorithm, or None where there is no congestion control
        or there was a problem.
    """
    value = section.value if section.value is not None else {"algorithm": NO_ALGORITHM}
    if not isinstance(value, dict):
        section.refuse(f"expected a mapping with the key 'algorithm', got {show_value(value)}")
        return None
    algorithm = value.get("algorithm")
    names = ALGORITHMS[technology]
    if algorithm is None:
        section.refuse(f"required key 'algorithm' is missing: one of {', '.join(names)}")
    elif algorithm not in names:
        section.refuse(_unknown_algorithm(algorithm, technology), "algorithm")
        return None
    parameters = {key: value[key] for key in value if key not in ("algorithm", "profile")}
    if technology is Technology.ROCE:
        return _read_rates(section, parameters, algorithm or NO_ALGORITHM)
    profile = _read_profile(section, PROFILES, DEFAULT_PROFILE)
    spec = section.read(IbCcaSpec, PROFILES[profile].parameters | parameters)
    if spec is not None:
        _check_ccti(spec, section)
    return spec if algorithm == "ib_cca" else None


def _read_profile(section: Section, profiles: Collection[str], default: str) -> str:
    name = default if section.at("profile").value is None else section.at("profile").value
    if isinstance(name, str) and name in profiles:
        return name
    section.refuse(f"unknown profile {show_value(name)}{nearest(str(name), profiles)}", "profile")
    return default


def _read_rates(
    section: Section, parameters: dict[str, Any], algorithm: str
) -> tuple[str, RateChoice] | None:
    """With ``none``, parameters are those of DCQCN: they may stay where it is switched off."""
    row = RATE_ALGORITHMS["dcqcn" if algorithm == NO_ALGORITHM else algorithm]
    profile = row.profiles[_read_profile(section, row.profiles, row.default)]
    if algorithm != NO_ALGORITHM and parameters and section.at("profile").value is None:
        section.refuse(
            f"parameters of {algorithm} need a 'profile' for the others: one of {', '.join(row.profiles)}"
        )
    spec = section.read(row.spec, profile.parameters | parameters)
    if isinstance(spec, TimelySpec) and spec.t_low >= spec.t_high:
        section.refuse("t_low must be less than t_high: between them the gradient decides", "t_low")
        return None
    if spec is None or algorithm == NO_ALGORITHM:
        return None
    return algorithm, RateChoice(spec, profile, frozenset(parameters))


def _unknown_algorithm(algorithm: Any, technology: Technology) -> str:
    names = ALGORITHMS[technology]
    if technology is Technology.ROCE and algorithm in _NOT_YET:
        return f"{algorithm!r} is not available yet; on {technology.label} use one of {', '.join(names)}"
    for other, foreign in ALGORITHMS.items():
        if other is not technology and algorithm in (*foreign, *_NOT_YET):
            return (
                f"{algorithm!r} belongs to technology {other.value!r}; on {technology.label} use one of "
                f"{', '.join(names)}"
            )
    return f"unknown algorithm {show_value(algorithm)}{nearest(str(algorithm), names)}"


def _check_ccti(spec: IbCcaSpec, section: Section) -> None:
    if spec.ccti_limit >= len(spec.cct):
        section.refuse(f"ccti_limit must be less than the {len(spec.cct)} entries of the table", "ccti_limit")
    if spec.ccti_min > spec.ccti_limit:
        section.refuse(f"ccti_min must not be above ccti_limit ({spec.ccti_limit})", "ccti_min")


def compile_congestion_control(
    spec: IbCcaSpec | tuple[str, RateChoice] | None, section: Section, fabric: Fabric
) -> CongestionControl:
    """The setting of every port; problems with the victim mask are noted in the section."""
    if spec is None:
        return CongestionControl()
    if isinstance(spec, tuple):
        algorithm, choice = spec
        return CongestionControl(algorithm, RATE_ALGORITHMS[algorithm].compile(choice, fabric))
    return CongestionControl(
        algorithm="ib_cca",
        threshold=spec.threshold,
        packet_size_blocks=spec.packet_size,
        marking_rate=spec.marking_rate,
        victim_ports=_victim_ports(spec, section, fabric),
        ccti_increase=spec.ccti_increase,
        ccti_limit=spec.ccti_limit,
        ccti_min=spec.ccti_min,
        ccti_timer=spec.ccti_timer,
        control=spec.control,
        cct=spec.cct,
        reaction_latency_ps=spec.reaction_latency,
    )


def _victim_ports(spec: IbCcaSpec, section: Section, fabric: Fabric) -> tuple[PortRef, ...]:
    if isinstance(spec.victim_mask, list):
        ports = [
            find_port(fabric, section, text, "victim_mask", index, kind=NodeKind.SWITCH)
            for index, text in enumerate(spec.victim_mask)
        ]
        return tuple(sorted({port for port in ports if port is not None}))
    kinds = {"none": (), "hca_facing": (NodeKind.HCA,), "all": tuple(NodeKind)}[spec.victim_mask]
    ends = (
        (end, fabric.nodes[link.other(end).node].kind) for link in fabric.links for end in (link.a, link.b)
    )
    return tuple(
        sorted(end for end, peer in ends if peer in kinds and fabric.nodes[end.node].kind is NodeKind.SWITCH)
    )
