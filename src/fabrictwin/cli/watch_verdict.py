# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a twin, in a few words, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fabrictwin.api.v1.common_pb2 import PortActivity, PortLoad
from fabrictwin.api.v1.director_pb2 import Fault, TwinState
from fabrictwin.cli.console import counted
from fabrictwin.cli.status import SERVING
from fabrictwin.cli.watch_feed import Watched
from fabrictwin.units import show_time

FULL = 0.95
"""A port that sends at this share of its rate has no room left."""
WAITS_MUCH = 0.25
"""Share of the time for which a port waits for credits that is worth a word."""
MOST_FAULTS = 3
MOST_SLOW = 2

BAD, WORRYING, GOOD = "bold red", "bold yellow", "green"


class Finding(NamedTuple):
    """Something that is worth a word.

    Attributes:
        text: The words.
        style: How bad it is.
    """

    text: str
    style: str


def find_problems(watched: Watched) -> list[Finding]:
    """What is wrong with a twin, or that nothing is."""
    return [*_problems(watched)] or [Finding("no faults, and hardly anybody waits for credits", GOOD)]


def _problems(watched: Watched) -> Iterator[Finding]:
    status = watched.status
    if watched.trouble:
        yield Finding(watched.trouble, BAD)
    if status.state == TwinState.TWIN_STATE_FAILED:
        yield Finding(f"the twin has failed: {status.error}", BAD)
    if status.deadlock_cycle:
        yield Finding(f"DEADLOCK: {len(status.deadlock_cycle)} outputs wait for each other in a circle", BAD)
    for service in status.services:
        if service.health != SERVING:
            since = f" for {service.silent_s:.0f} s" if service.silent_s >= 1 else ""
            yield Finding(f"{service.shard} is {service.health.replace('_', ' ')}{since}", BAD)
    for fault in watched.faults[:MOST_FAULTS]:
        yield Finding(f"{fault.id}: {fault.text}{_lease(fault, status.fabric_time_ps)}", BAD)
    if len(watched.faults) > MOST_FAULTS:
        yield Finding(f"and {counted(len(watched.faults) - MOST_FAULTS, 'more fault')}", BAD)
    if watched.activity is not None:
        yield from _port_problems(watched.activity)


def _lease(fault: Fault, now_ps: int) -> str:
    return "" if fault.end_ps < 0 else f", over in {show_time(max(0, fault.end_ps - now_ps))}"


def _port_problems(activity: PortActivity) -> Iterator[Finding]:
    if activity.ports_down:
        yield Finding(f"{counted(activity.ports_down, 'port')} down", BAD)
    if activity.discarded_packets or activity.retransmitted_packets:
        yield Finding(
            f"{counted(activity.discarded_packets, 'packet')} discarded, "
            f"{activity.retransmitted_packets:,} sent again",
            WORRYING,
        )
    waiting = [load for load in activity.most_blocked if load.waited >= WAITS_MUCH]
    for load in [load for load in waiting if load.peer_is_hca][:MOST_SLOW]:
        yield Finding(
            f"slow receiver: {load.peer} takes less than it is sent; {load.node}/{load.number} waits "
            f"{min(1.0, load.waited):.0%} of the time",
            BAD,
        )
    if waiting:
        worst = waiting[0]
        yield Finding(
            f"credit stalls: {name_port(worst)} waits {min(1.0, worst.waited):.0%} of the time"
            f"{_and_more(waiting)}{_full_ports(activity)}",
            WORRYING,
        )


def _and_more(waiting: list[PortLoad]) -> str:
    return f", and {counted(len(waiting) - 1, 'more port')}" if len(waiting) > 1 else ""


def _full_ports(activity: PortActivity) -> str:
    """Where it comes from: ports that others send to faster than they can send on."""
    full = [load for load in activity.busiest if share(load) >= FULL and load.queued_bytes]
    return f"; full: {name_port(max(full, key=lambda load: load.queued_bytes))}" if full else ""


def share(load: PortLoad) -> float:
    """Share of its rate at which a port sends."""
    return load.sent_bps / load.rate_bps if load.rate_bps else 0.0


def name_port(load: PortLoad) -> str:
    """``leaf0/5 → spine0/1``."""
    return f"{load.node}/{load.number} → {load.peer or '-'}"
