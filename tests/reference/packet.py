# SPDX-License-Identifier: Apache-2.0
"""Packets, and what is known of a packet at the port that it comes into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.port import Port

DATA_OVERHEAD_BYTES = 8 + 12 + 4 + 2
"""LRH, BTH, ICRC, VCRC."""
RESPONSE_BYTES = DATA_OVERHEAD_BYTES + 4
"""With an AETH."""
CNP_BYTES = DATA_OVERHEAD_BYTES + 16
FCP_BYTES = 8


class PacketKind(IntEnum):
    """Kinds, numbered as in the packet trace."""

    DATA = 0
    ACK = 1
    NAK = 2
    RNR_NAK = 3
    CNP = 4
    MANAGEMENT = 5


@dataclass
class Packet:
    """A packet from one HCA port to another.

    Attributes:
        kind: What it is.
        queue_pair: Index of its queue pair.
        psn: PSN in it, not wrapped.
        wire_bytes: Bytes from LRH to VCRC.
        sl: Service level.
        dlid: Destination LID.
        ack_req: Asks for an acknowledgement.
        first: First packet of a message.
        fecn: Marked by a switch.
        becn: Tells the sender of the mark.
    """

    kind: PacketKind
    queue_pair: int
    psn: int
    wire_bytes: int
    sl: int
    dlid: int
    ack_req: bool = False
    first: bool = False
    fecn: bool = False
    becn: bool = False


def data_wire_bytes(payload_bytes: int) -> int:
    """Bytes of a data packet: the payload in whole words, and the headers."""
    return -(-payload_bytes // 4) * 4 + DATA_OVERHEAD_BYTES


@dataclass(eq=False)
class Arrival:
    """A packet on its way into a port, or in its buffer.

    Attributes:
        packet: The packet.
        port: The port that it comes into.
        vl: VL on the wire.
        blocks: Blocks that it takes in the buffer; 0: the link has come up since, it stands in no account.
        head_in_ps: Its first byte is in.
        tail_in_ps: Its last byte is in.
        hits: Tries that a symbol error has spoilt.
        corrupted: That was all of them.
        received: Its header has come: it holds its blocks.
        lost: The link went down under it.
    """

    packet: Packet
    port: Port
    vl: int
    blocks: int
    head_in_ps: int
    tail_in_ps: int
    hits: int
    corrupted: bool
    received: bool = False
    lost: bool = False

    def free(self, due_ps: int) -> None:
        """Its blocks are free from a time on."""
        if self.blocks:
            self.port.free_blocks(self.vl, self.blocks, due_ps)
