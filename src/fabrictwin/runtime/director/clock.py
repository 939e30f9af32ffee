# SPDX-License-Identifier: Apache-2.0
"""Fabric time: the director promises, and so everybody may go on; it pauses by not promising.

It promises up to the next fabric time at which every run of the scenario looks around (idle? deadlock?), but
never much further than is simulated in a fraction of a second, so that a pause or a command does not have to
wait. At a look-around all processes stand at the same fabric time and nothing is under way between them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Event, Thread
from time import monotonic
from typing import Any, Protocol

from fabrictwin.runtime.bus import Bus, Entry
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.director.judge import Ending
from fabrictwin.runtime.director.state import ENDED, Twin, TwinState
from fabrictwin.units import PS_PER_NS, PS_PER_S, PS_PER_US

AHEAD_S = 0.2
"""Wall time that promises reach ahead."""
LEAST_AHEAD_PS = 20 * PS_PER_US
PATIENCE_S = 0.02
SPEED_WINDOW_S = 1.0

Report = Any
"""A record of layout ``report``."""


class Judge(Protocol):
    """Which fabric times are looked around at, and what is seen there."""

    def next_look_ps(self, after_ps: int) -> int:
        """The first fabric time after another at which every run looks around."""
        ...

    def look(self, at_ps: int, reports: Mapping[str, Report]) -> Ending | None:
        """Whether the run ends here."""
        ...


class Clock:
    """The thread that promises.

    Args:
        twin: What the director knows.
        bus: The director's end.
        processes: Every logical process but the director.
        judge: Looks around.
    """

    def __init__(self, twin: Twin, bus: Bus, processes: Sequence[str], judge: Judge) -> None:
        self._twin = twin
        self._bus = bus
        self._processes = tuple(processes)
        self._judge = judge
        self._promised_ps = 0
        self._look_ps = judge.next_look_ps(0)
        self._reports: dict[str, Report] = {}
        self._sequences = dict.fromkeys(self._processes, 0)
        self._stop = Event()
        self._paced_from = (monotonic(), 0)
        self._speed_from = (monotonic(), 0)
        self._thread = Thread(target=self._run, name="clock", daemon=True)

    @property
    def reports(self) -> Mapping[str, Report]:
        """The last report of each process that has sent one."""
        return dict(self._reports)

    @property
    def promised_ps(self) -> int:
        """Fabric time that nobody goes beyond yet."""
        return self._promised_ps

    @property
    def command_at_ps(self) -> int:
        """Fabric time at which a command takes effect that is accepted now: the next look-around."""
        return self._look_ps

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; fabric time stands still."""
        self._stop.set()
        self._thread.join()

    def end_all(self) -> None:
        """Tells every process to end; fabric time stands still."""
        self.stop()
        end = json.dumps({"do": "twin.end"}).encode()
        out = {name: [self._entry(name, self._promised_ps, [end])] for name in self._processes}
        self._bus.exchange(out, (), PATIENCE_S)

    def pace_from_here(self) -> None:
        """Counts the pace from now on."""
        self._paced_from = (monotonic(), self._twin.reached_ps)

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and self._twin.state not in ENDED:
                self._step()
        except Exception as error:  # whatever it is, the twin cannot go on
            self._twin.fail(f"{type(error).__name__}: {error}")

    def _step(self) -> None:
        twin = self._twin
        with twin.lock:
            promise_ps = self._next_promise_ps()
            out = self._promise(promise_ps) if promise_ps > self._promised_ps else {}
        heard = self._bus.exchange(out, self._processes, PATIENCE_S)
        for sender, entries in heard.items():
            self._reports[sender] = decode(entries[-1].payload).records["report"][0]
        self._note_progress()
        if not self._all_stand():
            return
        if self._promised_ps == self._look_ps:
            self._look()
        with twin.lock:
            if twin.state is TwinState.RUNNING and twin.reached_ps >= min(twin.goal_ps, twin.duration_ps):
                self._arrive()

    def _all_stand(self) -> bool:
        """Whether every process stands at what was promised."""
        return len(self._reports) == len(self._processes) and self._twin.reached_ps == self._promised_ps > 0

    def _next_promise_ps(self) -> int:
        """How far everybody may go now."""
        twin = self._twin
        if twin.state is not TwinState.RUNNING:
            return self._promised_ps
        ahead_ps = max(LEAST_AHEAD_PS, int(twin.speed * AHEAD_S * PS_PER_S))
        wanted_ps = twin.reached_ps + ahead_ps
        if wanted_ps < self._promised_ps + ahead_ps // 2:
            wanted_ps = self._promised_ps
        if twin.pace > 0:
            since_s, since_ps = self._paced_from
            wanted_ps = min(wanted_ps, since_ps + int((monotonic() - since_s) * twin.pace * PS_PER_S))
        # Commands take effect at full nanoseconds.
        wanted_ps -= wanted_ps % PS_PER_NS
        wanted_ps = max(wanted_ps, self._promised_ps)
        return min(wanted_ps, self._look_ps, max(twin.goal_ps, self._promised_ps), twin.duration_ps)

    def _promise(self, promise_ps: int) -> dict[str, list[Entry]]:
        commands = [*self._twin.pending]
        self._twin.pending.clear()
        quiet_ps = self._quiet_ps()
        if quiet_ps > self._promised_ps:
            skip = {"do": "clock.skip", "to_ps": quiet_ps}
            commands.append(json.dumps(skip).encode())
        self._promised_ps = promise_ps
        return {name: [self._entry(name, promise_ps, commands)] for name in self._processes}

    def _quiet_ps(self) -> int:
        """Fabric time before which nobody does anything; only known while all stand."""
        if not self._all_stand():
            return 0
        return min(int(report["next_event_ps"]) for report in self._reports.values())

    def _entry(self, name: str, promise_ps: int, commands: Sequence[bytes]) -> Entry:
        self._sequences[name] += 1
        window = WindowData(promise_ps, promise_ps, self._promised_ps, {}, commands)
        return Entry(promise_ps, encode(window, self._sequences[name]))

    def _note_progress(self) -> None:
        twin = self._twin
        if len(self._reports) < len(self._processes):
            return
        reached_ps = min(int(report["reached_ps"]) for report in self._reports.values())
        if reached_ps > twin.reached_ps:
            twin.reached_ps = reached_ps
            twin.changes.ring()
        since_s, since_ps = self._speed_from
        now_s = monotonic()
        if now_s - since_s >= SPEED_WINDOW_S:
            twin.speed = (reached_ps - since_ps) / PS_PER_S / (now_s - since_s)
            self._speed_from = (now_s, reached_ps)

    def _look(self) -> None:
        twin = self._twin
        verdict = self._judge.look(self._look_ps, self._reports)
        if verdict is not None:
            twin.deadlock_cycle, twin.deadlock_since_ps = verdict.cycle, verdict.since_ps
            self._end(verdict.stopped, verdict.end_ps)
            return
        self._look_ps = self._judge.next_look_ps(self._look_ps)

    def _arrive(self) -> None:
        """All stand where they were to go."""
        if self._twin.reached_ps >= self._twin.duration_ps:
            self._end("duration", self._twin.duration_ps)
        else:
            self._twin.become(TwinState.PAUSED)

    def _end(self, stopped: str, end_ps: int) -> None:
        self._twin.stopped, self._twin.end_ps = stopped, end_ps
        self._twin.become(TwinState.STOPPED)
