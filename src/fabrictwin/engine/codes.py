# SPDX-License-Identifier: Apache-2.0
"""Numbers with a meaning in kernels: event kinds in their order, packet kinds and flags, status codes."""

from __future__ import annotations

from enum import IntEnum


class EventKind(IntEnum):
    """What happens at a node. The value is the order among events of one node at one time."""

    ACTION = 0
    LINK_INIT = 1
    RESYNC = 2
    CREDIT = 3
    PORT_FREE = 4
    STORED = 5
    ARRIVE = 6
    DRAINED = 7
    FCP_DUE = 8
    POSTED = 9
    PACED = 10
    ACK_TIMER = 11
    RNR_TIMER = 12
    RECEIVED = 13
    RANK = 14
    CC_NOTIFY = 15
    CC_TIMER = 16
    CC_APPLY = 17
    HOQ_TIMER = 18
    PFC = 19
    PFC_REFRESH = 20
    PFC_EXPIRE = 21
    WATCHDOG = 22


PASSIVE = (
    (1 << EventKind.ACTION)
    | (1 << EventKind.LINK_INIT)
    | (1 << EventKind.RESYNC)
    | (1 << EventKind.CREDIT)
    | (1 << EventKind.PORT_FREE)
    | (1 << EventKind.FCP_DUE)
    | (1 << EventKind.ACK_TIMER)
    | (1 << EventKind.CC_TIMER)
    | (1 << EventKind.HOQ_TIMER)
    | (1 << EventKind.PFC)
    | (1 << EventKind.PFC_REFRESH)
    | (1 << EventKind.PFC_EXPIRE)
    | (1 << EventKind.WATCHDOG)
)
"""Kinds that do not keep a fabric from being idle, as a bit set.

Timers, and what only lets packets go: without a packet they change nothing that anyone waits for. Which
CREDIT and PORT_FREE events there are depends on how the fabric is split, so they must not decide.
"""


FREQUENT = (
    (1 << EventKind.CREDIT) | (1 << EventKind.PORT_FREE) | (1 << EventKind.ARRIVE) | (1 << EventKind.PACED)
)
"""Kinds that every packet makes, and that need few records each, as a bit set."""


class PacketKind(IntEnum):
    """What a packet is."""

    DATA = 0
    ACK = 1
    NAK = 2
    RNR_NAK = 3
    CNP = 4
    MANAGEMENT = 5


class Flag(IntEnum):
    """Bits of ``PACKET.bits``."""

    FIRST = 1
    LAST = 2
    ACK_REQUEST = 4
    FECN = 8
    BECN = 16
    CORRUPTED = 32
    CE = 64
    """Congestion experienced (ECN)."""


class PvCare(IntEnum):
    """Bits of ``PV.care``: what else must be looked at when a packet comes or leaves."""

    STALLED = 1
    """``stalled_until_ps`` may lie ahead."""
    MARKS = 2
    """Packets may be marked (FECN)."""
    DISCARDED = 4
    """``discards_in_row`` is not zero."""
    HOQ_ARMED = 8
    """A HOQ_TIMER is under way."""
    NO_HOQ = 16
    """The lifetime is infinite."""
    DRAWS = 32
    """The arbiter draws: ``departures`` is counted."""


class Odd(IntEnum):
    """Bits of ``PORT.odd``: why a packet that leaves needs a closer look."""

    ERRORS = 1
    """It suffers symbol errors or FEC jitter."""
    MOVED = 2
    """It may be the first on a new path."""


class QpState(IntEnum):
    """What a requester is doing."""

    IDLE = 0
    """Nothing to send."""
    READY = 1
    """Stands in the ring of its port and VL."""
    PACED = 2
    """Waits for the end of its injection-rate delay."""
    RNR_WAIT = 3
    """Waits for the RNR timer."""
    ERROR = 4
    """Retries exhausted."""


class LogKind(IntEnum):
    """What an entry of the event log says."""

    LINK_DOWN = 0
    LINK_UP = 1
    LINK_RATE = 2
    LINK_ERROR = 3
    DRAIN_RATE = 4
    RECEIVE_QUEUE = 5
    LFT_WRITE = 6
    QP_ERROR = 7
    VL_STALLED = 8
    FIRST_PACKET = 9
    PFC_STORM = 10
    """The watchdog has found one; the value is the priority."""
    PFC_RESTORED = 11
    NIC_STORM = 12
    """An adapter begins, or ceases, to pause its peer without end."""
    FLOODING = 13
    """A switch begins (1), or ceases, to flood what is for the host behind a port."""


class LossRecovery(IntEnum):
    """What an adapter on Ethernet sends again after a loss."""

    GO_BACK_N = 0
    """All since the packet that is missing."""
    SELECTIVE = 1
    """What is missing."""
    GO_BACK_0 = 2
    """The whole message."""


class RateControl(IntEnum):
    """Congestion control of RoCE."""

    DCQCN = 0
    TIMELY = 1
    HPCC = 2


class CcRole(IntEnum):
    """Where the reaction points of congestion control are, seen from a shard."""

    TOGETHER = 0
    """With the HCAs that they belong to."""
    ADAPTERS = 1
    """In another process: BECNs are reported, CCTIs come back."""
    REACTION_POINTS = 2
    """Here, and nothing else is."""


class Status(IntEnum):
    """Why :func:`fabrictwin.engine.loop.run` came back."""

    REACHED = 0
    """Every event before the horizon is done."""
    GROW = 1
    """A pool is nearly full: enlarge it and call again."""


NEVER = (1 << 62) - 1
"""A time that does not come."""

DROP_PORT = 255
"""LFT entry: discard."""

SEQUENCE_MASK = 4095
"""FCTBS, FCCL and ABR have 12 bits."""

CREDIT_WINDOW = 2048
"""At most this many blocks can be advertised ahead."""

DATA_OVERHEAD_BYTES = 26
"""LRH 8 + BTH 12 + ICRC 4 + VCRC 2."""

ACK_BYTES = 30
"""A response: the overhead and an AETH of 4."""

CNP_BYTES = 42
"""A congestion notification packet: the overhead and 16 reserved bytes."""

FCP_BYTES = 8
"""A flow-control packet of 6 bytes and its delimiters."""

REFRESH_BYTE_TIMES = 65_536 * 4
"""65 536 symbol times of one lane, in byte times of a 4x port."""

LLR_TRIES = 8
"""Hits in a row after which link-level retry gives up."""

STALL_FACTOR = 8
"""A stalled VL discards for this many head-of-queue lifetimes."""

ETHERNET_DATA_OVERHEAD_BYTES = 82
"""Preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, inter-frame gap 12."""

ETHERNET_ACK_BYTES = 84
"""A frame of the least size, 64, and preamble and gap."""

ETHERNET_CNP_BYTES = 98
"""A frame of 78 with 16 reserved bytes, and preamble and gap."""

PFC_BYTES = 84
"""A frame of the least size, and preamble and gap."""

FRAME_GAP_BYTES = 20
"""Preamble and inter-frame gap: what a frame takes of a link and not of a buffer."""

QUANTUM_BYTES = 64
"""A pause quantum: 512 bit times."""

CNP_PRIORITY = 6
"""Of congestion notification packets (802.1p)."""

TTL = 64
"""Routers that a packet may pass."""

FLOODED_TTL = 1
"""TTL of the copies of a packet that is flooded: none of those who get one is whom its MAC address names."""
