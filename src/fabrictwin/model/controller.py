# SPDX-License-Identifier: Apache-2.0
"""How a controller, such as a subnet manager, is run beside the fabric: what it hears, and what it says.

A controller is a logical process of its own. It knows only what it has heard, and says everything some time
before it has an effect; whoever runs it (one process or several over a bus) carries the records and decides
how far it may go. The same records travel in every case, in the layouts given here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabrictwin.model.action import Action, ActionKind

NEVER_PS = (1 << 62) - 1
"""A time that does not come."""

LFT_BLOCK_BYTES = 64
PORT_SET_BYTES = 32
"""A bit for each of 256 port numbers."""

DIRECT_KINDS = frozenset(
    {ActionKind.SM_STATE, ActionKind.SMA_STATE, ActionKind.SM_PRIORITY, ActionKind.SM_SWEEP}
)
"""Actions that concern controllers only. They do not pass through the engine: every controller is told of
them by whoever schedules them, before it is let past their time."""


class Notice(NamedTuple):
    """Something that has changed at a port.

    Attributes:
        at_ps: When it changed.
        node: Node index.
        port: Port number; of a cable either end, or both.
        kind: An :class:`~fabrictwin.model.action.ActionKind`.
        value: Its value.
    """

    at_ps: int
    node: int
    port: int
    kind: int
    value: int

    @classmethod
    def of(cls, action: Action) -> Notice:
        """What an action changes."""
        return cls(action.at_ps, action.target.node, action.target.port, int(action.kind), action.value)


class Bulletin:
    """The actions of :data:`DIRECT_KINDS`, told when they are due and no earlier.

    So what is called off before its time has never been told.

    Args:
        actions: The actions of the scenario.
    """

    def __init__(self, actions: Iterable[Action]) -> None:
        self._told_ps = 0
        self.change(actions)

    def change(self, actions: Iterable[Action]) -> None:
        """The scenario has other actions now, from a fabric time on up to which all were told."""
        self._notices = sorted(Notice.of(action) for action in actions if action.kind in DIRECT_KINDS)

    @property
    def next_ps(self) -> int:
        """When something is due next; ``NEVER_PS`` if nothing is."""
        at = bisect_left(self._notices, (self._told_ps,))
        return self._notices[at].at_ps if at < len(self._notices) else NEVER_PS

    def take(self, to_ps: int) -> list[Notice]:
        """What is due before a fabric time, and was not taken yet."""
        first = bisect_left(self._notices, (self._told_ps,))
        last = bisect_left(self._notices, (to_ps,))
        self._told_ps = max(self._told_ps, to_ps)
        return self._notices[first:last]


class LftWrite(NamedTuple):
    """One block of a forwarding table, as an SMP writes it.

    Attributes:
        at_ps: Fabric time from which the switch uses it.
        node: Node index of the switch.
        block: Number of the block.
        ports: 64 output ports.
    """

    at_ps: int
    node: int
    block: int
    ports: bytes


class RouteWrite(NamedTuple):
    """The outputs of equal cost towards one destination, as a RoCE switch's routing protocol writes them.

    Attributes:
        at_ps: Fabric time from which the switch uses them.
        node: Node index of the switch.
        lid: Number of the destination.
        ports: Bit *n* of the bytes (little-endian) is set if port *n* is one; none: discard.
    """

    at_ps: int
    node: int
    lid: int
    ports: bytes


def pack_ports(ports: Iterable[int]) -> bytes:
    """Port numbers as the bits of :attr:`RouteWrite.ports`."""
    return sum(1 << port for port in ports).to_bytes(PORT_SET_BYTES, "little")


def unpack_ports(packed: bytes) -> tuple[int, ...]:
    """The port numbers in :attr:`RouteWrite.ports`, ascending."""
    bits = int.from_bytes(packed, "little")
    return tuple(port for port in range(bits.bit_length()) if bits >> port & 1)


class PeerKind(IntEnum):
    """What a controller tells another one of its kind."""

    GET = 0
    """SubnGet(SMInfo)."""
    RESPONSE = 1
    """SubnGetResp(SMInfo)."""
    HANDOVER = 2
    """SubnSet(SMInfo), attribute modifier HANDOVER."""
    ACKNOWLEDGE = 3
    """SubnSet(SMInfo), attribute modifier ACKNOWLEDGE."""
    TRAP_144 = 4
    """Capability mask or SM priority changed."""
    LFT_BLOCK = 5
    """A block that the sender writes: what the receiver would read from the switch."""


class PeerMessage(NamedTuple):
    """What a controller tells another one.

    Attributes:
        at_ps: When it arrives; for ``LFT_BLOCK`` when the block is in use.
        kind: A :class:`PeerKind`.
        state: The sender's SMInfo state.
        priority: The sender's priority.
        guid: The sender's port GUID.
        node: Node index of a switch.
        block: Number of a block.
        ports: 64 output ports.
    """

    at_ps: int
    kind: int
    state: int
    priority: int
    guid: int
    node: int = -1
    block: int = 0
    ports: bytes = bytes(LFT_BLOCK_BYTES)


class SubnetEvent(NamedTuple):
    """One line of the event log.

    Attributes:
        at_ps: Fabric time.
        kind: What happened.
        text: In words.
        manager: Number of the manager; of lines of one fabric time the lowest number comes first.
    """

    at_ps: int
    kind: str
    text: str
    manager: int


NOTICE = np.dtype([("at_ps", "<i8"), ("node", "<i4"), ("port", "<i4"), ("kind", "<i4"), ("value", "<i8")])
LFT_WRITE = np.dtype([("at_ps", "<i8"), ("node", "<i4"), ("block", "<i4"), ("ports", f"V{LFT_BLOCK_BYTES}")])
ROUTE_WRITE = np.dtype([("at_ps", "<i8"), ("node", "<i4"), ("lid", "<i4"), ("ports", f"V{PORT_SET_BYTES}")])
PEER_MESSAGE = np.dtype(
    [
        ("at_ps", "<i8"),
        ("kind", "<i4"),
        ("state", "<i4"),
        ("priority", "<i4"),
        ("guid", "<u8"),
        ("node", "<i4"),
        ("block", "<i4"),
        ("ports", f"V{LFT_BLOCK_BYTES}"),
    ]
)
"""Layouts of the records on the bus: the fields of the tuples of the same name, in order."""


def pack_records(records: Sequence[tuple[Any, ...]], layout: np.dtype[Any]) -> NDArray[Any]:
    """Tuples as an array of one of the layouts above."""
    return np.array([tuple(record) for record in records], layout)


def unpack_notices(records: NDArray[Any]) -> list[Notice]:
    """Tuples from an array in the layout ``NOTICE``."""
    return [Notice(*record) for record in records.tolist()]


def unpack_lft_writes(records: NDArray[Any]) -> list[LftWrite]:
    """Tuples from an array in the layout ``LFT_WRITE``."""
    return [LftWrite(*record) for record in records.tolist()]


def unpack_route_writes(records: NDArray[Any]) -> list[RouteWrite]:
    """Tuples from an array in the layout ``ROUTE_WRITE``."""
    return [RouteWrite(*record) for record in records.tolist()]


def unpack_peer_messages(records: NDArray[Any]) -> list[PeerMessage]:
    """Tuples from an array in the layout ``PEER_MESSAGE``."""
    return [PeerMessage(*record) for record in records.tolist()]


@dataclass
class Spoken:
    """What a controller has said since it was last asked.

    Attributes:
        writes: Blocks of forwarding tables, in order of time.
        routes: Routes of RoCE switches, in order of time.
        messages: Messages to other controllers, by their number.
        events: Lines for the event log, not in order of time.
    """

    writes: list[LftWrite] = field(default_factory=list)
    routes: list[RouteWrite] = field(default_factory=list)
    messages: dict[int, list[PeerMessage]] = field(default_factory=dict)
    events: list[SubnetEvent] = field(default_factory=list)


class Controller(Protocol):
    """A controller in fabric time.

    Attributes:
        notice_lookahead_ps: A notice of a change at t must be heard before ``advance`` goes past t + this: a
            shard that has come to t promises t + this to the controller. ``DIRECT_KINDS`` must be heard
            before ``advance`` goes past t.
        lookahead_ps: Writes take effect no earlier than this after the time reached.
        peer_lookahead_ps: Messages must be heard no earlier than this after the time that their sender has
            reached: a controller that has come to t promises t + this to the others.
    """

    notice_lookahead_ps: int
    lookahead_ps: int
    peer_lookahead_ps: int

    @property
    def next_ps(self) -> int:
        """Fabric time past which ``advance`` must go for something to happen by itself; ``NEVER_PS`` if
        nothing will."""

    def hear(self, notices: Iterable[Notice]) -> None:
        """Takes in notices; they may come early, and twice."""

    def hear_peer(self, number: int, messages: Iterable[PeerMessage]) -> None:
        """Takes in what another controller has said."""

    def advance(self, to_ps: int) -> None:
        """Does everything before a fabric time."""

    def speak(self) -> Spoken:
        """What there is to say; empties the outbox."""
