# SPDX-License-Identifier: Apache-2.0
"""How the twin itself is doing: plain numbers that the stepping thread adds to and a scrape reads.

There is no lock: each number has one writer, and an exporter that reads one a step late tells no lie.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version

from fabrictwin.telemetry.catalogue import METRIC_OF
from fabrictwin.telemetry.metric import Metric, Service
from fabrictwin.units import PS_PER_S

NS_PER_S = 1_000_000_000
Values = dict[tuple[str, ...], float]
"""Values of a metric's series by their labels."""

STEP_BOUNDS_NS = (*(digit * 10**power for power in range(4, 9) for digit in (1, 2, 5)), NS_PER_S)
"""Upper bounds of the buckets of step times: 10 us to 1 s."""
_LEAST_SPEED_WINDOW_S = 1.0


class StepTimes:
    """A histogram of step times, cheap enough for every step.

    Attributes:
        counts: Steps in each bucket; the last one is of those above every bound.
        total_ns: Sum of all.
    """

    def __init__(self) -> None:
        self.counts = [0] * (len(STEP_BOUNDS_NS) + 1)
        self.total_ns = 0

    def add(self, took_ns: int) -> None:
        """Counts a step."""
        self.counts[bisect_left(STEP_BOUNDS_NS, took_ns)] += 1
        self.total_ns += took_ns


class Phases:
    """Where the wall time of the stepping thread goes.

    Attributes:
        simulate_ns: In compiled code, which advances the process in fabric time.
        talk_ns: Around it: taking in what was heard, making up what is said.
        bus_ns: In the client of the bus: packing, sending, receiving.
        wait_ns: Asleep until somebody else has something to say.
    """

    __slots__ = ("bus_ns", "simulate_ns", "talk_ns", "wait_ns")

    def __init__(self) -> None:
        self.simulate_ns = self.talk_ns = self.bus_ns = self.wait_ns = 0

    def seconds(self) -> Values:
        """Seconds by the name of the phase."""
        return {(name[:-3],): getattr(self, name) / NS_PER_S for name in self.__slots__}


class Speedometer:
    """Fabric time per wall time between looks."""

    def __init__(self) -> None:
        self._speed = 0.0
        self._since_s, self._since_ps = time.monotonic(), 0

    def look(self, reached_ps: int) -> float:
        """The speed since the last look that is long enough ago."""
        now_s = time.monotonic()
        if now_s - self._since_s >= _LEAST_SPEED_WINDOW_S:
            self._speed = (reached_ps - self._since_ps) / PS_PER_S / (now_s - self._since_s)
            self._since_s, self._since_ps = now_s, reached_ps
        return self._speed


class Channel:
    """One direction of the bus between this service and a peer.

    Attributes:
        entries: Entries read or written.
        size_bytes: Their bytes.
        promise_ps: Of an incoming channel: the last promise heard.
        waited_ns: Of an incoming channel: wall time waited while its promise was the least.
    """

    __slots__ = ("entries", "promise_ps", "size_bytes", "waited_ns")

    def __init__(self) -> None:
        self.entries = 0
        self.size_bytes = 0
        self.promise_ps = 0
        self.waited_ns = 0


class Health:
    """What a service knows of itself.

    Args:
        twin: Name of the twin.
        service: What this service is.
        shard: Name of its logical process.
        scenario: Name of the scenario.

    Attributes:
        version: Of this program.
        up: Whether the twin is loaded here and has not failed.
        reached_ps: Fabric time reached.
        stepped_at_s: Wall time of the last step, seconds since 1970; 0: none yet.
        steps: Wall time that steps compute.
        phases: Where the time of the stepping thread goes.
        incoming: Channels to here, by the sender's name.
        outgoing: Channels from here, by the receiver's name.
    """

    def __init__(self, twin: str, service: Service, shard: str, scenario: str) -> None:
        self.twin, self.service, self.shard, self.scenario = twin, service, shard, scenario
        self.version = version("fabrictwin")
        self.up = True
        self.reached_ps = 0
        self.stepped_at_s = 0.0
        self.steps = StepTimes()
        self.phases = Phases()
        self.incoming: defaultdict[str, Channel] = defaultdict(Channel)
        self.outgoing: defaultdict[str, Channel] = defaultdict(Channel)
        self._checkpoint: tuple[float, int] | None = None
        self._values: dict[str, Values] = {}

    def checkpoint(self, at_s: float, fabric_ps: int) -> None:
        """Notes a checkpoint: its wall time (seconds since 1970) and its fabric time."""
        self._checkpoint = (at_s, fabric_ps)

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Adds to a counter of this service.

        Args:
            name: A metric of the catalogue.
            labels: Values of its labels, in order.
            by: How much.
        """
        series = self._series(name, labels)
        series[labels] = series.get(labels, 0) + by

    def set(self, name: str, value: float, *labels: str) -> None:
        """Sets a gauge of this service."""
        self._series(name, labels)[labels] = value

    def remove(self, name: str, *labels: str) -> None:
        """Ends a series of a gauge: what it told of is no more."""
        self._series(name, labels).pop(labels, None)

    def _series(self, name: str, labels: tuple[str, ...]) -> Values:
        metric = METRIC_OF[name]
        if metric.source != "values" or self.service not in metric.services:
            raise ValueError(f"{name} is not a metric that {self.service} sets")
        if len(labels) != len(metric.labels):
            raise ValueError(f"{name} has the labels {metric.labels}, got {labels}")
        return self._values.setdefault(name, {})

    def read(self, metric: Metric) -> Values:
        """The series of a metric, none while there is nothing to say; not those of fabric time."""
        if metric.source == "values":
            return dict(self._values.get(metric.name, {}))
        return _SOURCES[metric.source](self)

    def _promise_lags(self) -> Values:
        promises = {name: channel.promise_ps for name, channel in list(self.incoming.items())}
        furthest = max((ps for name, ps in promises.items() if name != Service.DIRECTOR), default=0)
        return {(name,): max(0, furthest - ps) / PS_PER_S for name, ps in promises.items()}


def _of_channels(direction: str, field: str, scale: int = 1) -> _Source:
    def read(health: Health) -> Values:
        channels: dict[str, Channel] = getattr(health, direction)
        return {(name,): getattr(channel, field) / scale for name, channel in list(channels.items())}

    return read


_Source = Callable[[Health], Values]

_SOURCES: dict[str, _Source] = {
    "names": lambda h: {(h.version, h.twin, str(h.service), h.shard, h.scenario): 1},
    "up": lambda h: {(): int(h.up)},
    "stepped_at_s": lambda h: {(): h.stepped_at_s} if h.stepped_at_s else {},
    "checkpoint_at_s": lambda h: {(): h._checkpoint[0]} if h._checkpoint else {},
    "checkpoint_seconds": lambda h: {(): h._checkpoint[1] / PS_PER_S} if h._checkpoint else {},
    "phases": lambda h: h.phases.seconds(),
    "promise_lags": Health._promise_lags,
    "waits": _of_channels("incoming", "waited_ns", NS_PER_S),
    "received_entries": _of_channels("incoming", "entries"),
    "received_bytes": _of_channels("incoming", "size_bytes"),
    "sent_entries": _of_channels("outgoing", "entries"),
    "sent_bytes": _of_channels("outgoing", "size_bytes"),
}
