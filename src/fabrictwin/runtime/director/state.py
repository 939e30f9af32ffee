# SPDX-License-Identifier: Apache-2.0
"""What the director knows and wants, shared between its clock thread and its gRPC servicer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock

from fabrictwin.engine.deadlock import Deadlock
from fabrictwin.model.controller import SubnetEvent
from fabrictwin.runtime.director.changes import Changes
from fabrictwin.runtime.director.event_log import EventLog


class TwinState(StrEnum):
    """What a twin is doing."""

    EMPTY = "empty"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"


ENDED = (TwinState.STOPPED, TwinState.FAILED)


@dataclass(slots=True)
class PendingCommand:
    """A command whose fabric time has not come.

    Attributes:
        at_ps: When it takes effect.
        line: Its line of the log.
        is_said: Whether everybody has been told.
    """

    at_ps: int
    line: bytes
    is_said: bool = False


@dataclass
class Twin:
    """The state of a twin. Plain fields have one writer, the clock thread, unless said otherwise.

    Attributes:
        name: Its name.
        changes: Rung whenever something here has changed.
        events: What has happened.
        state: What it is doing.
        reached_ps: Fabric time that every process has reached.
        goal_ps: Fabric time to go to before it pauses; written by the servicer under ``lock``.
        pace: Most fabric seconds per wall second, 0: no limit; written by the servicer.
        speed: Fabric seconds per wall second of late.
        duration_ps: Fabric time of its end at the latest.
        end_ps: Fabric time of its end, once it has stopped.
        stopped: Why: duration, idle, deadlock.
        deadlock: The deadlock that it has stopped in.
        subnet_events: What the subnet managers have said of themselves.
        error: What failed.
        pending: Commands whose fabric time has not come.
        lock: Held by who changes ``goal_ps``, ``pending`` or ``state``.
    """

    name: str
    changes: Changes = field(default_factory=Changes)
    state: TwinState = TwinState.EMPTY
    reached_ps: int = 0
    goal_ps: int = 0
    pace: float = 0.0
    speed: float = 0.0
    duration_ps: int = 0
    end_ps: int = 0
    stopped: str = ""
    deadlock: Deadlock | None = None
    subnet_events: list[SubnetEvent] = field(default_factory=list)
    error: str = ""
    pending: list[PendingCommand] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.events = EventLog(self.changes)

    def become(self, state: TwinState) -> None:
        """Changes the state, and says so."""
        if self.state is state:
            return
        self.state = state
        self.events.add(self.reached_ps, "director", str(state), self.error or self.stopped)

    def fail(self, reason: str) -> None:
        """It cannot go on correctly."""
        self.error = reason
        self.become(TwinState.FAILED)
