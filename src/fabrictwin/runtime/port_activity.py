# SPDX-License-Identifier: Apache-2.0
"""What goes over the ports of a shard: how its counters have changed since they were last read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabrictwin.api.v1.common_pb2 import PortActivity, PortLoad, WatchPortsRequest
from fabrictwin.engine.port_counters import waited_for_credits
from fabrictwin.errors import InputError
from fabrictwin.runtime.failures import StateError
from fabrictwin.runtime.reading import BPS_FS, rows_of
from fabrictwin.telemetry import FabricSource
from fabrictwin.units import PS_PER_S

EVERY_S = 0.5
LEAST_EVERY_S, MOST_EVERY_S = 0.1, 60.0
MOST_PORTS = 10
LARGEST_MOST = 100
BITS = 8


def read_interval_s(request: WatchPortsRequest) -> float:
    """Wall seconds between two answers.

    Raises:
        InputError: There is such a long one, or such a short one, asked for.
    """
    every_s = request.every_s or EVERY_S
    if not LEAST_EVERY_S <= every_s <= MOST_EVERY_S:
        raise InputError.of(
            f"expected {LEAST_EVERY_S} to {MOST_EVERY_S} seconds, got {every_s}", field="every_s"
        )
    return every_s


def read_most(request: WatchPortsRequest) -> int:
    """Most ports in a list.

    Raises:
        InputError: More are asked for than there may be.
    """
    if request.most > LARGEST_MOST:
        raise InputError.of(f"expected at most {LARGEST_MOST} ports, got {request.most}", field="most")
    return request.most or MOST_PORTS


@dataclass(frozen=True)
class _Counters:
    """The counters at one fabric time.

    Attributes:
        at_ps: The fabric time.
        sent_bytes: [ports] sent by each port.
        waited_ps: [ports] for how long each has waited for credits.
        delivered_bytes: Payload delivered by the shard's HCAs.
        discarded: Packets that its ports have discarded.
        retransmitted: Packets that its HCAs have sent again.
    """

    at_ps: int
    sent_bytes: np.ndarray
    waited_ps: np.ndarray
    delivered_bytes: int
    discarded: int
    retransmitted: int


class PortReader:
    """Reads a shard's ports again and again. Its first answer is about the time since it was made.

    Args:
        source: The shard.

    Raises:
        StateError: It has no ports.
    """

    def __init__(self, source: FabricSource) -> None:
        plan = source.plan
        self._source = source
        self._ends = sorted(end for end in plan.scenario.fabric.link_at if source.owned[end.node])
        if not self._ends:
            raise StateError("this process holds no ports")
        self._rows, self._lanes = rows_of(plan, self._ends)
        self._last = self._read()[0]

    def read(self, most: int) -> PortActivity:
        """What has happened since the last time.

        Args:
            most: Most ports in a list.
        """
        now, port, pv = self._read()
        last, self._last = self._last, now
        span_ps = now.at_ps - last.at_ps
        bps = BITS * PS_PER_S / span_ps if span_ps else 0.0
        sent_bps = (now.sent_bytes - last.sent_bytes) * bps
        waited = (now.waited_ps - last.waited_ps) / max(1, span_ps)
        rate_bps = BPS_FS / port.fs_per_byte
        loads = _Loads(self, port, pv, sent_bps, waited)
        return PortActivity(
            from_ps=last.at_ps,
            at_ps=now.at_ps,
            injected_bps=float(sent_bps[port.voq0 < 0].sum()),
            delivered_bps=(now.delivered_bytes - last.delivered_bytes) * bps,
            discarded_packets=now.discarded - last.discarded,
            retransmitted_packets=now.retransmitted - last.retransmitted,
            ports_down=int((port.up == 0).sum()),
            ports_blocked=int(loads.blocked.sum()),
            busiest=loads.largest(np.round(sent_bps / rate_bps, 2), most),
            most_blocked=loads.largest(waited, most),
        )

    def _read(self) -> tuple[_Counters, Any, Any]:
        """(the counters, PORT and PV of the ports)."""
        with self._source.hold() as at_ps:
            state = self._source.state
            port, more = state.port.take(self._rows), state.port_more.take(self._rows)
            pv = state.pv.take(self._lanes)
            delivered = int(state.responder.bytes.sum())
            retransmitted = int(state.requester.retransmitted.sum())
        waited_ps = waited_for_credits(more, pv, at_ps)
        counters = _Counters(
            at_ps, port.xmit_bytes, waited_ps, delivered, int(more.xmit_discards.sum()), retransmitted
        )
        return counters, port, pv

    def describe(self, index: int) -> tuple[str, int, str]:
        """(node, port number, the other end) of one of the ports."""
        fabric = self._source.plan.scenario.fabric
        end = self._ends[index]
        other = fabric.link_at[end].other(end)
        return fabric.nodes[end.node].name, end.port, fabric.port_name(other)


class _Loads:
    """What one reading says of each port."""

    def __init__(
        self, reader: PortReader, port: Any, pv: Any, sent_bps: np.ndarray, waited: np.ndarray
    ) -> None:
        self._reader = reader
        self._port, self._sent_bps, self._waited = port, sent_bps, waited
        queued = pv.waiting_blocks.astype(np.int64) << pv.block_shift
        self._queued_bytes = queued.reshape(len(port), -1).sum(axis=1)
        self.blocked = pv.blocked.reshape(len(port), -1).any(axis=1)

    def largest(self, values: np.ndarray, most: int) -> list[PortLoad]:
        """At most so many ports with the largest values above 0, the largest first, then by their queues."""
        order = np.lexsort((-self._queued_bytes, -values))[:most]
        return [self._load(int(index)) for index in order if values[index] > 0]

    def _load(self, index: int) -> PortLoad:
        node, number, peer = self._reader.describe(index)
        return PortLoad(
            node=node,
            number=number,
            peer=peer,
            rate_bps=BPS_FS // int(self._port.fs_per_byte[index]),
            sent_bps=self._sent_bps[index],
            waited=self._waited[index],
            queued_bytes=int(self._queued_bytes[index]),
            blocked=bool(self.blocked[index]),
            peer_is_hca=bool(self._port.peer_is_hca[index]),
        )


def merge(parts: list[PortActivity], most: int) -> PortActivity:
    """What goes over the ports of several shards.

    Args:
        parts: The last answer of each.
        most: Most ports in a list.
    """
    busiest = [load for part in parts for load in part.busiest]
    blocked = [load for part in parts for load in part.most_blocked]
    return PortActivity(
        from_ps=min((part.from_ps for part in parts), default=0),
        at_ps=min((part.at_ps for part in parts), default=0),
        injected_bps=sum(part.injected_bps for part in parts),
        delivered_bps=sum(part.delivered_bps for part in parts),
        discarded_packets=sum(part.discarded_packets for part in parts),
        retransmitted_packets=sum(part.retransmitted_packets for part in parts),
        ports_down=sum(part.ports_down for part in parts),
        ports_blocked=sum(part.ports_blocked for part in parts),
        busiest=sorted(busiest, key=_by_load)[:most],
        most_blocked=sorted(blocked, key=lambda load: -load.waited)[:most],
    )


def _by_load(load: PortLoad) -> tuple[float, int]:
    """The busiest first, in full percent, and of those that are as busy the one with the longest queue."""
    return -round(load.sent_bps / load.rate_bps, 2), -load.queued_bytes
