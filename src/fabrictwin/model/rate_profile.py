# SPDX-License-Identifier: Apache-2.0
"""What the parameter sets of RoCE's algorithms have in common: factors, and named profiles.

A set is for links of one rate, or some of its rates grow with the links of the adapters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.quantities import LARGEST_RATE_BPS, Spec, Wanted, read_fraction

GAIN_UNIT = 1 << 30
FACTOR_UNIT = 1 << 16


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


def _share(value: Any) -> int:
    """In units of 2**-16, neither 0 nor more than 1."""
    share = read_fraction(value)
    if not 1 <= share * FACTOR_UNIT <= FACTOR_UNIT:
        raise ValueError(f"expected a number above 0, at most 1, got {value}")
    return round(share * FACTOR_UNIT)


Gain = Annotated[int, BeforeValidator(_gain), Wanted("a number from 0 to 1, e.g. `1/256`")]
Factor = Annotated[int, BeforeValidator(_factor), Wanted("a number from 0 to 1, e.g. `0.5`")]
Share = Annotated[int, BeforeValidator(_share), Wanted("a number from 0 to 1, e.g. `0.875`")]


@dataclass(frozen=True, slots=True)
class RateProfile:
    """A named parameter set of an algorithm.

    Attributes:
        name: Value of ``profile``.
        source: Where it comes from, with grade.
        parameters: Its parameters, as a scenario would write them.
        scaled_from_bps: Rate of cable that its increases are given for, where they grow with it; 0: at every
            rate.
    """

    name: str
    source: str
    parameters: dict[str, Any]
    scaled_from_bps: int = 0


@dataclass(frozen=True)
class RateChoice:
    """What a scenario says about an algorithm.

    Attributes:
        spec: The parameters, those of the profile included.
        profile: The profile.
        written: Keys that the scenario gives itself; they are not scaled.
    """

    spec: Spec
    profile: RateProfile
    written: frozenset[str]

    def scaled(self, key: str, fabric: Fabric) -> int:
        """A rate, which grows with the slowest cable at an HCA where the profile says so."""
        rate_bps = int(getattr(self.spec, key))
        if key in self.written or not self.profile.scaled_from_bps:
            return rate_bps
        hosts = (
            link.rate_bps
            for link in fabric.links
            if NodeKind.HCA in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
        )
        slowest_bps = min(hosts, default=self.profile.scaled_from_bps)
        return max(1, min(rate_bps * slowest_bps // self.profile.scaled_from_bps, LARGEST_RATE_BPS))
