# SPDX-License-Identifier: Apache-2.0
"""Runs rank programs over a network without delays: messages arrive at once, time stands still."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fabrictwin.model.program import FOREVER, Job, Op


@dataclass
class Trace:
    """What a job did.

    Attributes:
        posted_bytes: Bytes posted, by flow.
        messages: Messages posted, by flow.
        unread: Messages that nobody has waited for, by flow.
        marks: Iterations completed, by rank.
        computed_ps: Time computed, by rank.
        finished: Ranks that reached END.
    """

    posted_bytes: Counter[int] = field(default_factory=Counter)
    messages: Counter[int] = field(default_factory=Counter)
    unread: Counter[int] = field(default_factory=Counter)
    marks: Counter[int] = field(default_factory=Counter)
    computed_ps: Counter[int] = field(default_factory=Counter)
    finished: set[int] = field(default_factory=set)


def run_job(job: Job, most_steps: int = 1_000_000) -> Trace:
    """Runs every rank until nothing moves; a program that waits for ever is not in ``finished``."""
    trace = Trace()
    counters = [0] * len(job.programs)
    loops: list[dict[int, int]] = [{} for _ in job.programs]
    moved = True
    while moved:
        moved = False
        for rank in range(len(job.programs)):
            while rank not in trace.finished and _step(job, rank, counters, loops[rank], trace):
                moved = True
                most_steps -= 1
                assert most_steps > 0, "the job never ends"
    return trace


def _step(job: Job, rank: int, counters: list[int], loops: dict[int, int], trace: Trace) -> bool:
    """One instruction of one rank; False where it has to wait."""
    step = job.programs[rank].instructions[counters[rank]]
    counters[rank] += 1
    match step.op:
        case Op.END:
            trace.finished.add(rank)
        case Op.POST:
            assert job.flows[step.a].src.node == job.programs[rank].node
            trace.posted_bytes[step.a] += step.b
            trace.messages[step.a] += 1
            trace.unread[step.a] += 1
        case Op.WAIT_RECEIVED:
            assert job.flows[step.a].dst.node == job.programs[rank].node
            if not trace.unread[step.a]:
                counters[rank] -= 1
                return False
            trace.unread[step.a] -= 1
        case Op.COMPUTE:
            trace.computed_ps[rank] += step.a
        case Op.MARK:
            trace.marks[rank] += 1
        case Op.LOOP:
            assert step.b != FOREVER, "this interpreter only runs what ends"
            done = loops.get(step.c, 0) + 1
            loops[step.c] = done % step.b
            if done < step.b:
                counters[rank] = step.a
    return True
