# SPDX-License-Identifier: Apache-2.0
"""The bounds that the InfiniBand link layer puts on every model, and the checks that use them."""

from __future__ import annotations

TIMEOUT_UNIT_PS = 4_096_000
"""IBTA time codes count in 4.096 µs · 2^code."""

CREDIT_BLOCK_BYTES = 64
LARGEST_ADVERTISED_BLOCKS = 2048
"""A receiver advertises at most half of the 12-bit credit space (128 KiB with 64-byte blocks)."""

SMALLEST_MTU_BYTES = 256
HEADERS_BYTES = 8 + 12 + 16 + 4 + 2
"""LRH, BTH, RETH, ICRC and VCRC: the most that a data packet of a write adds to its payload."""

SMP_BYTES = 8 + 12 + 8 + 256 + 4 + 2
"""A subnet management packet on the wire: LRH, BTH, DETH, MAD, ICRC, VCRC."""

VL15_BUFFER_BYTES = 16 * 5 * CREDIT_BLOCK_BYTES
"""Sixteen management packets, in whole blocks. No part publishes its own (M)."""


def timeout_ps(code: int) -> int:
    """4.096 µs · 2^code in picoseconds."""
    return TIMEOUT_UNIT_PS << code


def check_range(field: str, value: int, least: int, most: int) -> str:
    """A text that begins with ``field`` if ``value`` lies outside ``least`` to ``most``; else empty."""
    if least <= value <= most:
        return ""
    return f"{field} must be from {least} to {most}, got {value}"


def check_blocks(field: str, buffer_bytes: int, block_bytes: int, mtu_bytes: int) -> str:
    """A text if a buffer cannot hold one packet, or holds more than the credit fields can say; else empty.

    Args:
        field: Name of the buffer's field.
        buffer_bytes: Size of the buffer of one VL.
        block_bytes: Unit of credit.
        mtu_bytes: Largest payload of a packet.
    """
    if not CREDIT_BLOCK_BYTES <= block_bytes <= 4096 or block_bytes % CREDIT_BLOCK_BYTES:
        return f"credit_block_bytes must be a multiple of 64 from 64 to 4096, got {block_bytes}"
    least = -(-(mtu_bytes + HEADERS_BYTES) // block_bytes) * block_bytes
    problem = check_range(field, buffer_bytes, least, LARGEST_ADVERTISED_BLOCKS * block_bytes)
    if problem:
        largest = f"{LARGEST_ADVERTISED_BLOCKS} blocks of {block_bytes} B"
        return f"{problem} (one packet of {mtu_bytes} B to {largest})"
    if buffer_bytes % block_bytes:
        return f"{field} must be whole blocks of {block_bytes} B, got {buffer_bytes}"
    return ""


def check_smps(field: str, buffer_bytes: int) -> str:
    """A text if a VL15 buffer cannot hold one management packet; else empty."""
    return check_range(field, buffer_bytes, SMP_BYTES, 1 << 24)
