# SPDX-License-Identifier: Apache-2.0
"""A queue pair of a flow: its messages, its requester and its responder, and what its HCAs know of it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.go_back_n import Requester, Responder
from reference.packet import Packet, PacketKind, data_wire_bytes

if TYPE_CHECKING:
    from reference.port import Port


@dataclass
class Message:
    """A message of one queue pair.

    Attributes:
        first: Its first PSN.
        end: The PSN after its last one.
        size_bytes: Its bytes.
        posted_ps: When it was posted.
        in_memory_ps: When its last byte was in the receiver's memory.
    """

    first: int
    end: int
    size_bytes: int
    posted_ps: int
    in_memory_ps: int | None = None


@dataclass
class WaitingAnswer:
    """The response of a queue pair that waits to be sent."""

    kind: PacketKind
    psn: int
    becn: bool


@dataclass(eq=False)
class QueuePair:
    """One queue pair.

    Attributes:
        index: Number, in the order of jobs, flows and queue pairs.
        flow: Number of its flow.
        src: The requester's port.
        dst: The responder's port.
        sl: Service level.
        management: Sends datagrams on VL15 instead of a reliable connection.
        mtu_bytes: Largest payload.
        ack_every: Packets per acknowledgement.
        dlid: LID of ``dst``.
        slid: LID of ``src``.
        requester: The sending end.
        responder: The receiving end.
        messages: Everything posted.
        last_end_ps: When its last packet had left.
        not_before_ps: End of its injection-rate delay.
        answer: The response that waits at ``dst``.
        ack_timer_ps: Deadline that the last timer event was set for.
        completed: Messages that are in memory.
        retransmitted: Packets that were sent again.
        first_ps: Start of its first packet; None: nothing was sent.
        last_ps: When the last byte that was accepted is in memory; -1: none was.
        delivered_bytes: Payload that was accepted.
        limited_ps: Sum of its injection-rate delays.
        refused: Messages that were posted after it had failed.
    """

    index: int
    flow: int
    src: Port
    dst: Port
    sl: int
    management: bool
    mtu_bytes: int
    ack_every: int
    dlid: int
    slid: int
    requester: Requester
    responder: Responder = field(default_factory=Responder)
    messages: list[Message] = field(default_factory=list)
    last_end_ps: int = -1
    not_before_ps: int = 0
    answer: WaitingAnswer | None = None
    ack_timer_ps: int = -1
    completed: int = 0
    retransmitted: int = 0
    first_ps: int | None = None
    last_ps: int = -1
    delivered_bytes: int = 0
    limited_ps: int = 0
    refused: int = 0

    @property
    def posted_end(self) -> int:
        return self.messages[-1].end if self.messages else 0

    @property
    def failed_messages(self) -> int:
        """Those that were not acknowledged when it failed, and those posted later."""
        unacknowledged = sum(message.end > self.requester.una for message in self.messages)
        return unacknowledged + self.refused if self.requester.failed else 0

    @property
    def has_sent_all(self) -> bool:
        """Whether the last packet of everything posted has been put on the wire, or never will be."""
        return self.requester.failed or self.requester.sent_end == self.posted_end

    def is_prefetching(self, now_ps: int) -> bool:
        """Whether a message that is posted now can be sent at once."""
        return self.last_end_ps > now_ps and self.requester.end == self.posted_end

    def post(self, size_bytes: int, now_ps: int) -> Message:
        """Takes a message."""
        packets = max(1, -(-size_bytes // self.mtu_bytes))
        message = Message(self.posted_end, self.posted_end + packets, size_bytes, now_ps)
        self.messages.append(message)
        return message

    def message_of(self, psn: int) -> Message:
        return self.messages[bisect_right(self.messages, psn, key=lambda message: message.first) - 1]

    def payload_bytes(self, psn: int) -> int:
        message = self.message_of(psn)
        before = (psn - message.first) * self.mtu_bytes
        return min(self.mtu_bytes, message.size_bytes - before)

    def next_data(self) -> Packet:
        """The data packet that goes next."""
        psn = self.requester.next
        message = self.message_of(psn)
        last = psn == message.end - 1
        return Packet(
            PacketKind.MANAGEMENT if self.management else PacketKind.DATA,
            self.index,
            psn,
            data_wire_bytes(self.payload_bytes(psn)),
            self.sl,
            self.dlid,
            ack_req=last or (psn + 1) % self.ack_every == 0,
            first=psn == message.first,
        )
