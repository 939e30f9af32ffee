# SPDX-License-Identifier: Apache-2.0
"""Which processor the stepping threads of a twin run on.

Processes that take turns gain nothing from a second processor, and lose much: waking a thread on another one
takes many times as long as on the same, above all in a virtual machine (docs/decisions/0016). Two shards that
do not take turns have one each, and look for an answer for a while before they sleep.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

LOOK_US = 400
"""How long a shard with a processor of its own looks for an answer: a few steps of the other."""


class Seat(NamedTuple):
    """Where a stepping thread runs.

    Attributes:
        cpu: Its processor; None: wherever the system likes.
        look_us: Microseconds that it looks for an answer before it sleeps.
    """

    cpu: int | None
    look_us: int = 0


ANYWHERE = Seat(None)


def usable_cpus() -> list[int]:
    """Processors that may be used, another one first for other processes; empty: the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    cpus = sorted(os.sched_getaffinity(0))
    first = os.getpid() % len(cpus)
    return cpus[first:] + cpus[:first]


def assign_seats(cpus: Sequence[int], shards: Sequence[str], *, takes_turns: bool) -> dict[str, Seat]:
    """Where each shard of a twin runs; the last one's processor is that of everybody else.

    Args:
        cpus: Processors that may be used.
        shards: Names of the shards of the fabric.
        takes_turns: Whether they work one at a time.

    Returns:
        Its seat, by the shard's name.
    """
    if not cpus:
        return dict.fromkeys(shards, ANYWHERE)
    if takes_turns:
        return dict.fromkeys(shards, Seat(cpus[0]))
    if len(shards) > 2 or len(cpus) < 2:
        return dict.fromkeys(shards, ANYWHERE)
    return {name: Seat(cpu, LOOK_US) for name, cpu in zip(shards, cpus, strict=False)}


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
