# SPDX-License-Identifier: Apache-2.0
"""What an HCA model is: the numbers that the engine needs, one field each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.ethernet_switch_model import LARGEST_BUFFER_BYTES, LONGEST_PAUSE_QUANTA
from fabrictwin.model.hardware.hardware_model import (
    MAX_LATENCY_PS,
    MAX_RATE_BPS,
    HardwareModel,
    check_blocked_hardware,
    check_hardware,
)
from fabrictwin.model.hardware.headroom import HeadroomProfile, check_headroom, frame_bytes
from fabrictwin.model.hardware.limits import (
    CREDIT_BLOCK_BYTES,
    LARGEST_ADVERTISED_BLOCKS,
    SMALLEST_MTU_BYTES,
    check_range,
    timeout_ps,
)
from fabrictwin.units import PS_PER_US

MAX_ACK_EVERY = 1 << 16
INFINITE_RNR_RETRY = 7
MAX_REORDER_PACKETS = 1 << 16

LossRecovery = Literal["go_back_n", "selective_repeat", "go_back_0"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HcaModel(HardwareModel):
    """A row of the table of HCAs; a generated HCA has one port, however many the part is made with.

    Attributes:
        tx_latency_ps: From the post of a message to its first byte on the wire.
        rx_latency_ps: From the last byte off the wire to the last byte in memory.
        drain_rate_bps: Rate at which the host takes data out of the receive buffer; None is line rate.
        ack_every: Packets per acknowledgement; the last packet of a message is always acknowledged.
        ack_timeout_ps: Time without an acknowledgement before a retry. Code 14 (P).
        retry_count: Retries before the queue pair fails. IBTA field of 3 bits; 7 is what libraries set (A).
        rnr_retry: Retries after receiver-not-ready; 7 is without end (P).
        rnr_timer_ps: Wait after receiver-not-ready. Code 12, 0.64 ms: table P, choice of code M.
        receive_buffer_bytes: Input buffer of one VL; on Ethernet of one lossless priority.
        xon_offset_bytes: On Ethernet, a pause ends so far below the threshold.
        headroom_bytes: On Ethernet, the part of the receive buffer that is kept for what comes after a pause;
            None: by ``headroom_profile``, from rate, length and MTU.
        headroom_profile: Formula for it; H1 is Linux's for these adapters.
        pause_quanta: On Ethernet, quanta that a PFC frame asks for.
        response_ps: On Ethernet, from the end of a PFC frame to the stop of its priority; None: as IEEE 802.3
            allows at the rate of the cable.
        loss_recovery: What is sent again after a loss: all that followed, only what is missing, or the
            whole message.
        reorder_packets: So many packets may come ahead of one before it counts as lost.
        window_packets: On Ethernet, packets of a queue pair that may be unacknowledged; 0: no such limit.
    """

    tx_latency_ps: int
    rx_latency_ps: int
    drain_rate_bps: int | None = None
    ack_every: int = 16
    ack_timeout_ps: int = timeout_ps(14)
    retry_count: int = 7
    rnr_retry: int = INFINITE_RNR_RETRY
    rnr_timer_ps: int = 640 * PS_PER_US
    receive_buffer_bytes: int = LARGEST_ADVERTISED_BLOCKS * CREDIT_BLOCK_BYTES
    xon_offset_bytes: int = 0
    headroom_bytes: int | None = None
    headroom_profile: HeadroomProfile = "h1_mlx5"
    pause_quanta: int = LONGEST_PAUSE_QUANTA
    response_ps: int | None = None
    loss_recovery: LossRecovery = "go_back_n"
    reorder_packets: int = 0
    window_packets: int = 0


def check_hca_model(model: HcaModel, mtu_bytes: int = SMALLEST_MTU_BYTES) -> list[str]:
    """What is wrong with an HCA model.

    Args:
        model: A row of the table, or one that a scenario has changed.
        mtu_bytes: Largest payload of a packet, which the buffer must hold.

    Returns:
        One text per problem, each beginning with the field's name; empty for a sound model.
    """
    is_ethernet = model.technology is Technology.ROCE
    checks = [
        *(_check_ethernet(model, mtu_bytes) if is_ethernet else _check_infiniband(model, mtu_bytes)),
        check_range("tx_latency_ps", model.tx_latency_ps, 0, MAX_LATENCY_PS),
        check_range("rx_latency_ps", model.rx_latency_ps, 0, MAX_LATENCY_PS),
        check_range("ack_every", model.ack_every, 1, MAX_ACK_EVERY),
        check_range("ack_timeout_ps", model.ack_timeout_ps, 1, timeout_ps(31)),
        check_range("retry_count", model.retry_count, 0, 7),
        check_range("rnr_retry", model.rnr_retry, 0, INFINITE_RNR_RETRY),
        check_range("rnr_timer_ps", model.rnr_timer_ps, 1, timeout_ps(31)),
    ]
    if model.drain_rate_bps is not None:
        checks.append(check_range("drain_rate_bps", model.drain_rate_bps, 1, MAX_RATE_BPS))
    return [problem for problem in checks if problem]


def _check_infiniband(model: HcaModel, mtu_bytes: int) -> list[str]:
    return check_blocked_hardware(model, "receive_buffer_bytes", model.receive_buffer_bytes, mtu_bytes)


def _check_ethernet(model: HcaModel, mtu_bytes: int) -> list[str]:
    buffer_bytes, frame = model.receive_buffer_bytes, frame_bytes(mtu_bytes)
    buffer = check_range("receive_buffer_bytes", buffer_bytes, frame, LARGEST_BUFFER_BYTES)
    checks = [
        *check_hardware(model),
        f"{buffer} (one frame of {mtu_bytes} B of payload is {frame} B)" if buffer else "",
        check_range("xon_offset_bytes", model.xon_offset_bytes, 0, buffer_bytes),
        check_range("pause_quanta", model.pause_quanta, 1, LONGEST_PAUSE_QUANTA),
        check_range("reorder_packets", model.reorder_packets, 0, MAX_REORDER_PACKETS),
        check_headroom(model.headroom_bytes, buffer_bytes),
    ]
    if model.loss_recovery == "go_back_0" and model.window_packets:
        checks.append(
            "window_packets goes not with loss_recovery 'go_back_0', which acknowledges whole messages only"
        )
    if model.response_ps is not None:
        checks.append(check_range("response_ps", model.response_ps, 0, MAX_LATENCY_PS))
    return checks
