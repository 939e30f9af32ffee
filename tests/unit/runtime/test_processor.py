# SPDX-License-Identifier: Apache-2.0
"""On which processor a stepping thread runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread

import pytest

from fabrictwin.errors import InputError
from fabrictwin.runtime.processor import (
    CROWDED_COST,
    LOOK_US,
    MOST_CROWDED,
    RESTS,
    Lookout,
    Seat,
    assign_seats,
    stay_on,
    usable_cpus,
)
from fabrictwin.runtime.settings import read_settings

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no affinities")


def test_stay_on_keeps_only_the_thread_that_calls() -> None:
    found: list[set[int]] = []
    cpu = usable_cpus()[0]

    def step() -> None:
        stay_on(cpu)
        found.append(os.sched_getaffinity(0))

    before = os.sched_getaffinity(0)
    thread = Thread(target=step)
    thread.start()
    thread.join()
    assert found == [{cpu}]
    assert os.sched_getaffinity(0) == before


def test_cpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="processor"):
        read_settings("test", ["--cpu", "9999"], {})


def test_shards_that_take_turns_share_a_processor() -> None:
    assert assign_seats([3, 4], ["switch0", "hca0"], takes_turns=True) == {
        "switch0": Seat(3),
        "hca0": Seat(3),
    }


def test_two_shards_at_once_have_a_processor_each_and_look_before_they_sleep() -> None:
    seats = assign_seats([3, 4, 5], ["switch0", "hca0"], takes_turns=False)
    assert seats == {"switch0": Seat(3, 4, LOOK_US), "hca0": Seat(4, 4, LOOK_US)}


@pytest.mark.parametrize(
    ("cpus", "shards"), [([3], ["switch0", "hca0"]), ([3, 4], ["switch0", "hca0", "hca1"]), ([], ["hca0"])]
)
def test_shards_without_a_processor_each_run_anywhere(cpus: list[int], shards: list[str]) -> None:
    assert assign_seats(cpus, shards, takes_turns=False) == dict.fromkeys(shards, Seat(None))


def _in_a_thread(work: Callable[[], None]) -> None:
    """Runs it where nothing else is: a thread's processors are its own."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert errors == []


def test_thread_in_a_crowd_sleeps_on_the_shared_processor_and_comes_back() -> None:
    own_cpu, shared_cpu = usable_cpus()[0], usable_cpus()[-1]
    lookout = Lookout(Seat(own_cpu, shared_cpu, LOOK_US))

    def work() -> None:
        assert not lookout.may_look()
        lookout.begin()
        assert os.sched_getaffinity(0) == {own_cpu}
        for _ in range(MOST_CROWDED // CROWDED_COST):
            assert lookout.may_look()
            lookout.note(crowded=True)
        assert os.sched_getaffinity(0) == {shared_cpu}
        assert [lookout.may_look() for _ in range(RESTS)] == [False] * RESTS
        assert os.sched_getaffinity(0) == {own_cpu}
        assert lookout.may_look()

    _in_a_thread(work)


def test_thread_that_is_seldom_kept_waiting_goes_on_looking() -> None:
    lookout = Lookout(Seat(None, look_us=LOOK_US))

    def work() -> None:
        lookout.begin()
        for _ in range(20):
            lookout.note(crowded=True)
            for _ in range(CROWDED_COST):
                lookout.note(crowded=False)
        assert lookout.may_look()

    _in_a_thread(work)
