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
CROWDED_NS = 500_000
"""Somebody else has had the processor if there is so much time between two looks."""
CROWDED_COST, MOST_CROWDED = 64, 256
"""Each time is remembered for so many answers; four times at once are a crowd."""
RESTS = 1024
"""Answers that are waited for asleep after that."""


class Seat(NamedTuple):
    """Where a stepping thread runs.

    Attributes:
        cpu: Its processor; None: wherever the system likes.
        shared_cpu: Processor to go to while others want that one; None: it stays.
        look_us: Microseconds that it looks for an answer before it sleeps.
    """

    cpu: int | None
    shared_cpu: int | None = None
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
    shared_cpu = cpus[len(shards) - 1]
    return {name: Seat(cpu, shared_cpu, LOOK_US) for name, cpu in zip(shards, cpus, strict=False)}


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


class Lookout:
    """Whether a thread looks for an answer before it sleeps, and where it does. It belongs to that thread.

    To be woken on another processor takes longer than most answers do. But where others want the processor,
    each look lets them have it for long; then the thread sleeps, and on the shared processor, for a while.

    Args:
        seat: Where it runs.

    Attributes:
        look_ns: How long it looks.
    """

    def __init__(self, seat: Seat = ANYWHERE) -> None:
        self.look_ns = seat.look_us * 1000
        self._seat = seat
        self._is_begun = False
        self._crowded = 0
        self._rests = 0

    def begin(self) -> None:
        """Begins, in the thread."""
        stay_on(self._seat.cpu)
        self._is_begun = True

    def may_look(self) -> bool:
        """Whether to look for the next answer."""
        if not self._is_begun or self.look_ns == 0:
            return False
        if self._rests == 0:
            return True
        self._rests -= 1
        if self._rests == 0:
            stay_on(self._seat.cpu)
        return False

    def note(self, *, crowded: bool) -> None:
        """Notes how a look has ended: with an answer, or with somebody else on the processor."""
        self._crowded = self._crowded + CROWDED_COST if crowded else max(0, self._crowded - 1)
        if self._crowded >= MOST_CROWDED:
            self._crowded = 0
            self._rests = RESTS
            stay_on(self._seat.shared_cpu)
