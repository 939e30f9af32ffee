# SPDX-License-Identifier: Apache-2.0
"""HPCC's parameters and the named sets of them.

Meaning: Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, algorithm 1. Sources of the sets:
models.md section 3.7; grades P read in the source, C computed, M from memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.quantities import RateBps, SizeOrNothing, Spec, Wanted, read_time
from fabrictwin.model.rate_profile import RateChoice, RateProfile, Share
from fabrictwin.units import PS_PER_MS, PS_PER_NS

MOST_TELEMETRY_BYTES = 256


def _base_rtt(value: Any) -> int:
    time_ps = read_time(value)
    if not PS_PER_NS <= time_ps <= PS_PER_MS:
        raise ValueError(f"expected a time from 1ns to 1ms, got {value}")
    return time_ps


BaseRtt = Annotated[int, BeforeValidator(_base_rtt), Wanted("a time from 1ns to 1ms")]


class HpccSpec(Spec):
    """The parameters of ``hpcc``; each may be left to the profile."""

    eta: Annotated[Share, Field(description="part of a link that is to be used")]
    max_stage: Annotated[
        int, Field(ge=0, le=1000, description="additive increases before a multiplicative one")
    ]
    base_rtt: Annotated[BaseRtt, Field(description="T: a little more than the longest idle round trip")]
    flows: Annotated[
        int, Field(ge=1, le=10**6, description="N: W_AI is (1 - eta) / N of a bandwidth-delay product")
    ]
    min_rate: Annotated[RateBps, Field(description="no window is smaller than this times `base_rtt`")]
    telemetry: Annotated[
        SizeOrNothing, Field(le=MOST_TELEMETRY_BYTES, description="bytes of telemetry on every data packet")
    ]


_PAPER: dict[str, Any] = {
    "eta": 0.95,
    "max_stage": 5,
    "base_rtt": "13us",
    "flows": 100,
    "min_rate": "100Mb/s",
    "telemetry": "42B",
}

DEFAULT_HPCC_PROFILE = "paper"
HPCC_PROFILES: dict[str, RateProfile] = {
    profile.name: profile
    for profile in (
        RateProfile(
            DEFAULT_HPCC_PROFILE,
            "SIGCOMM 2019: eta, max_stage (P), base_rtt (M); telemetry of five hops of 8 B and 2 B (P, C); "
            "flows makes W_AI 81 B at 100 Gb/s (C; the paper's 80 B, M); min_rate is its simulator's (P)",
            _PAPER,
        ),
        RateProfile(
            "htsim",
            "htsim: eta, max_stage, base_rtt (P); the others as above",
            _PAPER | {"base_rtt": "12us"},
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Hpcc:
    """What every switch and adapter is set to.

    Attributes:
        eta_q16: Part of a link that is to be used, in units of 2**-16.
        max_stage: Additive increases before a multiplicative one.
        base_rtt_ps: T.
        flows: N, for the step of additive increase.
        min_rate_bps: Lowest rate.
        telemetry_bytes: Bytes on every data packet.
    """

    eta_q16: int
    max_stage: int
    base_rtt_ps: int
    flows: int
    min_rate_bps: int
    telemetry_bytes: int


def compile_hpcc(choice: RateChoice, fabric: Fabric) -> Hpcc:
    """The setting of every switch and adapter.

    Args:
        choice: The parameters.
        fabric: The fabric.
    """
    del fabric  # nothing of it is scaled: windows are worked out from each link
    spec = choice.spec
    assert isinstance(spec, HpccSpec)
    return Hpcc(
        eta_q16=spec.eta,
        max_stage=spec.max_stage,
        base_rtt_ps=spec.base_rtt,
        flows=spec.flows,
        min_rate_bps=spec.min_rate,
        telemetry_bytes=spec.telemetry,
    )
