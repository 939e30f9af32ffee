# SPDX-License-Identifier: Apache-2.0
"""Independent runs on all cores of the machine: processes, for the engine has one core each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from fabrictwin.errors import FabricTwinError

KeyT = TypeVar("KeyT")
ResultT = TypeVar("ResultT")
Task = tuple[Callable[..., ResultT], tuple[Any, ...]]
"""A function of a module, and its arguments; both travel to another process."""


class RunKilledError(FabricTwinError):
    """The process of a run has ended without a result."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_all(tasks: Mapping[KeyT, Task[ResultT]], processes: int) -> Iterator[tuple[KeyT, ResultT]]:
    """Runs tasks, begun in their order, and yields each when it is done, in any order.

    The processes end with the generator, and with this process.

    Args:
        tasks: What to run, by key.
        processes: Most that run at a time.

    Raises:
        RunKilledError: One of them was killed.
    """
    count = min(processes, len(tasks))
    if count == 0:
        return
    # A forked process would inherit locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(count, context, _stay_with_parent) as pool:
        key_of = {pool.submit(function, *values): key for key, (function, values) in tasks.items()}
        try:
            for future in as_completed(key_of):
                yield key_of[future], future.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
            if isinstance(error, BrokenProcessPool):
                raise RunKilledError(
                    "a run was killed; is there memory enough for so many at a time?"
                ) from None
            raise


def _stay_with_parent() -> None:
    """In a worker: leaves the keyboard to the parent, and ends when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
