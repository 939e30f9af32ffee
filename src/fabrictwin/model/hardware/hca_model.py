# SPDX-License-Identifier: Apache-2.0
"""What an HCA model is: the numbers that the engine needs, one field each."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.limits import (
    CREDIT_BLOCK_BYTES,
    LARGEST_ADVERTISED_BLOCKS,
    SMALLEST_MTU_BYTES,
    VL15_BUFFER_BYTES,
    check_blocks,
    check_range,
    check_smps,
    timeout_ps,
)
from fabrictwin.model.hardware.switch_model import MAX_RATE_BPS
from fabrictwin.units import PS_PER_MS, PS_PER_US

MAX_HCA_PORTS = 254
MAX_LATENCY_PS = PS_PER_MS
MAX_ACK_EVERY = 1 << 16
INFINITE_RNR_RETRY = 7


@dataclass(frozen=True, slots=True)
class HcaModel:
    """A row of the table of HCAs.

    Attributes:
        name: Key of the row.
        title: What people call the part.
        technology: Link layer.
        source: Where the numbers come from, with grades.
        ports: Most ports that the part is made with; a generated HCA has one.
        rate_bps: Effective rate of one port.
        tx_latency_ps: From the post of a message to its first byte on the wire.
        rx_latency_ps: From the last byte off the wire to the last byte in memory.
        drain_rate_bps: Rate at which the host takes data out of the receive buffer; None is line rate.
        ack_every: Packets per acknowledgement; the last packet of a message is always acknowledged.
        ack_timeout_ps: Time without an acknowledgement before a retry. Code 14 (P).
        retry_count: Retries before the queue pair fails. IBTA field of 3 bits; 7 is what libraries set (A).
        rnr_retry: Retries after receiver-not-ready; 7 is without end (P).
        rnr_timer_ps: Wait after receiver-not-ready. Code 12, 0.64 ms: table P, choice of code M.
        receive_buffer_bytes: Input buffer of one VL.
        credit_block_bytes: Unit of credit. IBTA: 64.
        fec_latency_ps: Added by each received packet; 0 where ``rx_latency_ps`` already holds it.
        llr: Whether its links retry a damaged packet by themselves, where the other end does too.
        vl15_buffer_bytes: Buffer of VL15, which has no flow control and drops what does not fit.
    """

    name: str
    title: str
    technology: Technology
    source: str
    ports: int
    rate_bps: int
    tx_latency_ps: int
    rx_latency_ps: int
    drain_rate_bps: int | None = None
    ack_every: int = 16
    ack_timeout_ps: int = timeout_ps(14)
    retry_count: int = 7
    rnr_retry: int = INFINITE_RNR_RETRY
    rnr_timer_ps: int = 640 * PS_PER_US
    receive_buffer_bytes: int = LARGEST_ADVERTISED_BLOCKS * CREDIT_BLOCK_BYTES
    credit_block_bytes: int = CREDIT_BLOCK_BYTES
    fec_latency_ps: int = 0
    llr: bool = False
    vl15_buffer_bytes: int = VL15_BUFFER_BYTES


def check_hca_model(model: HcaModel, mtu_bytes: int = SMALLEST_MTU_BYTES) -> list[str]:
    """What is wrong with an HCA model.

    Args:
        model: A row of the table, or one that a scenario has changed.
        mtu_bytes: Largest payload of a packet, which the buffer must hold.

    Returns:
        One text per problem, each beginning with the field's name; empty for a sound model.
    """
    checks = [
        check_range("ports", model.ports, 1, MAX_HCA_PORTS),
        check_range("rate_bps", model.rate_bps, 1, MAX_RATE_BPS),
        check_range("tx_latency_ps", model.tx_latency_ps, 0, MAX_LATENCY_PS),
        check_range("rx_latency_ps", model.rx_latency_ps, 0, MAX_LATENCY_PS),
        check_range("fec_latency_ps", model.fec_latency_ps, 0, MAX_LATENCY_PS),
        check_range("ack_every", model.ack_every, 1, MAX_ACK_EVERY),
        check_range("ack_timeout_ps", model.ack_timeout_ps, 1, timeout_ps(31)),
        check_range("retry_count", model.retry_count, 0, 7),
        check_range("rnr_retry", model.rnr_retry, 0, INFINITE_RNR_RETRY),
        check_range("rnr_timer_ps", model.rnr_timer_ps, 1, timeout_ps(31)),
        check_blocks("receive_buffer_bytes", model.receive_buffer_bytes, model.credit_block_bytes, mtu_bytes),
        check_smps("vl15_buffer_bytes", model.vl15_buffer_bytes),
    ]
    if model.drain_rate_bps is not None:
        checks.append(check_range("drain_rate_bps", model.drain_rate_bps, 1, MAX_RATE_BPS))
    return [problem for problem in checks if problem]
