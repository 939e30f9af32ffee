# SPDX-License-Identifier: Apache-2.0
"""What a model of an InfiniBand switch is: the numbers that the engine needs, one field each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabrictwin.model.hardware.any_switch_model import AnySwitchModel
from fabrictwin.model.hardware.hardware_model import MAX_LATENCY_PS, check_blocked_hardware
from fabrictwin.model.hardware.limits import (
    CREDIT_BLOCK_BYTES,
    LARGEST_ADVERTISED_BLOCKS,
    SMALLEST_MTU_BYTES,
    check_range,
    timeout_ps,
)

MAX_DATA_VLS = 15

Arbitration = Literal["round_robin", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchModel(AnySwitchModel):
    """A row of the table of InfiniBand switches.

    Attributes:
        buffer_per_vl_bytes: Input buffer of one port and VL.
        fcp_min_gap_ps: Shortest time between two flow-control packets of a VL; 0 is back to back.
        hoq_life_ps: A packet longer than this at the head of an output queue is dropped; None never drops.
            OpenSM's default code is 0x12 (P).
        leaf_hoq_life_ps: The same on ports that face an HCA. OpenSM's default code is 0x10 (P).
        vl_stall_count: So many drops in a row stall the VL. OpenSM: 7 (P).
        arbitration: Choice among the inputs that want the same output and VL.
    """

    buffer_per_vl_bytes: int = LARGEST_ADVERTISED_BLOCKS * CREDIT_BLOCK_BYTES
    fcp_min_gap_ps: int = 0
    hoq_life_ps: int | None = timeout_ps(0x12)
    leaf_hoq_life_ps: int | None = timeout_ps(0x10)
    vl_stall_count: int = 7
    arbitration: Arbitration = "round_robin"

    @property
    def breaks_deadlocks(self) -> bool:
        """Whether some head-of-queue lifetime is finite."""
        return self.hoq_life_ps is not None or self.leaf_hoq_life_ps is not None


def check_switch_model(model: SwitchModel, mtu_bytes: int = SMALLEST_MTU_BYTES) -> list[str]:
    """What is wrong with a switch model.

    Args:
        model: A row of the table, or one that a scenario has changed.
        mtu_bytes: Largest payload of a packet, which a buffer must hold.

    Returns:
        One text per problem, each beginning with the field's name; empty for a sound model.
    """
    checks = [
        *check_blocked_hardware(model, "buffer_per_vl_bytes", model.buffer_per_vl_bytes, mtu_bytes),
        check_range("forwarding_latency_ps", model.forwarding_latency_ps, 0, MAX_LATENCY_PS),
        check_range("fcp_min_gap_ps", model.fcp_min_gap_ps, 0, MAX_LATENCY_PS),
        check_range("vl_stall_count", model.vl_stall_count, 1, 7),
        check_range("data_vls", model.data_vls, 1, MAX_DATA_VLS),
    ]
    for field in ("hoq_life_ps", "leaf_hoq_life_ps"):
        life_ps: int | None = getattr(model, field)
        if life_ps is not None:
            checks.append(check_range(field, life_ps, 1, timeout_ps(0x13)))
    return [problem for problem in checks if problem]
