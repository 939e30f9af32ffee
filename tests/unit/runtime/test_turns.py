# SPDX-License-Identifier: Apache-2.0
"""Who waits for whose answer."""

from __future__ import annotations

from fabrictwin.runtime.turns import Turns, share_turns


def _begun(**ahead_ps: tuple[int, int]) -> Turns:
    turns = share_turns(ahead_ps)
    turns.begin({})
    return turns


def test_turns_with_unequal_promises_make_the_one_that_hears_farther_wait() -> None:
    switch, hca = _begun(hca0=(50, 280)), _begun(switch0=(280, 50))
    assert switch.say("hca0") == 0
    hca.hear("switch0", 1, 0)
    assert (switch.waiting, hca.waiting) == ({"hca0"}, set())
    assert hca.owed == {"switch0"}
    switch.hear("hca0", 1, hca.say("switch0"))
    assert not switch.waiting
    assert not hca.owed


def test_turns_with_a_window_that_crossed_go_on_waiting() -> None:
    switch, hca = _begun(hca0=(50, 280)), _begun(switch0=(280, 50))
    crossing = hca.say("switch0")
    switch.say("hca0")
    switch.hear("hca0", 1, crossing)
    assert switch.waiting == {"hca0"}


def test_turns_with_equal_promises_make_nobody_wait() -> None:
    turns = _begun(switch1=(280, 280))
    turns.say("switch1")
    turns.hear("switch1", 1, 0)
    assert not turns.waiting
    assert not turns.owed


def test_turns_that_begin_again_wait_for_what_is_not_answered() -> None:
    switch = share_turns({"hca0": (50, 280)})
    switch.hear("hca0", 4, 7)
    for said, waiting in ((7, set()), (8, {"hca0"})):
        again = share_turns({"hca0": (50, 280)})
        again.load(switch.save())
        again.begin({"hca0": said})
        assert again.waiting == waiting
    again.hear("hca0", 5, 8)
    assert not again.waiting


def test_turns_that_begin_again_answer_once_more() -> None:
    hca = share_turns({"switch0": (280, 50)})
    assert not hca.answers
    hca.hear("switch0", 4, 7)
    hca.begin({"switch0": 7})
    assert hca.owed == hca.answers == {"switch0"}
