# SPDX-License-Identifier: Apache-2.0
"""The credit oracle against the statements of the standard (IBTA 7.9; models.md section 1.4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference.credits import CreditReceiver, CreditSender, blocks_of


def test_blocks_of_a_packet_are_rounded_up() -> None:
    assert [blocks_of(size, 64) for size in (1, 64, 65, 4122)] == [1, 1, 2, 65]


def test_sender_with_exactly_enough_credits_may_send() -> None:
    sender = CreditSender(fccl=10)
    assert sender.may_send(10)
    assert not sender.may_send(11)


def test_sender_near_the_wrap_of_the_field_counts_modulo_4096() -> None:
    sender = CreditSender(fccl=5, fctbs=4090)
    assert sender.may_send(11)
    assert not sender.may_send(12)
    sender.send(11)
    assert sender.fctbs == 5
    assert not sender.may_send(1)


def test_receiver_with_the_largest_buffer_advertises_2048_blocks_and_not_more() -> None:
    sender = CreditSender(fccl=CreditReceiver(cap=2048).fccl)
    assert sender.may_send(2048)
    assert not sender.may_send(2049)


def test_sender_after_a_restart_waits_for_the_first_flow_control_packet() -> None:
    sender = CreditSender(fccl=100, fctbs=60)
    sender.restart()
    assert not sender.may_send(1)


def test_fccl_is_unchanged_by_a_packet_until_its_blocks_are_free() -> None:
    receiver = CreditReceiver(cap=40)
    receiver.receive(17)
    assert receiver.fccl == 40
    receiver.free(17)
    assert receiver.fccl == 57


def test_lost_blocks_come_back_with_the_fctbs_of_the_next_flow_control_packet() -> None:
    sender, receiver = CreditSender(fccl=40), CreditReceiver(cap=40)
    for _ in range(2):
        sender.send(20)
    receiver.receive(20)
    receiver.free(20)
    sender.hear(receiver.fccl)
    assert sender.may_send(20)
    assert not sender.may_send(21), "the lost packet's blocks are still counted as on their way"
    assert receiver.resynchronise(sender.fctbs) == 20
    sender.hear(receiver.fccl)
    assert sender.may_send(40)


@given(st.lists(st.tuples(st.integers(1, 65), st.booleans()), max_size=300), st.integers(65, 2048))
def test_credits_are_conserved(packets: list[tuple[int, bool]], cap: int) -> None:
    """Whatever is sent, lost and freed, the receiver is never offered more than its buffer holds."""
    sender, receiver = CreditSender(fccl=cap), CreditReceiver(cap=cap)
    for blocks, is_lost in packets:
        if not sender.may_send(blocks):
            while receiver.held:
                receiver.free(1)
            receiver.resynchronise(sender.fctbs)
            sender.hear(receiver.fccl)
        assert sender.may_send(blocks)
        sender.send(blocks)
        if not is_lost:
            receiver.receive(blocks)
        assert receiver.held <= cap
        assert not sender.may_send(cap + 1)
