# SPDX-License-Identifier: Apache-2.0
"""The in-process bus: order, bounds, waiting."""

from __future__ import annotations

from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrictwin.runtime.bus import Bus, Entry
from fabrictwin.runtime.bus.errors import ChannelGapError
from fabrictwin.runtime.bus.in_process import InProcessBus
from fabrictwin.runtime.convert import WindowData, encode

PAIR = [("a", "b"), ("b", "a")]


def entry(sequence: int, promise_ps: int) -> Entry:
    return Entry(promise_ps, encode(WindowData(promise_ps, promise_ps, 0), sequence))


def test_exchange_with_two_ends_hands_over_in_order() -> None:
    bus = InProcessBus(PAIR)
    a, b = bus.end("a"), bus.end("b")
    said = [entry(number, number * 500) for number in range(1, 6)]
    assert a.exchange({"b": said}, (), 0.0) == {}
    assert b.exchange({}, ["a"], 0.0) == {"a": said}
    assert b.exchange({}, (), 0.0) == {}
    assert b.cursors["a"].sequence == 5
    assert b.cursors["a"].entry_id == "2-1"


@pytest.mark.parametrize("wrong", [entry(3, 2000), entry(1, 2000), entry(2, 999), Entry(2000, b"")])
def test_exchange_with_an_entry_that_does_not_follow_stops(wrong: Entry) -> None:
    bus = InProcessBus(PAIR)
    bus.end("a").exchange({"b": [entry(1, 1000), wrong]}, (), 0.0)
    with pytest.raises(ChannelGapError):
        bus.end("b").exchange({}, (), 0.0)


def test_exchange_with_a_full_channel_keeps_what_has_no_room() -> None:
    bus = InProcessBus(PAIR, bound=2)
    a, b = bus.end("a"), bus.end("b")
    said = [entry(number, number * 1000) for number in range(1, 6)]
    assert a.exchange({"b": said}, (), 0.0) == {}
    heard = []
    for _ in range(3):
        heard.append(b.exchange({}, (), 0.0)["a"])
        a.exchange({}, (), 0.0)
    assert heard == [said[:2], said[2:4], said[4:]]


def test_exchange_with_both_channels_full_does_not_deadlock() -> None:
    bus = InProcessBus(PAIR, bound=1)
    heard: dict[str, list[Entry]] = {"a": [], "b": []}

    def talk(end: Bus, other: str) -> None:
        said = {other: [entry(number, number * 1000) for number in range(1, 21)]}
        while len(heard[end.name]) < 20:
            heard[end.name] += end.exchange(said, [other], 5.0).get(other, [])
            said = {}
        end.exchange({}, (), 5.0)

    threads = [Thread(target=talk, args=(bus.end(me), other)) for me, other in PAIR]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)
    assert [len(entries) for entries in heard.values()] == [20, 20]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 700)), max_size=30))
def test_exchange_in_any_rhythm_loses_and_repeats_nothing(rhythm: list[tuple[int, int]]) -> None:
    bus = InProcessBus(PAIR, bound=3)
    a, b = bus.end("a"), bus.end("b")
    said: list[Entry] = []
    heard: list[Entry] = []
    promise_ps = 0
    for count, step_ps in rhythm:
        fresh = []
        for _ in range(count):
            promise_ps += step_ps
            fresh.append(entry(len(said) + len(fresh) + 1, promise_ps))
        said += fresh
        a.exchange({"b": fresh}, (), 0.0)
        heard += b.exchange({}, (), 0.0).get("a", [])
    while len(heard) < len(said):
        a.exchange({}, (), 0.0)
        heard += b.exchange({}, (), 0.0)["a"]
    assert heard == said
