# SPDX-License-Identifier: Apache-2.0
"""DCQCN's parameters and the named sets of them.

Meaning: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, and NVIDIA's names.
The sets differ by more than ten times in single values: a scenario should always name its profile. Sources of
the sets: models.md section 3.5; grades P read in the source, A secondary source, C computed, M from memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.quantities import (
    LARGEST_RATE_BPS,
    RateBps,
    SizeOrNothing,
    Spec,
    TimePs,
    Wanted,
    read_fraction,
)

GAIN_UNIT = 1 << 30
FACTOR_UNIT = 1 << 16
_GBPS = 10**9


def _gain(value: Any) -> int:
    """In units of 2**-30."""
    gain = read_fraction(value)
    if not 1 <= gain * GAIN_UNIT <= GAIN_UNIT:
        raise ValueError(f"expected a number above 0, at most 1, got {value}")
    return round(gain * GAIN_UNIT)


def _factor(value: Any) -> int:
    """In units of 2**-16."""
    factor = read_fraction(value)
    if not 0 <= factor < 1:
        raise ValueError(f"expected a number from 0 to less than 1, got {value}")
    return round(factor * FACTOR_UNIT)


Gain = Annotated[int, BeforeValidator(_gain), Wanted("a number from 0 to 1, e.g. `1/256`")]
Factor = Annotated[int, BeforeValidator(_factor), Wanted("a number from 0 to 1, e.g. `0.5`")]


class DcqcnSpec(Spec):
    """The parameters of ``dcqcn``; each may be left to the profile."""

    cnp_interval: Annotated[
        TimePs, Field(description="shortest time between two CNPs of a queue pair that receives marks")
    ]
    alpha_timer: Annotated[TimePs, Field(gt=0, description="alpha decays after so long without a CNP")]
    g: Annotated[Gain, Field(description="gain of alpha")]
    initial_alpha: Annotated[Gain, Field(description="alpha before the first CNP")]
    rate_timer: Annotated[TimePs, Field(gt=0, description="the rate is raised each time, T of the paper")]
    byte_counter: Annotated[
        SizeOrNothing, Field(description="and after so many bytes, B of the paper; `0B`: not by bytes")
    ]
    threshold: Annotated[int, Field(ge=1, le=1000, description="raises of fast recovery, F of the paper")]
    rate_ai: Annotated[RateBps, Field(description="step of additive increase")]
    rate_hai: Annotated[RateBps, Field(description="step of hyper increase")]
    min_rate: Annotated[RateBps, Field(description="no rate is cut below this")]
    min_decrease: Annotated[Factor, Field(description="no cut leaves less than this part; 0: no limit")]
    rate_reduce_interval: Annotated[TimePs, Field(description="shortest time between two cuts")]
    clamp_target: Annotated[bool, Field(description="a cut lowers the target even where no raise came since")]


@dataclass(frozen=True, slots=True)
class DcqcnProfile:
    """A named parameter set of ``dcqcn``.

    Attributes:
        name: Value of ``profile``.
        source: Where it comes from, with grade.
        parameters: Its parameters, as a scenario would write them.
        scaled_from_bps: Rate of cable that ``rate_ai`` and ``rate_hai`` are given for, where they grow with
            it; 0: at every rate.
    """

    name: str
    source: str
    parameters: dict[str, Any]
    scaled_from_bps: int = 0


_PAPER: dict[str, Any] = {
    "cnp_interval": "50us",
    "alpha_timer": "55us",
    "g": "1/256",
    "initial_alpha": 1,
    "rate_timer": "55us",
    "byte_counter": "10MB",
    "threshold": 5,
    "rate_ai": "40Mb/s",
    "rate_hai": "400Mb/s",
    "min_rate": "1Mb/s",
    "min_decrease": 0,
    "rate_reduce_interval": "0us",
    "clamp_target": False,
}
_CONNECTX: dict[str, Any] = {
    "cnp_interval": "4us",
    "alpha_timer": "1us",
    "g": "5/1024",
    "initial_alpha": "1023/1024",
    "rate_timer": "300us",
    "byte_counter": "32767B",
    "threshold": 1,
    "rate_ai": "5Mb/s",
    "rate_hai": "50Mb/s",
    "min_rate": "1Mb/s",
    "min_decrease": 0.5,
    "rate_reduce_interval": "4us",
    "clamp_target": False,
}
_HPCC = _CONNECTX | {
    "g": "1/256",
    "initial_alpha": 1,
    "byte_counter": "0B",
    "min_rate": "100Mb/s",
    "min_decrease": 0,
}

DEFAULT_DCQCN_PROFILE = "connectx"
DCQCN_PROFILES: dict[str, DcqcnProfile] = {
    profile.name: profile
    for profile in (
        DcqcnProfile(
            "paper",
            "SIGCOMM 2015, tuned at 40 Gb/s (A); rate_hai is ten times rate_ai (A), min_rate ConnectX's (M)",
            _PAPER,
        ),
        DcqcnProfile(
            DEFAULT_DCQCN_PROFILE,
            "NVIDIA's defaults (P); g is 1 - DCE_TCP_G / 1024 (C)",
            _CONNECTX,
        ),
        DcqcnProfile(
            "hpcc",
            "HPCC's simulator (P): rate_ai and rate_hai are those of 25 Gb/s and grow with the rate of the "
            "slowest cable at an HCA; min_rate is the lower of its two values",
            _HPCC,
            25 * _GBPS,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """What every adapter is set to.

    Attributes:
        cnp_interval_ps: Shortest time between two CNPs of a queue pair.
        alpha_timer_ps: Alpha decays after so long without a CNP.
        g_q30: Gain of alpha, in units of 2**-30.
        initial_alpha_q30: Alpha before the first CNP, likewise.
        rate_timer_ps: Time between two raises.
        byte_counter_bytes: Bytes between two raises; 0: bytes raise nothing.
        threshold: F, raises of fast recovery.
        rate_ai_bps: Step of additive increase.
        rate_hai_bps: Step of hyper increase.
        min_rate_bps: Lowest rate.
        min_decrease_q16: Smallest factor of one cut, in units of 2**-16; 0: no limit.
        rate_reduce_interval_ps: Shortest time between two cuts.
        clamp_target: Whether a cut lowers the target even where no raise came since the last.
    """

    cnp_interval_ps: int
    alpha_timer_ps: int
    g_q30: int
    initial_alpha_q30: int
    rate_timer_ps: int
    byte_counter_bytes: int
    threshold: int
    rate_ai_bps: int
    rate_hai_bps: int
    min_rate_bps: int
    min_decrease_q16: int
    rate_reduce_interval_ps: int
    clamp_target: bool


def compile_dcqcn(spec: DcqcnSpec, profile: DcqcnProfile, written: frozenset[str], fabric: Fabric) -> Dcqcn:
    """The setting of every adapter.

    Args:
        spec: The parameters, those of the profile included.
        profile: The profile.
        written: Keys that the scenario gives itself; they are not scaled.
        fabric: The fabric, for its cables' rates.
    """
    return Dcqcn(
        cnp_interval_ps=spec.cnp_interval,
        alpha_timer_ps=spec.alpha_timer,
        g_q30=spec.g,
        initial_alpha_q30=spec.initial_alpha,
        rate_timer_ps=spec.rate_timer,
        byte_counter_bytes=spec.byte_counter,
        threshold=spec.threshold,
        rate_ai_bps=_scale(spec.rate_ai, "rate_ai" in written, profile, fabric),
        rate_hai_bps=_scale(spec.rate_hai, "rate_hai" in written, profile, fabric),
        min_rate_bps=spec.min_rate,
        min_decrease_q16=spec.min_decrease,
        rate_reduce_interval_ps=spec.rate_reduce_interval,
        clamp_target=spec.clamp_target,
    )


def _scale(rate_bps: int, is_written: bool, profile: DcqcnProfile, fabric: Fabric) -> int:
    if is_written or not profile.scaled_from_bps:
        return rate_bps
    hosts = (
        link.rate_bps
        for link in fabric.links
        if NodeKind.HCA in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
    )
    slowest_bps = min(hosts, default=profile.scaled_from_bps)
    return max(1, min(rate_bps * slowest_bps // profile.scaled_from_bps, LARGEST_RATE_BPS))
