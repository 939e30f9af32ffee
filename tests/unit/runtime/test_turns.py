# SPDX-License-Identifier: Apache-2.0
"""Who waits for whose answer."""

from __future__ import annotations

from fabrictwin.runtime.turns import share_turns


def test_turns_with_unequal_promises_make_the_one_that_hears_farther_wait() -> None:
    switch, hca = share_turns({"hca0": (50, 280)}), share_turns({"switch0": (280, 50)})
    assert switch.say("hca0") == 0
    hca.hear("switch0", 1, 0)
    assert (switch.waiting, hca.waiting) == ({"hca0"}, set())
    assert hca.owed == {"switch0"}
    switch.hear("hca0", 1, hca.say("switch0"))
    assert not switch.waiting
    assert not hca.owed


def test_turns_with_a_window_that_crossed_go_on_waiting() -> None:
    switch, hca = share_turns({"hca0": (50, 280)}), share_turns({"switch0": (280, 50)})
    crossing = hca.say("switch0")
    switch.say("hca0")
    switch.hear("hca0", 1, crossing)
    assert switch.waiting == {"hca0"}


def test_turns_with_equal_promises_make_nobody_wait() -> None:
    turns = share_turns({"switch1": (280, 280)})
    turns.say("switch1")
    turns.hear("switch1", 1, 0)
    assert not turns.waiting
    assert not turns.owed
