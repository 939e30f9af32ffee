# SPDX-License-Identifier: Apache-2.0
"""Finding events of a result: by kind, by the node that they are about, by what their text holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Event = Mapping[str, Any]

FABRIC_EVENTS = (
    *("link_down", "link_up", "link_rate", "link_error", "drain_rate", "receive_queue", "lft_write"),
    *("qp_error", "vl_stalled", "first_packet", "pfc_storm", "pfc_restored", "nic_storm"),
    "flooding",
)
SUBNET_EVENTS = (
    *("trap_sent", "trap", "trap_lost", "light_sweep", "sweep", "swept", "routed", "lft_written"),
    *("subnet_up", "smp_timeout", "sm_state", "poll_missed", "takeover", "handover", "bfd_down"),
    *("bfd_up", "converged"),
)
EVENT_KINDS = (*FABRIC_EVENTS, *SUBNET_EVENTS)
"""Kinds of events of a result; a contract test holds them against what the engine and the managers say."""


def find_events(events: Iterable[Event], kind: str, node: str = "", text: str = "") -> list[Event]:
    """The events of a kind.

    Args:
        events: All events.
        kind: The kind.
        node: Name of the node that they are about; empty: any.
        text: What their text holds; empty: anything.
    """
    return [
        event
        for event in events
        if event["kind"] == kind and node in ("", event.get("node", "")) and text in event.get("text", "")
    ]


def say_event(event: Event) -> str:
    """An event in words."""
    place = event.get("node", "")
    if place and event.get("port"):
        place = f"{place}/{event['port']}"
    rest = event.get("text") or (f"value={event['value']}" if "value" in event else "")
    return " ".join(filter(None, (event["kind"], place, rest)))
