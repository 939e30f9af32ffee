# SPDX-License-Identifier: Apache-2.0
"""When a logical process makes checkpoints, and how: copied between two steps, written beside them.

Entries of the bus are kept until a checkpoint has made them unnecessary. So a process makes one when enough
time has passed, or when it has heard so much since the last that the streams would grow; if that is not
written yet, it waits. Streams are therefore bounded by what a reader hears between two checkpoints.
"""

from __future__ import annotations

from threading import Thread
from time import monotonic, perf_counter, thread_time
from typing import Protocol

from fabrictwin.runtime.bus.redis_bus import RedisBus
from fabrictwin.runtime.checkpoint import Checkpoint, CheckpointAge, CheckpointStore, Snapshot
from fabrictwin.telemetry import Health

MOST_HEARD_BYTES = 32 << 20
"""What a process hears between two checkpoints at most, and so what stays in its incoming streams."""
WORTH = 50
"""A checkpoint is made no sooner than this many times what the last one has cost: at most 2 % of the time."""


class Kept(Protocol):
    """What checkpoints are made of.

    Attributes:
        name: The logical process.
    """

    name: str

    @property
    def reached_ps(self) -> int:
        """Fabric time that it has reached."""
        ...

    def save(self) -> Snapshot:
        """All that it needs to go on from here."""
        ...


class CheckpointKeeper:
    """Makes the checkpoints of one process. It belongs to the thread that steps it.

    Args:
        store: Where they go.
        process: The process.
        bus: Its end of the bus, which keeps what no checkpoint has made unnecessary.
        health: What its metrics say of it.
        every_s: Wall time between two checkpoints.
    """

    def __init__(
        self, store: CheckpointStore, process: Kept, bus: RedisBus, health: Health, every_s: float
    ) -> None:
        self._store = store
        self._process = process
        self._bus = bus
        self._health = health
        self._every_s = every_s
        self._due_s = monotonic() + every_s
        self._most_heard = MOST_HEARD_BYTES
        self._writing: Thread | None = None
        self._outcome: tuple[Checkpoint, CheckpointAge] | Exception | None = None
        self._cost_s = 0.0

    def is_due(self, heard_bytes: int) -> bool:
        """Whether :meth:`keep` is to be called between two steps.

        Args:
            heard_bytes: What the process has heard since it was started.
        """
        return self._outcome is not None or heard_bytes >= self._most_heard or monotonic() >= self._due_s

    def keep(self, granted_ps: int, heard_bytes: int) -> None:
        """Makes a checkpoint if it is time, unless something that was said is not in its stream yet.

        Raises:
            BusError: The last one could not be written.
        """
        has_heard_most = heard_bytes >= self._most_heard
        if has_heard_most or self._outcome is not None:
            self.finish()
        is_due = has_heard_most or monotonic() >= self._due_s
        if not is_due or self._writing is not None or not self._bus.is_confirmed:
            return
        began_s = perf_counter()
        checkpoint = Checkpoint(
            self._process.reached_ps, granted_ps, dict(self._bus.cursors), self._process.save()
        )
        self._cost_s = perf_counter() - began_s
        self._most_heard = heard_bytes + MOST_HEARD_BYTES
        self._due_s = monotonic() + self._every_s
        self._writing = Thread(target=self._write, args=(checkpoint,), name="checkpoint", daemon=True)
        self._writing.start()

    def finish(self) -> None:
        """Waits until the last checkpoint is written; what it has made unnecessary may go.

        Raises:
            BusError: It could not be written.
        """
        if self._writing is not None:
            self._writing.join()
            self._writing = None
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            checkpoint, age = outcome
            self._bus.keep_from(checkpoint.cursors)
            self._health.checkpoint(age.at_s, age.reached_ps)

    def close(self) -> None:
        """Waits until nothing is written any more; the process will not be stepped again."""
        if self._writing is not None:
            self._writing.join()

    def _write(self, checkpoint: Checkpoint) -> None:
        began_s = thread_time()
        outcome: tuple[Checkpoint, CheckpointAge] | Exception
        try:
            outcome = (checkpoint, self._store.save(self._process.name, checkpoint))
        except Exception as error:  # whatever it is, the stepping thread has to say it
            outcome = error
        self._cost_s += thread_time() - began_s
        self._due_s = max(self._due_s, monotonic() + WORTH * self._cost_s)
        self._outcome = outcome
