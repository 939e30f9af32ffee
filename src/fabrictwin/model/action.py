# SPDX-License-Identifier: Apache-2.0
"""Primitive changes of a running fabric: what every fault becomes before the engine applies it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from fabrictwin.model.fabric import PortRef


class ActionKind(IntEnum):
    """What changes; ``value`` is as described, on the port ``target``."""

    LINK_STATE = 0
    """Both ends of the cable at ``target`` go down (0) or up (1)."""
    LINK_RATE = 1
    """Both directions of the cable at ``target`` run at ``value`` bit/s."""
    LINK_ERROR = 2
    """Each packet on the cable at ``target`` is hit by a symbol error with probability value/2**32.

    -n: every n-th one is."""
    DRAIN_RATE = 3
    """The HCA behind ``target`` moves packets to memory at ``value`` bit/s; 0: stops; -1: at line rate."""
    RECEIVE_QUEUE = 4
    """The HCA behind ``target`` has receive work requests posted (1) or none (0: RNR NAK)."""
    SM_STATE = 5
    """The subnet manager on the node of ``target`` stops (0) or starts (1)."""
    SMA_STATE = 6
    """The node of ``target`` does not answer SMPs any more (0), or does again (1)."""
    SM_PRIORITY = 7
    """The subnet manager on the node of ``target`` has the priority ``value`` from now on."""
    SM_SWEEP = 8
    """The subnet manager on the node of ``target`` is told to begin a heavy sweep."""
    PFC_STORM = 9
    """The HCA behind ``target`` pauses priority value - 1 all the time; -value: it does no longer."""
    FLOODING = 10
    """The switch of ``target`` floods what is for the host behind that port (1), or no longer (0)."""


@dataclass(frozen=True, slots=True, order=True)
class Action:
    """One change at one fabric time.

    Attributes:
        at_ps: Fabric time at which it takes effect.
        kind: What changes.
        target: The port; for a cable either end.
        value: New value, as :class:`ActionKind` says.
        fault: Index of the scenario's fault that it belongs to.
    """

    at_ps: int
    kind: ActionKind
    target: PortRef
    value: int
    fault: int = -1
