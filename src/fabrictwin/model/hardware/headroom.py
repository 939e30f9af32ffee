# SPDX-License-Identifier: Apache-2.0
"""How much a lossless buffer must still take after it has asked for a pause: the formulas that vendors use.

Each covers the way of the PFC frame to the sender and what is on the cable, what the sender still sends until
it has reacted, and a frame at either end that cannot be cut short. Sources: models.md section 3.3.
"""

from __future__ import annotations

from typing import Literal, get_args

from fabrictwin.units import PS_PER_S

HeadroomProfile = Literal["h1_mlx5", "h2_sonic", "h3_8021qbb"]
HEADROOM_PROFILES: tuple[HeadroomProfile, ...] = get_args(HeadroomProfile)

QUANTUM_BITS = 512
"""A pause quantum is 512 bit times (IEEE 802.3 annex 31B)."""

PREAMBLE_AND_GAP_BYTES = 20
DATA_OVERHEAD_BYTES = PREAMBLE_AND_GAP_BYTES + 14 + 20 + 8 + 12 + 4 + 4
"""What a RoCEv2 data packet takes on the wire beside its payload: Ethernet, IPv4, UDP, BTH, ICRC, FCS (P)."""

_GBPS = 10**9
_RESPONSE_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
"""How long a sender may take to obey, by Gb/s (IEEE 802.3 table 31B, as SONiC has it, P)."""

_SONIC_PORT_MTU_BYTES = 9100
_SONIC_MAC_PHY_BYTES = 819
"""0.8 KiB."""
_SPECTRUM4_CELL_BYTES = 192
_SMALLEST_FRAME_BYTES = 64
_SONIC_SPEED_OF_LIGHT_MPS = 198_000_000
_SONIC_STEP_BYTES = 1024

_PAUSE_BITS = 672
_INTERFACE_BITS = {10: 8_192, 25: 6_144, 40: 24_576, 100: 122_880}
_CABLE_PS_PER_MM = 5


def frame_bytes(payload_bytes: int) -> int:
    """What a buffer holds of a data packet: its wire bytes in whole words, without preamble and gap."""
    return -(-(payload_bytes + DATA_OVERHEAD_BYTES) // 4) * 4 - PREAMBLE_AND_GAP_BYTES


def response_ps(rate_bps: int) -> int:
    """How long a sender may take from the end of a PFC frame until it stops; that of the next higher rate
    (in quanta) where the standard has none."""
    quanta = _at_rate(_RESPONSE_QUANTA, rate_bps)
    return -(-quanta * QUANTUM_BITS * PS_PER_S // rate_bps)


def least_headroom_bytes(rate_bps: int, length_mm: int, mtu_bytes: int, waits_ps: int) -> int:
    """What comes in after a pause has been asked for, at worst: both ways of the cable, the response, and a
    frame at either end.

    Args:
        rate_bps: Rate of the cable.
        length_mm: Its length.
        mtu_bytes: Largest payload of a packet.
        waits_ps: From the end of the PFC frame until the sender stops.
    """
    both_ps = 2 * length_mm * _CABLE_PS_PER_MM + waits_ps
    return -(-both_ps * rate_bps // (8 * PS_PER_S)) + 2 * frame_bytes(mtu_bytes)


def check_headroom(headroom_bytes: int | None, buffer_bytes: int) -> str:
    """A text if a headroom that was given is none, or more than there is; else empty."""
    if headroom_bytes is None or 0 < headroom_bytes <= buffer_bytes:
        return ""
    return (
        f"headroom_bytes must be from 1 to the buffer's {buffer_bytes}, got {headroom_bytes}: a lossless "
        "priority must take 2 * rate * delay + response + 2 frames after it has asked for a pause"
    )


def headroom_bytes(profile: HeadroomProfile, rate_bps: int, length_mm: int, mtu_bytes: int) -> int:
    """Headroom of one priority of one port.

    Args:
        profile: Whose formula.
        rate_bps: Rate of the cable.
        length_mm: Its length.
        mtu_bytes: Largest payload of a packet.

    Returns:
        Bytes that must fit in after the pause has been asked for.
    """
    if profile == "h1_mlx5":
        return _mlx5_bytes(rate_bps, length_mm, mtu_bytes)
    if profile == "h2_sonic":
        return _sonic_bytes(rate_bps, length_mm, mtu_bytes)
    return _standard_bytes(rate_bps, length_mm, mtu_bytes)


def _mlx5_bytes(rate_bps: int, length_mm: int, mtu_bytes: int) -> int:
    """H1: (301 + 2.16 m) * max(40, Gb/s) + 2.72 * MTU, as Linux sets the buffers of ConnectX (P)."""
    rate_bps = max(40 * _GBPS, rate_bps)
    return ((30_100_000 + 216 * length_mm) * rate_bps + 272 * mtu_bytes * 10**12) // 10**14


def _sonic_bytes(rate_bps: int, length_mm: int, mtu_bytes: int) -> int:
    """H2: what SONiC calls xoff, with the constants of Spectrum-4 (P), if all packets are small: each wastes
    two thirds of its cell. SONiC's xon, the pipeline, is the reserve of the priority group."""
    cable = 2 * length_mm * rate_bps // (_SONIC_SPEED_OF_LIGHT_MPS * 8 * 1000)
    response = _at_rate(_RESPONSE_QUANTA, rate_bps) * QUANTUM_BITS // 8
    propagation = _SONIC_PORT_MTU_BYTES + cable + _SONIC_MAC_PHY_BYTES + response
    xoff = mtu_bytes + propagation * _SPECTRUM4_CELL_BYTES // _SMALLEST_FRAME_BYTES
    return -(-xoff // _SONIC_STEP_BYTES) * _SONIC_STEP_BYTES


def _standard_bytes(rate_bps: int, length_mm: int, mtu_bytes: int) -> int:
    """H3: the delays that 802.1Qbb adds up, as Cisco tells them (A)."""
    cable = -(-2 * length_mm * _CABLE_PS_PER_MM * rate_bps // PS_PER_S)
    response = _at_rate(_RESPONSE_QUANTA, rate_bps) * QUANTUM_BITS
    bits = _PAUSE_BITS + _interface_bits(rate_bps) + cable + response
    return -(-bits // 8) + 2 * frame_bytes(mtu_bytes)


def _interface_bits(rate_bps: int) -> int:
    """No source has the interface delay above 100 Gb/s: it is taken to last as long as there (M)."""
    fastest = max(_INTERFACE_BITS)
    if rate_bps > fastest * _GBPS:
        return _INTERFACE_BITS[fastest] * rate_bps // (fastest * _GBPS)
    return _at_rate(_INTERFACE_BITS, rate_bps)


def _at_rate(table: dict[int, int], rate_bps: int) -> int:
    """The entry of a rate, or of the next higher one that is there; the last one beyond."""
    return next((value for gbps, value in table.items() if rate_bps <= gbps * _GBPS), table[max(table)])
