# SPDX-License-Identifier: Apache-2.0
"""Reliable connection: both ends of one queue pair (docs/models/infiniband.md section 10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

MAX_OUTSTANDING = 2**23 - 1
INFINITE_RNR_RETRY = 7


class Answer(IntEnum):
    """Kinds of response packets, numbered as in the packet trace."""

    ACK = 1
    NAK = 2
    RNR_NAK = 3


@dataclass(frozen=True)
class Response:
    """What a responder says: an answer and the PSN in it."""

    answer: Answer
    psn: int


@dataclass
class Responder:
    """The receiving end.

    Attributes:
        epsn: The PSN that it expects next.
        nak_outstanding: It has asked for ``epsn`` already.
    """

    epsn: int = 0
    nak_outstanding: bool = False

    def receive(self, psn: int, ack_req: bool, first: bool, ready: bool) -> tuple[bool, Response | None]:
        """Takes a data packet.

        Args:
            psn: Its PSN.
            ack_req: Whether it asks for an acknowledgement.
            first: Whether it is the first packet of a message.
            ready: Whether a receive work request is posted.

        Returns:
            Whether the packet is accepted, and the response that it causes.
        """
        if psn < self.epsn:
            return False, self._acknowledge(ack_req)
        if psn > self.epsn:
            if self.nak_outstanding:
                return False, None
            self.nak_outstanding = True
            return False, Response(Answer.NAK, self.epsn)
        if first and not ready:
            self.nak_outstanding = True
            return False, Response(Answer.RNR_NAK, self.epsn)
        self.epsn += 1
        self.nak_outstanding = False
        return True, self._acknowledge(ack_req)

    def _acknowledge(self, ack_req: bool) -> Response | None:
        return Response(Answer.ACK, self.epsn - 1) if ack_req else None


@dataclass
class Requester:
    """The sending end.

    Attributes:
        retry_count: Retries that progress restores.
        rnr_retry: Retries after RNR NAK that progress restores; 7 is without end.
        ack_timeout_ps: Life of the timer.
        rnr_timer_ps: Wait after an RNR NAK.
        end: PSN after the last one that is ready to be sent.
        next: PSN that goes next.
        una: First PSN that is not acknowledged.
        sent_end: PSN after the highest one ever sent.
        deadline_ps: When the timer expires; None: stopped.
        rnr_until_ps: Sends nothing before; None: does not wait.
        failed: A retry was needed that it does not have.
    """

    retry_count: int
    rnr_retry: int
    ack_timeout_ps: int
    rnr_timer_ps: int
    end: int = 0
    next: int = 0
    una: int = 0
    sent_end: int = 0
    deadline_ps: int | None = None
    rnr_until_ps: int | None = None
    failed: bool = False
    retries_left: int = field(init=False)
    rnr_retries_left: int = field(init=False)

    def __post_init__(self) -> None:
        self._restore()

    def _restore(self) -> None:
        self.retries_left = self.retry_count
        self.rnr_retries_left = self.rnr_retry

    @property
    def can_send(self) -> bool:
        """Whether a packet is ready and may go."""
        waits = self.failed or self.rnr_until_ps is not None
        return not waits and self.next < self.end and self.next - self.una < MAX_OUTSTANDING

    def sent(self, start_ps: int) -> None:
        """Packet ``next`` went out, its first byte at ``start_ps``."""
        self.next += 1
        self.sent_end = max(self.sent_end, self.next)
        if self.deadline_ps is None:
            self.deadline_ps = start_ps + self.ack_timeout_ps

    def acknowledge(self, psn: int, now_ps: int) -> None:
        """Everything up to ``psn`` has arrived."""
        if self.failed or psn < self.una:
            return
        self.una = psn + 1
        self.next = max(self.next, self.una)
        self._restore()
        self.deadline_ps = now_ps + self.ack_timeout_ps if self.una < self.sent_end else None

    def nak(self, psn: int, now_ps: int) -> None:
        """The responder waits for ``psn``."""
        if self.failed or psn < self.una:
            return
        self.acknowledge(psn - 1, now_ps)
        if self.rnr_until_ps is None:
            self._retry(psn)

    def rnr_nak(self, psn: int, now_ps: int) -> None:
        """The responder has no buffer for ``psn`` yet."""
        if self.failed or psn < self.una:
            return
        self.acknowledge(psn - 1, now_ps)
        if self.rnr_until_ps is not None:
            return
        if self.rnr_retry != INFINITE_RNR_RETRY:
            if self.rnr_retries_left == 0:
                self._fail()
                return
            self.rnr_retries_left -= 1
        self.next = psn
        self.rnr_until_ps = now_ps + self.rnr_timer_ps

    def rnr_over(self) -> None:
        """The wait after an RNR NAK is over."""
        self.rnr_until_ps = None

    def timeout(self, now_ps: int) -> None:
        """The timer has expired; while it waits for the receiver, that means nothing."""
        if self.rnr_until_ps is not None:
            self.deadline_ps = now_ps + self.ack_timeout_ps
            return
        self.deadline_ps = now_ps + self.ack_timeout_ps
        self._retry(self.una)

    def _retry(self, psn: int) -> None:
        if self.retries_left == 0:
            self._fail()
            return
        self.retries_left -= 1
        self.next = psn

    def _fail(self) -> None:
        self.failed = True
        self.deadline_ps = None
        self.rnr_until_ps = None
