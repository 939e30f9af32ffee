# SPDX-License-Identifier: Apache-2.0
"""How long the subnet manager takes to hear of a change and to act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from fabrictwin.model.quantities import Spec, TimePs
from fabrictwin.units import PS_PER_US

DEFAULT_TRAP_LATENCY_PS = 100 * PS_PER_US
DEFAULT_SMP_RTT_PS = 20 * PS_PER_US
DEFAULT_MAX_WIRE_SMPS = 4
"""OpenSM's ``max_wire_smps`` (P); the two latencies are assumptions (M)."""


class SubnetManagerKeys(Spec):
    """Keys of ``subnet_manager``."""

    trap_latency: Annotated[
        TimePs, Field(gt=0, description="from a link's change to the beginning of the sweep that it causes")
    ] = DEFAULT_TRAP_LATENCY_PS
    smp_rtt: Annotated[TimePs, Field(gt=0, description="round trip of one management packet")] = (
        DEFAULT_SMP_RTT_PS
    )
    max_wire_smps: Annotated[
        int, Field(ge=1, le=1024, description="management packets under way at a time")
    ] = DEFAULT_MAX_WIRE_SMPS


@dataclass(frozen=True, slots=True)
class SubnetManagerTiming:
    """The timing of the subnet manager.

    Attributes:
        trap_latency_ps: From a link's change to the beginning of the sweep that it causes.
        smp_rtt_ps: Round trip of one management packet.
        max_wire_smps: Management packets under way at a time.
    """

    trap_latency_ps: int = DEFAULT_TRAP_LATENCY_PS
    smp_rtt_ps: int = DEFAULT_SMP_RTT_PS
    max_wire_smps: int = DEFAULT_MAX_WIRE_SMPS
