# SPDX-License-Identifier: Apache-2.0
"""DCQCN's parameters and the named sets of them.

Meaning: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, and NVIDIA's names.
The sets differ by more than ten times in single values: a scenario should always name its profile. Sources of
the sets: models.md section 3.5; grades P read in the source, A secondary source, C computed, M from memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.quantities import RateBps, SizeOrNothing, Spec, TimePs
from fabrictwin.model.rate_profile import Factor, Gain, RateChoice, RateProfile

_GBPS = 10**9


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
DCQCN_PROFILES: dict[str, RateProfile] = {
    profile.name: profile
    for profile in (
        RateProfile(
            "paper",
            "SIGCOMM 2015, tuned at 40 Gb/s (A); rate_hai is ten times rate_ai (A), min_rate ConnectX's (M)",
            _PAPER,
        ),
        RateProfile(
            DEFAULT_DCQCN_PROFILE,
            "NVIDIA's defaults (P); g is 1 - DCE_TCP_G / 1024 (C)",
            _CONNECTX,
        ),
        RateProfile(
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


def compile_dcqcn(choice: RateChoice, fabric: Fabric) -> Dcqcn:
    """The setting of every adapter.

    Args:
        choice: The parameters.
        fabric: The fabric, for its cables' rates.
    """
    spec = choice.spec
    assert isinstance(spec, DcqcnSpec)
    return Dcqcn(
        cnp_interval_ps=spec.cnp_interval,
        alpha_timer_ps=spec.alpha_timer,
        g_q30=spec.g,
        initial_alpha_q30=spec.initial_alpha,
        rate_timer_ps=spec.rate_timer,
        byte_counter_bytes=spec.byte_counter,
        threshold=spec.threshold,
        rate_ai_bps=choice.scaled("rate_ai", fabric),
        rate_hai_bps=choice.scaled("rate_hai", fabric),
        min_rate_bps=spec.min_rate,
        min_decrease_q16=spec.min_decrease,
        rate_reduce_interval_ps=spec.rate_reduce_interval,
        clamp_target=spec.clamp_target,
    )
