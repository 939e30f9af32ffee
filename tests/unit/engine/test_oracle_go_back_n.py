# SPDX-License-Identifier: Apache-2.0
"""The go-back-N oracle against the statements of the standard (IBTA 9.7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference.go_back_n import Answer, Requester, Responder, Response

TIMEOUT = 1000
RNR_TIMER = 500


def requester(end: int = 10, retry_count: int = 2, rnr_retry: int = 7) -> Requester:
    return Requester(retry_count, rnr_retry, TIMEOUT, RNR_TIMER, end=end)


def send(sender: Requester, packets: int, start_ps: int = 0) -> None:
    for _ in range(packets):
        assert sender.can_send
        sender.sent(start_ps)


def test_expected_packet_is_accepted_and_acknowledged_only_on_request() -> None:
    responder = Responder()
    assert responder.receive(0, False, True, True) == (True, None)
    assert responder.receive(1, True, False, True) == (True, Response(Answer.ACK, 1))


def test_gap_is_answered_once_until_the_expected_packet_comes() -> None:
    responder = Responder(epsn=3)
    assert responder.receive(5, True, False, True) == (False, Response(Answer.NAK, 3))
    assert responder.receive(6, True, False, True) == (False, None)
    assert responder.receive(3, False, False, True) == (True, None)
    assert responder.receive(6, False, False, True) == (False, Response(Answer.NAK, 4))


def test_duplicate_is_acknowledged_with_the_last_accepted_psn() -> None:
    responder = Responder(epsn=8)
    assert responder.receive(2, True, False, True) == (False, Response(Answer.ACK, 7))
    assert responder.receive(3, False, False, True) == (False, None)


def test_first_packet_without_a_receive_work_request_gets_rnr_nak_each_time() -> None:
    responder = Responder()
    assert responder.receive(0, False, True, False) == (False, Response(Answer.RNR_NAK, 0))
    assert responder.receive(1, True, False, False) == (False, None), "the RNR NAK is the outstanding NAK"
    assert responder.receive(0, False, True, False) == (False, Response(Answer.RNR_NAK, 0))
    assert responder.receive(0, False, True, True) == (True, None)


def test_later_packet_of_a_message_needs_no_receive_work_request() -> None:
    responder = Responder(epsn=1)
    assert responder.receive(1, True, False, False) == (True, Response(Answer.ACK, 1))


def test_timer_starts_with_the_first_packet_and_restarts_with_progress() -> None:
    sender = requester()
    sender.sent(100)
    sender.sent(200)
    assert sender.deadline_ps == 1100
    sender.acknowledge(0, 700)
    assert sender.deadline_ps == 1700
    sender.acknowledge(1, 800)
    assert sender.deadline_ps is None, "nothing is outstanding"


def test_old_acknowledgement_changes_nothing() -> None:
    sender = requester()
    send(sender, 5)
    sender.acknowledge(3, 700)
    sender.acknowledge(2, 900)
    assert (sender.una, sender.deadline_ps) == (4, 1700)


def test_nak_acknowledges_what_is_before_it_and_goes_back() -> None:
    sender = requester()
    send(sender, 6)
    sender.nak(2, 50)
    assert (sender.una, sender.next, sender.retries_left) == (2, 2, 1)


def test_timeouts_beyond_the_retry_count_fail_the_queue_pair() -> None:
    sender = requester(retry_count=2)
    send(sender, 3)
    for now in (1000, 2000):
        sender.timeout(now)
        assert not sender.failed
        assert sender.next == 0
        assert sender.deadline_ps == now + TIMEOUT
        send(sender, 3, now)
    sender.timeout(3000)
    assert sender.failed
    assert sender.deadline_ps is None
    assert not sender.can_send


def test_progress_restores_the_retries() -> None:
    sender = requester(retry_count=1)
    send(sender, 3)
    sender.timeout(1000)
    sender.acknowledge(0, 1500)
    sender.timeout(2500)
    assert not sender.failed


def test_rnr_nak_waits_without_costing_a_retry() -> None:
    sender = requester(retry_count=0)
    send(sender, 3)
    sender.rnr_nak(1, 100)
    assert (sender.una, sender.next, sender.rnr_until_ps) == (1, 1, 100 + RNR_TIMER)
    assert not sender.can_send
    sender.rnr_over()
    assert sender.can_send


def test_rnr_retry_seven_is_without_end_and_less_is_counted() -> None:
    patient, impatient = requester(rnr_retry=7), requester(rnr_retry=1)
    for sender in (patient, impatient):
        for now in range(20):
            sender.rnr_nak(0, now)
            sender.rnr_over()
    assert not patient.failed
    assert impatient.failed


def test_naks_during_a_wait_for_the_receiver_cost_nothing() -> None:
    sender = requester(retry_count=0, rnr_retry=1)
    send(sender, 3)
    sender.rnr_nak(1, 100)
    sender.rnr_nak(1, 150)
    sender.nak(1, 160)
    assert not sender.failed
    assert (sender.una, sender.next, sender.rnr_until_ps) == (1, 1, 100 + RNR_TIMER)


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 5))
def test_every_packet_is_accepted_once_and_in_order_over_a_lossy_path(
    losses: list[bool], ack_every: int
) -> None:
    sender, responder = requester(end=40, retry_count=300), Responder()
    accepted: list[int] = []
    fates = iter(losses)
    now = 0
    while responder.epsn < 40:
        now += 1
        if not sender.can_send:
            sender.timeout(now)
            continue
        psn = sender.next
        sender.sent(now)
        if next(fates, False):
            continue
        ack_req = psn == 39 or (psn + 1) % ack_every == 0
        is_accepted, response = responder.receive(psn, ack_req, psn % 4 == 0, True)
        accepted += [psn] * is_accepted
        if response is None or next(fates, False):
            continue
        if response.answer is Answer.ACK:
            sender.acknowledge(response.psn, now)
        else:
            sender.nak(response.psn, now)
    assert accepted == list(range(40))
