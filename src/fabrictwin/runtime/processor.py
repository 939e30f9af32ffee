# SPDX-License-Identifier: Apache-2.0
"""Which processor the stepping threads of a twin run on.

Processes that take turns gain nothing from a second processor, and lose much: waking a thread on another one
takes many times as long as on the same, above all in a virtual machine (docs/decisions/0016).
"""

from __future__ import annotations

import os


def choose_cpu() -> int | None:
    """A processor that may be used, another one for other processes; None: the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    return usable[os.getpid() % len(usable)]


def stay_on(cpu: int | None, pid: int = 0) -> None:
    """Keeps a thread on a processor.

    Args:
        cpu: The processor; None: wherever the system likes.
        pid: The thread, or a process of one; 0: the one that calls.

    Raises:
        OSError: There is no such processor for it.
    """
    if cpu is not None:
        os.sched_setaffinity(pid, {cpu})
