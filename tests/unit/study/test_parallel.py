# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
import operator
import os

import pytest

from fabrictwin.study.parallel import RunKilledError, Task, run_all


def test_run_all_gives_every_result_with_its_key() -> None:
    tasks: dict[str, Task[int]] = {"a": (operator.add, (1, 2)), "b": (operator.mul, (3, 4))}
    assert dict(run_all(tasks, 2)) == {"a": 3, "b": 12}
    assert list(run_all({}, 2)) == []


def test_run_all_says_that_a_run_was_killed() -> None:
    tasks: dict[str, Task[None]] = {"a": (os._exit, (9,))}
    with pytest.raises(RunKilledError, match="memory"):
        list(run_all(tasks, 1))


def test_run_all_raises_what_a_task_raised_and_leaves_no_process() -> None:
    tasks: dict[int, Task[float]] = dict.fromkeys(range(3), (operator.truediv, (1, 0)))
    with pytest.raises(ZeroDivisionError):
        list(run_all(tasks, 1))
    for child in multiprocessing.active_children():
        child.join(60)
    assert multiprocessing.active_children() == []
