# SPDX-License-Identifier: Apache-2.0
"""From a snapshot of a RoCE fabric to the values of what only RoCE has: PFC, buffers, ECN, DCQCN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fabrictwin.engine.plan import PRIORITIES
from fabrictwin.telemetry.snapshot import EthernetSnapshot, Snapshot

Column = Callable[[Snapshot], np.ndarray]
"""Reads the values of a metric, one for each row."""

_BITS_PER_BYTE = 8
_ALPHA_BITS = 30
_PPM = 10**6


def _rows(snapshot: Snapshot) -> EthernetSnapshot:
    if snapshot.ethernet is None:
        raise ValueError("an InfiniBand fabric has no rows of RoCE")
    return snapshot.ethernet


def _of_priorities(snapshot: Snapshot, values: np.ndarray) -> np.ndarray:
    """[n * priorities] without those of management, which come last at each port."""
    return np.asarray(values.reshape(len(snapshot.port), -1)[:, :PRIORITIES].ravel(), np.int64)


def _lane(field: str) -> Column:
    return lambda s: _of_priorities(s, _rows(s).lane[field])


def _lane_more(field: str) -> Column:
    return lambda s: _of_priorities(s, _rows(s).lane_more[field])


def _of_switches(array: str, field: str) -> Column:
    return lambda s: np.asarray(getattr(_rows(s), array)[field])


def _is_paused(snapshot: Snapshot) -> np.ndarray:
    return _of_priorities(snapshot, _rows(snapshot).lane.until_ps != 0)


def _paused_ps(snapshot: Snapshot) -> np.ndarray:
    """A pause that is still going on counts."""
    lane = _rows(snapshot).lane
    now_ps = np.maximum(snapshot.now_ps - lane.paused_at_ps, 0)
    return _of_priorities(snapshot, lane.paused_ps + np.where(lane.until_ps != 0, now_ps, 0))


def paused_with_packets_ps(snapshot: Snapshot) -> np.ndarray:
    """[n * priorities] how long a priority has been paused with a packet to send."""
    lane = _rows(snapshot).lane
    since_ps = np.maximum(lane.paused_at_ps, lane.departed_ps)
    is_blocked = (lane.until_ps != 0) & (snapshot.pv.ring_count > 0)
    return _of_priorities(snapshot, np.where(is_blocked, np.maximum(snapshot.now_ps - since_ps, 0), 0))


def _restored(snapshot: Snapshot) -> np.ndarray:
    """Each storm that was found and is not going on has been restored."""
    return _lane_more("storms_found")(snapshot) - _lane("drops")(snapshot)


def _cnps_sent(snapshot: Snapshot) -> np.ndarray:
    return snapshot.sum_by_port(snapshot.responder.port, _rows(snapshot).notification.cnps_sent)


def _cnps_handled(snapshot: Snapshot) -> np.ndarray:
    return snapshot.sum_by_port(snapshot.requester.port, _rows(snapshot).reaction.cnps)


def _by_port(snapshot: Snapshot, choose: Any, start: np.ndarray, values: np.ndarray) -> np.ndarray:
    chosen = start.copy()
    choose.at(chosen, snapshot.layout.position_of[snapshot.requester.port], values)
    return chosen


def _line_rates(snapshot: Snapshot) -> np.ndarray:
    """[n] line rate of the queue pairs of each port, 0: it has none."""
    nothing = np.zeros(len(snapshot.port), np.int64)
    return _by_port(snapshot, np.maximum, nothing, _rows(snapshot).reaction.line_bps) // _BITS_PER_BYTE


def _least_rates(snapshot: Snapshot) -> np.ndarray:
    rates = _rows(snapshot).reaction.rate_bps // _BITS_PER_BYTE
    return _by_port(snapshot, np.minimum, _line_rates(snapshot), rates)


def _mean_rates(snapshot: Snapshot) -> np.ndarray:
    rates = snapshot.sum_by_port(snapshot.requester.port, _rows(snapshot).reaction.rate_bps)
    pairs = snapshot.sum_by_port(snapshot.requester.port, np.ones(len(snapshot.requester), np.int64))
    return np.asarray(rates // np.maximum(pairs, 1) // _BITS_PER_BYTE)


def _greatest_alphas(snapshot: Snapshot) -> np.ndarray:
    reaction = _rows(snapshot).reaction
    alphas_ppm = np.where(reaction.limited == 1, reaction.alpha_q30 * _PPM >> _ALPHA_BITS, 0)
    return _by_port(snapshot, np.maximum, np.zeros(len(snapshot.port), np.int64), alphas_ppm)


ETHERNET_COLUMNS: dict[str, Column] = {
    "pauses_sent": _lane_more("pauses_sent"),
    "pauses_heard": _lane_more("pauses_heard"),
    "pfc_paused_ps": _paused_ps,
    "is_paused": _is_paused,
    "is_pausing": _lane("pausing"),
    "headroom_bytes": _lane("headroom_bytes"),
    "headroom_size_bytes": _lane("headroom_size_bytes"),
    "peak_headroom_bytes": _lane_more("peak_headroom_bytes"),
    "lossless_drops": _lane_more("lossless_drops"),
    "lossy_drops": _lane_more("lossy_drops"),
    "watchdog_drops": _lane("drops"),
    "storms_found": _lane_more("storms_found"),
    "storms_restored": _restored,
    "storm_drops": _lane_more("storm_drops"),
    "group_bytes": _lane("held_bytes"),
    "peak_queue_bytes": _lane("peak_bytes"),
    "buffer_used_bytes": _of_switches("buffer", "used_bytes"),
    "buffer_peak_bytes": _of_switches("buffer", "peak_bytes"),
    "buffer_size_bytes": _of_switches("buffer_rule", "shared_bytes"),
    "cnps_sent": _cnps_sent,
    "cnps_handled": _cnps_handled,
    "rate_least": _least_rates,
    "rate_mean": _mean_rates,
    "alpha_greatest_ppm": _greatest_alphas,
}
"""What a metric of RoCE can be read from."""
