# SPDX-License-Identifier: Apache-2.0
"""Fabric time: the director promises, and so everybody may go on; it pauses by not promising.

It promises up to the next fabric time at which every run of the scenario looks around (idle? deadlock?), but
never much further than is simulated in a fraction of a second, so that a pause or a command does not have to
wait. At a look-around all processes stand at the same fabric time and nothing is under way between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread
from time import monotonic
from typing import Any

from fabrictwin.engine.look import Judge
from fabrictwin.engine.outlook import Outlook
from fabrictwin.engine.readout import Readout
from fabrictwin.model.controller import SubnetEvent
from fabrictwin.runtime.bus import Bus, Entry
from fabrictwin.runtime.convert import WindowData, decode, encode
from fabrictwin.runtime.director.state import ENDED, Twin, TwinState
from fabrictwin.runtime.process import count_entry
from fabrictwin.runtime.processor import stay_on
from fabrictwin.runtime.rest import RestOfAll
from fabrictwin.runtime.sm_process import SUBNET_MANAGER
from fabrictwin.telemetry import Health
from fabrictwin.units import PS_PER_NS, PS_PER_S, PS_PER_US

AHEAD_S = 0.2
"""Wall time that promises reach ahead."""
LEAST_AHEAD_PS = 20 * PS_PER_US
PATIENCE_S = 0.02
SPEED_WINDOW_S = 1.0

Report = Any
"""A record of layout ``report``."""


class Clock:
    """The thread that promises.

    Args:
        twin: What the director knows.
        bus: The director's end.
        processes: Every logical process but the director.
        judge: Looks around.
        readout: Reads the arrays of all shards, while everybody stands.
        health: What its metrics say of its channels.
        cpu: The processor that the thread stays on; None: any.
    """

    def __init__(
        self,
        twin: Twin,
        bus: Bus,
        processes: Sequence[str],
        judge: Judge,
        readout: Callable[[], Readout],
        health: Health,
        cpu: int | None = None,
    ) -> None:
        self._cpu = cpu
        self._twin = twin
        self._bus = bus
        self._processes = tuple(processes)
        self._judge = judge
        self._readout = readout
        self._health = health
        self._promised_ps = 0
        self._look_ps = judge.next_look_ps(0)
        self._reports: dict[str, Report] = {}
        self._sequences = dict.fromkeys(self._processes, 0)
        self._rest = RestOfAll()
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
            stay_on(self._cpu)
            while not self._stop.is_set() and self._twin.state not in ENDED:
                self._step()
        except Exception as error:  # whatever it is, the twin cannot go on
            self._twin.fail(f"{type(error).__name__}: {error}")

    def _step(self) -> None:
        twin = self._twin
        with twin.lock:
            promise_ps = self._next_promise_ps()
            out = self._promise(promise_ps) if promise_ps > self._promised_ps else self._jump()
        heard = self._bus.exchange(out, self._processes, PATIENCE_S)
        for sender, entries in heard.items():
            for entry in entries:
                window = decode(entry.payload)
                count_entry(self._health.incoming[sender], entry)
                self._hear(sender, window)
        self._note_progress()
        if not self._all_stand():
            return
        with twin.lock:
            if self._promised_ps == self._look_ps:
                self._look()
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
        commands = []
        for command in self._twin.pending:
            if not command.is_said:
                commands.append(command.line)
                command.is_said = True
                self._rest.forget()
        quiet_ps = 0 if commands else self._quiet_ps()
        if quiet_ps > self._promised_ps:
            skip = {"do": "clock.skip", "to_ps": quiet_ps}
            commands.append(json.dumps(skip).encode())
        self._promised_ps = promise_ps
        return {name: [self._entry(name, promise_ps, commands)] for name in self._processes}

    def _jump(self) -> dict[str, list[Entry]]:
        """On the way to what was promised: skips what nobody has anything to do in."""
        if len(self._reports) < len(self._processes) or self._twin.reached_ps == self._promised_ps:
            return {}
        command: dict[str, Any] = {}
        if self._rest.look(self._reports, self._twin.reached_ps):
            command = {"do": "clock.ask", "number": self._rest.question}
        elif quiet_ps := self._rest.quiet_ps(self._reports, self._look_ps):
            command = {"do": "clock.skip", "to_ps": quiet_ps}
        if not command:
            return {}
        line = json.dumps(command).encode()
        return {name: [self._entry(name, self._promised_ps, [line])] for name in self._processes}

    def _quiet_ps(self) -> int:
        """Fabric time before which nobody does anything; only known while all stand.

        A command may change that from the next look-around on.
        """
        if not self._all_stand():
            return 0
        return min(self._look_ps, *(int(report["next_event_ps"]) for report in self._reports.values()))

    def _entry(self, name: str, promise_ps: int, commands: Sequence[bytes]) -> Entry:
        self._sequences[name] += 1
        window = WindowData(promise_ps, promise_ps, self._promised_ps, {}, commands)
        entry = Entry(promise_ps, encode(window, self._sequences[name]))
        count_entry(self._health.outgoing[name], entry)
        return entry

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

    def _hear(self, sender: str, window: WindowData) -> None:
        """Takes in a report, and what comes with it for the event log."""
        self._reports[sender] = window.records["report"][0]
        for line in window.commands:
            event = json.loads(line)
            at_ps = round(event["fabric_ns"] * PS_PER_NS)
            if event["source"] == SUBNET_MANAGER:
                number = int(sender.removeprefix("sm"))
                self._twin.subnet_events.append(SubnetEvent(at_ps, event["kind"], event["text"], number))
            self._twin.events.hear(at_ps, event)

    def _look(self) -> None:
        """Looks around; everybody stands, and the lock is held."""
        twin, at_ps = self._twin, self._look_ps
        outlooks = [
            Outlook(bool(report["idle"]), int(report["last_live_ps"]), int(report["blocked_since_ps"]))
            for report in self._reports.values()
        ]
        ending = self._judge.look(at_ps, outlooks, self._read, ordered=self._is_ordered(at_ps))
        if ending is not None and not self._is_ordered(at_ps):
            twin.deadlock = ending.deadlock
            self._end(ending.stopped, ending.end_ps)
        # What was ordered when all had been promised this far is said with the next promise.
        twin.pending[:] = [
            command for command in twin.pending if command.at_ps > at_ps or not command.is_said
        ]
        self._look_ps = self._judge.next_look_ps(at_ps)

    def _is_ordered(self, at_ps: int) -> bool:
        """Whether somebody has ordered something for a fabric time."""
        return any(command.at_ps == at_ps for command in self._twin.pending)

    def _read(self) -> Readout:
        """Reads the arrays by way of the event loop, which may want the lock meanwhile."""
        self._twin.lock.release()
        try:
            return self._readout()
        finally:
            self._twin.lock.acquire()

    def _arrive(self) -> None:
        """All stand where they were to go."""
        if self._twin.reached_ps >= self._twin.duration_ps:
            self._end("duration", self._twin.duration_ps)
        else:
            self._twin.become(TwinState.PAUSED)

    def _end(self, stopped: str, end_ps: int) -> None:
        self._twin.stopped, self._twin.end_ps = stopped, end_ps
        self._twin.become(TwinState.STOPPED)
