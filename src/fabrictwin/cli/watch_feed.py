# SPDX-License-Identifier: Apache-2.0
"""What a director says of its twin, kept up to date in the background for whoever shows it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import grpc

from fabrictwin.api.v1.common_pb2 import Event, PortActivity, WatchPortsRequest
from fabrictwin.api.v1.director_pb2 import Fault, StatusRequest, StatusResponse, WatchEventsRequest
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.fault import read_faults

EVERY_S = 0.3
"""A view that is drawn three times a second needs no more."""
MOST_PORTS = 50
EVENTS_KEPT = 50
HISTORY_KEPT = 240
GONE_AFTER_S = 4.0
SILENT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
WITHIN_S = 3.0
"""A status that takes longer says that the director does not answer."""


@dataclass
class Watched:
    """What is known of a twin.

    Attributes:
        status: How it is.
        activity: What goes over its ports; None: nothing is known yet.
        history: Rates at which HCAs sent, bit/s, one for each span in which fabric time went on.
        faults: Those that are active.
        events: The last ones, the oldest first.
        trouble: Why the director does not answer; empty if it does.
        silent_since_s: Monotonic time of its last answer.
    """

    status: StatusResponse
    activity: PortActivity | None = None
    history: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY_KEPT))
    faults: list[Fault] = field(default_factory=list)
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=EVENTS_KEPT))
    trouble: str = ""
    silent_since_s: float = field(default_factory=monotonic)

    @property
    def is_gone(self) -> bool:
        """Whether nobody has answered for so long that nobody will."""
        return bool(self.trouble) and monotonic() - self.silent_since_s > GONE_AFTER_S


@contextmanager
def watch_twin(twin: str | None, address: str | None) -> Iterator[Watched]:
    """Watches a twin while the block runs.

    Args:
        twin: Name of a twin on this machine; None: the only one.
        address: host:port of a director elsewhere, instead of a name.

    Yields:
        What is known of it; other threads keep it up to date.

    Raises:
        InputError: There is no such twin.
        TwinError: It does not answer.
    """
    with open_director(twin, address) as director:
        watched = Watched(director.Status(StatusRequest()))
        ending = threading.Event()
        threads = [
            threading.Thread(target=_follow, args=(follow, director, watched, ending), daemon=True)
            for follow in (_follow_status, _follow_events, _follow_ports)
        ]
        for thread in threads:
            thread.start()
        try:
            yield watched
        finally:
            ending.set()
    # Closing the channel has ended the streams.
    for thread in threads:
        thread.join()


Follow = Callable[[DirectorStub, Watched, threading.Event], None]


def _follow(follow: Follow, director: DirectorStub, watched: Watched, ending: threading.Event) -> None:
    """Follows one thing, and again whenever that has broken off."""
    while not ending.is_set():
        try:
            follow(director, watched, ending)
        except grpc.RpcError as error:
            _note_trouble(error, watched)
        except ValueError:  # the channel was closed
            return
        ending.wait(EVERY_S)


def _note_trouble(error: Any, watched: Watched) -> None:
    """A twin without a scenario, say, has no ports to be watched; that is no silence."""
    if error.code() in SILENT:
        watched.trouble = "the director does not answer"


def _follow_status(director: DirectorStub, watched: Watched, ending: threading.Event) -> None:
    while not ending.wait(EVERY_S):
        watched.status = director.Status(StatusRequest(), timeout=WITHIN_S)
        watched.trouble, watched.silent_since_s = "", monotonic()
        watched.faults = [*read_faults(director, active=True)]


def _follow_events(director: DirectorStub, watched: Watched, ending: threading.Event) -> None:
    request = WatchEventsRequest()
    # The name of the field is a word of the language.
    setattr(request, "from", watched.events[-1].sequence + 1 if watched.events else 1)
    for event in director.WatchEvents(request):
        watched.events.append(event)


def _follow_ports(director: DirectorStub, watched: Watched, ending: threading.Event) -> None:
    for activity in director.WatchPorts(WatchPortsRequest(every_s=EVERY_S, most=MOST_PORTS)):
        if activity.at_ps > activity.from_ps or watched.activity is None:
            watched.activity = activity
            watched.history.append(activity.injected_bps)
        else:
            # Fabric time stands still: the rates of the last span say more than none.
            watched.activity.ports_down = activity.ports_down
            watched.activity.ports_blocked = activity.ports_blocked
