# SPDX-License-Identifier: Apache-2.0
"""Credit flow control of one virtual lane of one link direction (docs/models/infiniband.md section 3)."""

from __future__ import annotations

from dataclasses import dataclass

FIELD = 4096
"""FCTBS, ABR and FCCL are 12 bits wide."""

WINDOW = 2048
"""Most blocks that the sender may be ahead, half of the field."""


def blocks_of(wire_bytes: int, block_bytes: int) -> int:
    """Blocks that a packet takes, its last one only partly filled."""
    return (wire_bytes + block_bytes - 1) // block_bytes


@dataclass
class CreditSender:
    """The sending end: what was sent, and up to where it may go.

    Attributes:
        fctbs: Flow control total blocks sent.
        fccl: Flow control credit limit, as last heard.
    """

    fccl: int
    fctbs: int = 0

    def may_send(self, blocks: int) -> bool:
        """Whether the credit limit lies at or beyond the block that a packet would end with."""
        return (self.fccl - (self.fctbs + blocks)) % FIELD <= WINDOW

    def send(self, blocks: int) -> None:
        """Counts a packet that goes out."""
        self.fctbs = (self.fctbs + blocks) % FIELD

    def hear(self, fccl: int) -> None:
        """Takes the limit of a flow-control packet."""
        self.fccl = fccl

    def restart(self) -> None:
        """The link has come up again: nothing sent, nothing allowed before a flow-control packet."""
        self.fctbs = self.fccl = 0


@dataclass
class CreditReceiver:
    """The receiving end: a buffer of ``cap`` blocks.

    Attributes:
        cap: Blocks in the buffer.
        abr: Adjusted blocks received.
        held: Blocks that packets hold at present.
    """

    cap: int
    abr: int = 0
    held: int = 0

    @property
    def fccl(self) -> int:
        """The credit limit to advertise now."""
        return (self.abr + self.cap - self.held) % FIELD

    def receive(self, blocks: int) -> None:
        """A packet has come in and holds its blocks."""
        self.abr = (self.abr + blocks) % FIELD
        self.held += blocks
        assert self.held <= self.cap, "a packet that does not fit"

    def free(self, blocks: int) -> None:
        """A packet has left the buffer."""
        self.held -= blocks

    def resynchronise(self, fctbs: int) -> int:
        """Believes the sender's count; returns the blocks that were sent and never came."""
        lost = (fctbs - self.abr) % FIELD
        self.abr = fctbs
        return lost

    def restart(self) -> None:
        """The link has come up again: nothing received; what still lies in the buffer stays there."""
        self.abr = 0
