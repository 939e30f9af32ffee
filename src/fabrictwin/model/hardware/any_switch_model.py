# SPDX-License-Identifier: Apache-2.0
"""What the switches of both technologies have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from fabrictwin.model.hardware.hardware_model import HardwareModel

Forwarding = Literal["cut_through", "store_and_forward"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySwitchModel(HardwareModel):
    """A row of a table of switches.

    Attributes:
        forwarding_latency_ps: Header in to header out, uncontended.
        forwarding: How a packet leaves: as soon as its header is known, or once it is whole.
        any_radix: True for a part that stands for many: a generated switch has as many ports as its place
            needs, and ``ports`` is only the most.
        data_vls: Operational data VLs; on Ethernet the priorities.
    """

    forwarding_latency_ps: int
    forwarding: Forwarding = "cut_through"
    any_radix: bool = False
    data_vls: int = 8

    @property
    @abstractmethod
    def breaks_deadlocks(self) -> bool:
        """Whether it drops packets that have waited for too long, so that no deadlock lasts."""
