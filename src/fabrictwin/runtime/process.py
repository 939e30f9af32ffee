# SPDX-License-Identifier: Apache-2.0
"""Stepping a logical process: hear what others have said, go as far as they promise, say what follows.

One thread does it, without an event loop. It holds the process only while it works on it; between two steps,
and while it waits for the bus, others may read the arrays.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, RLock, Thread
from time import monotonic, perf_counter_ns, thread_time_ns, time
from typing import Any, Protocol

import numpy as np

from fabrictwin.runtime.blueprint import DIRECTOR
from fabrictwin.runtime.bus import Bus, Entry
from fabrictwin.runtime.checkpoint import Snapshot
from fabrictwin.runtime.checkpoint_keeper import CheckpointKeeper
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.processor import Lookout
from fabrictwin.runtime.rest import Rest
from fabrictwin.telemetry import Channel, Health

PATIENCE_S = 0.1
"""How long a wait for the bus lasts before the thread sees whether it is to stop."""
REPORT_EVERY_S = 0.05
"""While fabric time goes on, the director hears this often how far a process is."""

Records = np.ndarray[Any, np.dtype[Any]]


class LogicalProcess(Protocol):
    """A part of a twin that has a fabric time of its own.

    Attributes:
        name: Its name on the bus.
        rest: What it has said and heard but promises.
    """

    name: str
    rest: Rest

    @property
    def reached_ps(self) -> int:
        """Fabric time that it has reached: everything before it is done."""
        ...

    @property
    def next_ps(self) -> int:
        """Fabric time of the next thing that it does by itself."""
        ...

    def advance(self, to_ps: int) -> int:
        """Goes on to a fabric time, or as far as others promise; returns the fabric time reached."""
        ...

    def speak(self, granted_ps: int) -> Mapping[str, WindowData]:
        """What it has to say that is new, by who hears it; empties its outbox.

        Args:
            granted_ps: How far the director lets everybody go.
        """
        ...

    def hear(self, sender: str, payload: bytes) -> None:
        """Takes in what another process has said: a serialised Window."""
        ...

    def waits_for(self, to_ps: int) -> Collection[str]:
        """The processes that keep it from a fabric time, or that have not said how they are at it."""
        ...

    def apply(self, command: Mapping[str, Any]) -> None:
        """Takes a command of the director."""
        ...

    def begin(self, said: Mapping[str, int]) -> None:
        """Begins to go on with others, where it is: called once, before it is stepped.

        Args:
            said: Number of the last window that each receiver has been sent so far.
        """
        ...

    def skip_to(self, quiet_ps: int) -> None:
        """Nobody does anything before a fabric time, and nothing is under way."""
        ...

    def report(self) -> Records:
        """How far it is: one record of layout ``report``."""
        ...

    def take_events(self) -> Sequence[bytes]:
        """Lines for the event log since the last call."""
        ...

    def save(self) -> Snapshot:
        """All that it needs to go on from here, between two steps."""
        ...

    def load(self, snapshot: Snapshot) -> None:
        """Goes on where it was saved; it must be new."""
        ...


@dataclass(frozen=True, slots=True)
class Resumption:
    """Where a process goes on.

    Attributes:
        granted_ps: How far the director lets it go already.
        sequences: Number of the last window that it has said, by who heard it.
        is_over: Whether the director has ended the twin.
    """

    granted_ps: int = 0
    sequences: Mapping[str, int] = field(default_factory=dict)
    is_over: bool = False


class Stepper:
    """Steps a logical process until it is told to stop, or something goes wrong.

    Args:
        process: The process.
        bus: Its end of the bus.
        health: What its metrics say of it.
        lookout: Where the thread runs; None: wherever the system likes.
        keeper: Makes its checkpoints; None: there are none.
        resumption: Where it goes on.

    Attributes:
        process: The process.
        granted_ps: How far the director lets it go.
        error: Why it has ended by itself; None if it has not.
        is_over: Whether the director has ended the twin.
    """

    def __init__(
        self,
        process: LogicalProcess,
        bus: Bus,
        health: Health,
        lookout: Lookout | None = None,
        keeper: CheckpointKeeper | None = None,
        resumption: Resumption | None = None,
    ) -> None:
        resumption = resumption or Resumption()
        self.process = process
        self._lookout = lookout or Lookout()
        self.granted_ps = resumption.granted_ps
        self.error: Exception | None = None
        self.is_over = resumption.is_over
        self._health = health
        self._bus = bus
        self._lock = RLock()
        self._stop = Event()
        self._sequences = dict(resumption.sequences)
        self._keeper = keeper
        self._heard_bytes = 0
        self._reported_ps = -1
        self._report_due_s = 0.0
        self._thread = Thread(target=self._run, name="step", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the step at hand; waits for it."""
        self._stop.set()
        self._thread.join()
        if self._keeper is not None:
            self._keeper.close()

    @property
    def is_alive(self) -> bool:
        """Whether it still steps."""
        return self._thread.is_alive()

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keeps the process between two steps; gives the fabric time that it has reached."""
        with self._lock:
            yield self.process.reached_ps

    def _run(self) -> None:
        try:
            self._lookout.begin()
            while not self._stop.is_set():
                self._step()
        except Exception as error:  # whatever it is, the service has to say it and to end
            self.error = error

    def _step(self) -> None:
        """Advances, says what follows, and hears; one round trip of the bus."""
        process, granted_ps = self.process, self.granted_ps
        with self._lock:
            began_ns = perf_counter_ns()
            reached_ps = process.advance(granted_ps)
            advanced_ns = perf_counter_ns()
            out = self._speak()
            waits_for = process.waits_for(granted_ps)
            is_there = reached_ps == granted_ps
            stands = is_there and not waits_for
            if self._is_to_report(reached_ps, stands=stands):
                # The director looks around where all stand, which is only so where all said has been heard.
                told_ps = reached_ps - 1 if is_there and not stands else reached_ps
                out[DIRECTOR] = [self._entry(DIRECTOR, self._report_window(reached_ps, told_ps))]
        spoken_ns, busy_ns = perf_counter_ns(), thread_time_ns()
        # Those that it waits for may have nothing to say before all have answered the director's question.
        speakers = (*waits_for, DIRECTOR) if is_there else waits_for
        heard = self._bus.exchange(out, speakers or (DIRECTOR,), PATIENCE_S)
        exchanged_ns, busy_ns = perf_counter_ns(), thread_time_ns() - busy_ns
        with self._lock:
            for sender, entries in heard.items():
                for entry in entries:
                    self._hear(sender, entry)
        talked_ns = spoken_ns - advanced_ns + perf_counter_ns() - exchanged_ns
        health, phases = self._health, self._health.phases
        health.reached_ps = reached_ps
        health.stepped_at_s = time()
        health.steps.add(advanced_ns - began_ns + talked_ns)
        phases.simulate_ns += advanced_ns - began_ns
        phases.talk_ns += talked_ns
        phases.bus_ns += busy_ns
        waited_ns = max(0, exchanged_ns - spoken_ns - busy_ns)
        phases.wait_ns += waited_ns
        for name in waits_for:
            health.incoming[name].waited_ns += waited_ns
        if self._keeper is not None and self._keeper.is_due(self._heard_bytes):
            with self._lock:
                self._keeper.keep(self.granted_ps, self._heard_bytes)

    def _speak(self) -> dict[str, list[Entry]]:
        said = self.process.speak(self.granted_ps)
        return {receiver: [self._entry(receiver, window)] for receiver, window in said.items()}

    def _is_to_report(self, reached_ps: int, *, stands: bool) -> bool:
        """Whether the director is to hear how far the process is."""
        if stands:
            return reached_ps > self._reported_ps or self.process.rest.is_asked
        if reached_ps == 0:
            return False
        if self.process.rest.is_asked or self.process.rest.has_come(reached_ps, self.process):
            return True
        return monotonic() >= self._report_due_s

    def _report_window(self, reached_ps: int, told_ps: int) -> WindowData:
        self._reported_ps = told_ps
        self._report_due_s = monotonic() + REPORT_EVERY_S
        report = self.process.report()
        report["reached_ps"] = told_ps
        self.process.rest.note(report)
        events = self.process.take_events()
        return WindowData(reached_ps, reached_ps, reached_ps, {"report": report}, events)

    def _entry(self, receiver: str, window: WindowData) -> Entry:
        sequence = self._sequences.get(receiver, 0) + 1
        self._sequences[receiver] = sequence
        payload = encode(window, sequence)
        entry = Entry(window.packets_promise_ps, payload)
        count_entry(self._health.outgoing[receiver], entry)
        return entry

    def _hear(self, sender: str, entry: Entry) -> None:
        self._heard_bytes += len(entry.payload)
        count_entry(self._health.incoming[sender], entry)
        if sender != DIRECTOR:
            self.process.hear(sender, entry.payload)
            return
        window = decode(entry.payload)
        self.is_over = obey(self.process, window.commands) or self.is_over
        self.granted_ps = window.packets_promise_ps


def obey(process: LogicalProcess, commands: Sequence[bytes]) -> bool:
    """Does what the director says; returns whether the twin is over."""
    is_over = False
    for line in commands:
        command = json.loads(line)
        if command["do"] == "clock.skip":
            process.skip_to(command["to_ps"])
        elif command["do"] == "clock.ask":
            process.rest.asked = command["number"]
        elif command["do"] == "twin.end":
            is_over = True
        else:
            process.apply(command)
    return is_over


def count_entry(channel: Channel, entry: Entry) -> None:
    """Counts what was said or heard, for the metrics of a channel."""
    channel.entries += 1
    channel.size_bytes += len(entry.payload)
    channel.promise_ps = entry.promise_ps
