# SPDX-License-Identifier: Apache-2.0
"""A twin in trouble, as ``watch`` knows it."""

from __future__ import annotations

from fabrictwin.api.v1.common_pb2 import Event, PortActivity, PortLoad
from fabrictwin.api.v1.director_pb2 import Fault, ServiceStatus, StatusResponse, TwinState
from fabrictwin.cli.watch_feed import Watched
from fabrictwin.units import PS_PER_MS

RATE_BPS = 400 * 10**9


def load(
    name: str, peer: str, *, sent: float = 0.0, waited: float = 0.0, queued: int = 0, to_hca: bool = False
) -> PortLoad:
    node, _, number = name.partition("/")
    return PortLoad(
        node=node,
        number=int(number),
        peer=peer,
        rate_bps=RATE_BPS,
        sent_bps=sent * RATE_BPS,
        waited=waited,
        queued_bytes=queued,
        blocked=waited > 0,
        peer_is_hca=to_hca,
    )


def sound_twin() -> Watched:
    """A twin that is well."""
    status = StatusResponse(
        twin="demo",
        version="1",
        scenario="demo",
        state=TwinState.TWIN_STATE_RUNNING,
        fabric_time_ps=3 * PS_PER_MS + 214_567_000,
        duration_ps=20 * PS_PER_MS,
        speed=0.00213,
        services=[ServiceStatus(shard=name, health="serving") for name in ("switch0", "hca0", "cc")],
    )
    activity = PortActivity(
        from_ps=3 * PS_PER_MS,
        at_ps=3 * PS_PER_MS + 1,
        injected_bps=5.91e12,
        delivered_bps=5.72e12,
        busiest=[load("leaf0/5", "spine0/1", sent=0.8)],
        most_blocked=[load("leaf0/5", "spine0/1", waited=0.05)],
    )
    watched = Watched(status, activity)
    watched.history.extend([5.9e12, 5.9e12, 3e12, 0.0, 5.9e12])
    watched.events.append(Event(at_ps=PS_PER_MS, source="director", kind="running"))
    return watched


def troubled_twin() -> Watched:
    """A twin with a fault, a slow receiver and a port that is full."""
    watched = sound_twin()
    end_ps = watched.status.fabric_time_ps + 420_000_000
    watched.faults = [
        Fault(id="link_down-1", kind="link_down", text="link_down leaf0/5 - spine0/1", end_ps=end_ps)
    ]
    activity = watched.activity
    assert activity is not None
    activity.ports_down = 2
    activity.discarded_packets = 1
    activity.retransmitted_packets = 12
    activity.ports_blocked = 3
    activity.ClearField("busiest")
    activity.busiest.append(load("leaf0/1", "h0/1", sent=1.0, queued=128 << 10))
    activity.ClearField("most_blocked")
    activity.most_blocked.append(load("leaf1/2", "h5/1", waited=0.88, to_hca=True))
    activity.most_blocked.append(load("h4/1", "leaf1/1", waited=0.63))
    watched.events.append(Event(at_ps=2 * PS_PER_MS, kind="link_down", node="leaf0", port=5))
    return watched
