# SPDX-License-Identifier: Apache-2.0
"""On which processor a stepping thread runs."""

from __future__ import annotations

import os
from threading import Thread

import pytest

from fabrictwin.errors import InputError
from fabrictwin.runtime.processor import choose_cpu, stay_on
from fabrictwin.runtime.settings import read_settings

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no affinities")


def test_stay_on_keeps_only_the_thread_that_calls() -> None:
    found: list[set[int]] = []
    cpu = choose_cpu()

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
