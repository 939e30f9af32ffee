# SPDX-License-Identifier: Apache-2.0
"""What the models of switches and of HCAs have in common."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.limits import (
    CREDIT_BLOCK_BYTES,
    VL15_BUFFER_BYTES,
    check_blocks,
    check_range,
    check_smps,
)
from fabrictwin.units import PS_PER_MS

MAX_PORTS = 254
"""Port numbers are one byte; 0 is a switch's management port and 255 means none (IBTA)."""

MAX_RATE_BPS = 10**13
MAX_LATENCY_PS = PS_PER_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareModel:
    """A row of a table of hardware models.

    Grades, here and in every family: P primary source read, A secondary source, C computed, M from memory.

    Attributes:
        name: Key of the row.
        title: What people call the part.
        technology: Link layer.
        source: Where the numbers come from, with grades.
        ports: Most ports that the part has.
        rate_bps: Effective rate of one port.
        any_rate: True for a part that stands for many: a cable may be faster, ``rate_bps`` is the usual rate.
        credit_block_bytes: Unit of credit, on InfiniBand. IBTA: 64.
        fec_latency_ps: Added by each received packet; 0 where the published latency already holds it.
        llr: Whether its links retry a damaged packet by themselves, where the other end does too.
        vl15_buffer_bytes: Buffer of InfiniBand's VL15, which has no flow control and drops what does not fit.
    """

    name: str
    title: str
    technology: Technology
    source: str
    ports: int
    rate_bps: int
    any_rate: bool = False
    credit_block_bytes: int = CREDIT_BLOCK_BYTES
    fec_latency_ps: int = 0
    llr: bool = False
    vl15_buffer_bytes: int = VL15_BUFFER_BYTES

    @property
    def highest_rate_bps(self) -> int:
        """The fastest cable that its ports take."""
        return MAX_RATE_BPS if self.any_rate else self.rate_bps


def check_hardware(model: HardwareModel) -> list[str]:
    """What is wrong with the numbers that every model has.

    Args:
        model: A row of a table, or one that a scenario has changed.

    Returns:
        One text per check, each beginning with the field's name; empty where the field is sound.
    """
    return [
        check_range("ports", model.ports, 1, MAX_PORTS),
        check_range("rate_bps", model.rate_bps, 1, MAX_RATE_BPS),
        check_range("fec_latency_ps", model.fec_latency_ps, 0, MAX_LATENCY_PS),
    ]


def check_blocked_hardware(model: HardwareModel, buffer: str, buffer_bytes: int, mtu_bytes: int) -> list[str]:
    """What is wrong with the numbers that every InfiniBand model has; as :func:`check_hardware`.

    Args:
        model: A row of a table, or one that a scenario has changed.
        buffer: Name of the field of its input buffer of one VL.
        buffer_bytes: Size of that buffer.
        mtu_bytes: Largest payload of a packet, which the buffer must hold.
    """
    return [
        *check_hardware(model),
        check_blocks(buffer, buffer_bytes, model.credit_block_bytes, mtu_bytes),
        check_smps("vl15_buffer_bytes", model.vl15_buffer_bytes),
    ]
