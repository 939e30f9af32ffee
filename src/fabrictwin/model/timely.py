# SPDX-License-Identifier: Apache-2.0
"""TIMELY's parameters and the named sets of them.

Meaning: Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015, algorithm 1.
Sources of the sets: models.md section 3.7; grades P read in the source, M from memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from fabrictwin.model.fabric import Fabric
from fabrictwin.model.quantities import RateBps, Spec, TimePs
from fabrictwin.model.rate_profile import Factor, RateChoice, RateProfile, Share


class TimelySpec(Spec):
    """The parameters of ``timely``; each may be left to the profile."""

    ewma: Annotated[Share, Field(description="weight of a new difference of two round-trip times, alpha")]
    beta: Annotated[Factor, Field(description="factor of every decrease")]
    t_low: Annotated[TimePs, Field(gt=0, description="below this the rate rises, whatever the gradient is")]
    t_high: Annotated[TimePs, Field(gt=0, description="above this it falls, whatever the gradient is")]
    min_rtt: Annotated[TimePs, Field(gt=0, description="round-trip time that the gradient is measured by")]
    delta: Annotated[RateBps, Field(description="step of additive increase")]
    hai_threshold: Annotated[
        int, Field(ge=1, le=1000, description="so many gradients in a row that are not positive: faster")
    ]
    hai_factor: Annotated[int, Field(ge=1, le=1000, description="then so many steps at once, N")]
    min_decrease: Annotated[Factor, Field(description="no decrease leaves less than this part; 0: no limit")]
    min_rate: Annotated[RateBps, Field(description="no rate falls below this")]


_PAPER: dict[str, Any] = {
    "ewma": 0.875,
    "beta": 0.8,
    "t_low": "50us",
    "t_high": "500us",
    "min_rtt": "20us",
    "delta": "10Mb/s",
    "hai_threshold": 5,
    "hai_factor": 5,
    "min_decrease": 0.5,
    "min_rate": "100Mb/s",
}

DEFAULT_TIMELY_PROFILE = "hpcc"
TIMELY_PROFILES: dict[str, RateProfile] = {
    profile.name: profile
    for profile in (
        RateProfile(
            "paper",
            "SIGCOMM 2015, at 10 Gb/s: ewma, beta, t_low, t_high, min_rtt, delta as HPCC's simulator "
            "quotes them (P); hai_factor (M), min_decrease that of the authors' snippet (A), min_rate "
            "HPCC's (P)",
            _PAPER,
        ),
        RateProfile(
            DEFAULT_TIMELY_PROFILE,
            "HPCC's simulator (P): the paper's, and delta grows with the rate of the slowest cable at an HCA",
            _PAPER,
            10 * 10**9,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Timely:
    """What every adapter is set to.

    Attributes:
        ewma_q16: Weight of a new difference, in units of 2**-16.
        beta_q16: Factor of a decrease, likewise.
        t_low_ps: Below this the rate rises.
        t_high_ps: Above this the rate falls.
        min_rtt_ps: Unit of the gradient.
        delta_bps: Step of additive increase.
        hai_threshold: So many gradients in a row that are not positive make increases faster.
        hai_factor: Steps of one of those.
        min_decrease_q16: Smallest factor of one decrease, in units of 2**-16; 0: no limit.
        min_rate_bps: Lowest rate.
    """

    ewma_q16: int
    beta_q16: int
    t_low_ps: int
    t_high_ps: int
    min_rtt_ps: int
    delta_bps: int
    hai_threshold: int
    hai_factor: int
    min_decrease_q16: int
    min_rate_bps: int


def compile_timely(choice: RateChoice, fabric: Fabric) -> Timely:
    """The setting of every adapter.

    Args:
        choice: The parameters.
        fabric: The fabric, for its cables' rates.
    """
    spec = choice.spec
    assert isinstance(spec, TimelySpec)
    return Timely(
        ewma_q16=spec.ewma,
        beta_q16=spec.beta,
        t_low_ps=spec.t_low,
        t_high_ps=spec.t_high,
        min_rtt_ps=spec.min_rtt,
        delta_bps=choice.scaled("delta", fabric),
        hai_threshold=spec.hai_threshold,
        hai_factor=spec.hai_factor,
        min_decrease_q16=spec.min_decrease,
        min_rate_bps=spec.min_rate,
    )
