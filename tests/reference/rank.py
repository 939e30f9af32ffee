# SPDX-License-Identifier: Apache-2.0
"""Rank programs, interpreted (fabrictwin.model.program)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabrictwin.engine.rng import Stream
from fabrictwin.model.program import FOREVER, LOOP_DEPTH, Instruction, Op, Program
from reference.events import Kind
from reference.hca import Hca
from reference.queue_pair import QueuePair
from reference.world import World


class Rank:
    """One rank.

    Args:
        world: Shared state.
        index: Number of the rank, over all jobs.
        program: What it does.
        hca: Where it runs.
        flows: Queue pairs of each flow of its job.
    """

    def __init__(
        self, world: World, index: int, program: Program, hca: Hca, flows: Sequence[Sequence[QueuePair]]
    ) -> None:
        self.world = world
        self.index = index
        self.program = program
        self.hca = hca
        self.flows = flows
        self.at = 0
        self.loops = [0] * LOOP_DEPTH
        self.consumed = [0] * len(flows)
        self.paced_ps = program.start_ps
        self.draws = 0
        self.waits_for: Instruction | None = None
        self.marks_ps: list[int] = []
        self.ended = False
        self._resume_at(program.start_ps)

    def _resume_at(self, time_ps: int) -> None:
        self.world.calendar.at(time_ps, self.hca.node, Kind.RANK, 0, self.index, self.resume)

    def resume(self) -> None:
        """Executes instructions until one has to wait."""
        while not self.ended and self._step(self.program.instructions[self.at]):
            pass

    def _step(self, instruction: Instruction) -> bool:
        steps: dict[Op, Callable[[Instruction], bool]] = {
            Op.END: self._end,
            Op.POST: self._post,
            Op.POST_RANDOM: self._post_random,
            Op.WAIT_SENT: self._wait_sent,
            Op.WAIT_RECEIVED: self._wait_received,
            Op.COMPUTE: self._compute,
            Op.PACE: self._pace,
            Op.LOOP: self._loop,
            Op.MARK: self._mark,
        }
        return steps[instruction.op](instruction)

    def _end(self, instruction: Instruction) -> bool:
        self.ended = True
        return False

    def _post(self, instruction: Instruction) -> bool:
        goes_on = self._post_on(instruction.a, instruction.b)
        if any(pair.requester.failed for pair in self.flows[instruction.a]):
            return self._end(instruction)
        return goes_on

    def _post_on(self, flow: int, size_bytes: int) -> bool:
        if self.program.stop_ps is not None and self.world.now_ps >= self.program.stop_ps:
            return self._end(self.program.instructions[self.at])
        self.at += 1
        queue_pairs = self.flows[flow]
        share, rest = divmod(size_bytes, len(queue_pairs))
        for number, queue_pair in enumerate(queue_pairs):
            self.hca.post(queue_pair, share + (number < rest))
        return True

    def _post_random(self, instruction: Instruction) -> bool:
        choice = self.world.draw_below(Stream.DESTINATION, self.index, self.draws, instruction.c)
        self.draws += 1
        return self._post_on(instruction.a + choice, instruction.b)

    def _wait_sent(self, instruction: Instruction) -> bool:
        if not all(pair.has_sent_all for pair in self.flows[instruction.a]):
            self.waits_for = instruction
            return False
        return self._go_on()

    def _wait_received(self, instruction: Instruction) -> bool:
        done = min(pair.completed for pair in self.flows[instruction.a])
        if done <= self.consumed[instruction.a]:
            self.waits_for = instruction
            return False
        self.consumed[instruction.a] += 1
        return self._go_on()

    def _go_on(self) -> bool:
        self.waits_for = None
        self.at += 1
        return True

    def _compute(self, instruction: Instruction) -> bool:
        self.at += 1
        self._resume_at(self.world.now_ps + instruction.a)
        return False

    def _pace(self, instruction: Instruction) -> bool:
        interval_ps = instruction.a
        if instruction.b:
            interval_ps = self.world.draw_exponential(Stream.ARRIVAL, self.index, self.draws, instruction.a)
            self.draws += 1
        self.paced_ps += interval_ps
        self.at += 1
        if self.paced_ps <= self.world.now_ps:
            return True
        self._resume_at(self.paced_ps)
        return False

    def _loop(self, instruction: Instruction) -> bool:
        self.loops[instruction.c] += 1
        if instruction.b == FOREVER or self.loops[instruction.c] < instruction.b:
            self.at = instruction.a
        else:
            self.loops[instruction.c] = 0
            self.at += 1
        return True

    def _mark(self, instruction: Instruction) -> bool:
        self.marks_ps.append(self.world.now_ps)
        self.at += 1
        return True

    # What it waits for

    def _is_waiting(self, op: Op, queue_pair: QueuePair) -> bool:
        waits = self.waits_for
        return waits is not None and waits.op is op and queue_pair in self.flows[waits.a]

    def sent(self, queue_pair: QueuePair) -> None:
        """A packet of a queue pair has been chosen, or the queue pair has failed."""
        waits = self.waits_for
        if waits is None or not self._is_waiting(Op.WAIT_SENT, queue_pair):
            return
        if all(pair.has_sent_all for pair in self.flows[waits.a]):
            self.waits_for = None
            self._resume_at(self.world.now_ps)

    def received(self, queue_pair: QueuePair) -> None:
        """A message of a queue pair is in memory."""
        if self._is_waiting(Op.WAIT_RECEIVED, queue_pair):
            self.waits_for = None
            self._resume_at(self.world.now_ps)
