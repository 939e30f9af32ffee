# SPDX-License-Identifier: Apache-2.0
"""One shared-buffer switch in plain Python, written from the model's page: buffer, PFC, ECN.

It is told what came in, and which priority each output chose next; it says what is admitted and dropped, when
each packet leaves and whether it is marked, and when which PFC frame is sent.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import NamedTuple

PFC_WIRE_BYTES = 84
GAP_BYTES = 20
QUANTUM_BITS = 512
PS_PER_S = 10**12


class Frame(NamedTuple):
    """A packet.

    Attributes:
        name: Queue pair, PSN and kind.
        inside: Port that it comes by.
        outside: Port that it leaves by.
        priority: Its priority.
        wire_bytes: Its length on the wire.
        is_data: Whether it may be marked.
    """

    name: tuple[int, int, int]
    inside: int
    outside: int
    priority: int
    wire_bytes: int
    is_data: bool

    @property
    def size(self) -> int:
        """What it takes of the buffer."""
        return self.wire_bytes - GAP_BYTES


class Departure(NamedTuple):
    """A packet that leaves."""

    start_ps: int
    port: int
    name: tuple[int, int, int]
    is_marked: bool


class PfcFrame(NamedTuple):
    """A PFC frame that a port sends."""

    start_ps: int
    port: int
    priority: int
    quanta: int


@dataclass
class Group:
    """A priority group: what came by a port in a priority."""

    held: int = 0
    headroom: int = 0
    pauses: bool = False
    timer: bool = False


@dataclass(frozen=True)
class Rules:
    """What the switch is set to; sizes in bytes, an alpha of None is infinite."""

    rate_bps: int
    shared: int
    alpha: Fraction | None
    egress_alpha: Fraction | None
    reserve: int
    headroom: int
    xon_offset: int
    quanta: int
    lossless: frozenset[int]
    kmin: int
    kmax: int
    pmax: Fraction


@dataclass
class SwitchOracle:
    """The switch.

    Attributes:
        rules: What it is set to.
        choices: The priority that each output chose, packet by packet.
        draw: A number below 2**16 for (port, packets that it has sent before).
    """

    rules: Rules
    choices: dict[int, deque[int]]
    draw: Callable[[int, int], int]
    departures: list[Departure] = field(default_factory=list)
    pfc: list[PfcFrame] = field(default_factory=list)
    dropped: list[Frame] = field(default_factory=list)
    groups: dict[tuple[int, int], Group] = field(default_factory=dict)
    queues: dict[tuple[int, int], deque[Frame]] = field(default_factory=dict)
    free_ps: dict[int, int] = field(default_factory=dict)
    wire_free_ps: dict[int, int] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)
    planned: set[int] = field(default_factory=set)
    calendar: list[tuple[int, int, int, int, Frame | None]] = field(default_factory=list)

    PORT_FREE, ARRIVAL, REFRESH = range(3)

    def run(self, arrivals: list[tuple[int, Frame]], until_ps: int) -> None:
        """Plays what comes in, in the order of time, and of one time: outputs, inputs, timers, by port."""
        for at_ps, frame in arrivals:
            self._later(at_ps, self.ARRIVAL, frame.inside, frame.priority, frame)
        while self.calendar and self.calendar[0][0] < until_ps:
            now_ps, kind, port, priority, frame = heapq.heappop(self.calendar)
            if kind == self.PORT_FREE:
                self.planned.discard(port)
                self._serve(port, now_ps)
            elif kind == self.REFRESH:
                self._refresh(port, priority, now_ps)
            elif frame is not None:
                self._arrive(frame, now_ps)

    def _later(self, at_ps: int, kind: int, port: int, priority: int, frame: Frame | None = None) -> None:
        heapq.heappush(self.calendar, (at_ps, kind, port, priority, frame))

    def _group(self, port: int, priority: int) -> Group:
        return self.groups.setdefault((port, priority), Group())

    def _queue(self, port: int, priority: int) -> deque[Frame]:
        return self.queues.setdefault((port, priority), deque())

    def _shared(self, group: Group) -> int:
        return max(0, group.held - self.rules.reserve)

    def _used(self) -> int:
        return sum(self._shared(group) for group in self.groups.values())

    def _threshold(self, alpha: Fraction | None) -> int:
        free = self.rules.shared - self._used()
        return self.rules.shared if alpha is None else floor(alpha * free)

    def _time(self, wire_bytes: int) -> int:
        return -(-wire_bytes * 8 * PS_PER_S // self.rules.rate_bps)

    def _arrive(self, frame: Frame, now_ps: int) -> None:
        is_lossless = frame.priority in self.rules.lossless
        queue = self._queue(frame.outside, frame.priority)
        waiting = sum(other.size for other in queue)
        if not is_lossless and waiting + frame.size > self._threshold(self.rules.egress_alpha):
            self.dropped.append(frame)
            return
        group = self._group(frame.inside, frame.priority)
        if self._fits(group, frame.size):
            group.held += frame.size
        elif is_lossless and group.headroom + frame.size <= self.rules.headroom:
            group.headroom += frame.size
        else:
            self.dropped.append(frame)
            return
        queue.append(frame)
        is_full = group.headroom > 0 or self._shared(group) >= self._threshold(self.rules.alpha)
        if is_lossless and is_full and not group.pauses:
            self._pause(frame.inside, frame.priority, now_ps)
        self._serve(frame.outside, now_ps)

    def _fits(self, group: Group, size: int) -> bool:
        after = max(0, group.held + size - self.rules.reserve)
        grows = after - self._shared(group)
        return after <= self._threshold(self.rules.alpha) and grows <= self.rules.shared - self._used()

    def _serve(self, port: int, now_ps: int) -> None:
        if not any(self._queue(port, priority) for priority in range(8)):
            return
        free_ps = self.free_ps.get(port, 0)
        if free_ps > now_ps:
            if port not in self.planned:
                self.planned.add(port)
                self._later(free_ps, self.PORT_FREE, port, 0)
            return
        if not self.choices[port]:
            return
        self._depart(port, self.choices[port].popleft(), now_ps)
        self._serve(port, now_ps)

    def _depart(self, port: int, priority: int, now_ps: int) -> None:
        queue = self._queue(port, priority)
        assert queue, f"port {port} sends in priority {priority} at {now_ps} ps, where nothing waits"
        waiting = sum(frame.size for frame in queue)
        frame = queue.popleft()
        is_marked = frame.is_data and self._marks(port, waiting)
        group = self._group(frame.inside, priority)
        from_headroom = min(group.headroom, frame.size)
        group.headroom -= from_headroom
        group.held -= frame.size - from_headroom
        if group.pauses and group.headroom == 0:
            shared = self._shared(group)
            if shared == 0 or shared + self.rules.xon_offset <= self._threshold(self.rules.alpha):
                group.pauses = False
                self._send_pfc(frame.inside, priority, 0, now_ps)
        start_ps = max(now_ps, self.wire_free_ps.get(port, 0))
        self.free_ps[port] = self.wire_free_ps[port] = start_ps + self._time(frame.wire_bytes)
        self.sent[port] = self.sent.get(port, 0) + 1
        self.departures.append(Departure(start_ps, port, frame.name, is_marked))

    def _marks(self, port: int, waiting: int) -> bool:
        rules = self.rules
        if rules.pmax == 0 or waiting <= rules.kmin:
            return False
        if waiting > rules.kmax:
            return True
        probability = rules.pmax * (waiting - rules.kmin) / (rules.kmax - rules.kmin)
        return self.draw(port, self.sent.get(port, 0)) < floor(probability * 2**16)

    def _pause(self, port: int, priority: int, now_ps: int) -> None:
        group = self._group(port, priority)
        group.pauses = True
        self._send_pfc(port, priority, self.rules.quanta, now_ps)
        if not group.timer:
            group.timer = True
            pause_ps = self._time(self.rules.quanta * QUANTUM_BITS // 8)
            self._later(now_ps + pause_ps // 2, self.REFRESH, port, priority)

    def _refresh(self, port: int, priority: int, now_ps: int) -> None:
        group = self._group(port, priority)
        group.timer = False
        if group.pauses:
            self._pause(port, priority, now_ps)

    def _send_pfc(self, port: int, priority: int, quanta: int, now_ps: int) -> None:
        start_ps = max(now_ps, self.wire_free_ps.get(port, 0))
        self.wire_free_ps[port] = start_ps + self._time(PFC_WIRE_BYTES)
        self.pfc.append(PfcFrame(start_ps, port, priority, quanta))
