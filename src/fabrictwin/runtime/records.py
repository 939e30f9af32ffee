# SPDX-License-Identifier: Apache-2.0
"""The record layouts of the bus: what the packed bytes of a batch mean.

A layout never changes: a new field makes a new version. Packets and FCPs travel as the engine holds them,
since leaving out what the other side does not need would save a tenth of the bytes and cost a copy. The
tables of ``docs/bus.md`` come from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fabrictwin.bus.v1 import window_pb2 as pb


class Field(NamedTuple):
    """One field of a layout.

    Attributes:
        name: Its name.
        type: Its numpy type, little-endian.
        unit: Its unit; empty for numbers without one.
        meaning: What it holds.
    """

    name: str
    type: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Layout:
    """The layout of the records of one kind.

    Attributes:
        name: Name of the kind.
        kind: Its number in ``RecordKind``.
        version: Version of the layout.
        meaning: What one record is.
        fields: Its fields in order; none for lines of JSON.
        packed: Without gaps; otherwise each field stands at a multiple of its size, and the end is padded.
    """

    name: str
    kind: pb.RecordKind.ValueType
    version: int
    meaning: str
    fields: tuple[Field, ...] = ()
    packed: bool = False

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The structure as numpy has it."""
        return np.dtype([(field.name, field.type) for field in self.fields], align=not self.packed)

    @cached_property
    def size(self) -> int:
        """Bytes of a record."""
        return self.dtype.itemsize


_AT = "fabric time at which it takes effect"

LAYOUTS = (
    Layout(
        "packet",
        pb.RECORD_KIND_PACKET,
        2,
        "a packet on a link between two shards",
        (
            Field(
                "start_ps",
                "<i8",
                "ps",
                "start of its first byte on the link, the first time if it is repeated",
            ),
            Field("head_in_ps", "<i8", "ps", "arrival of its first byte at the receiving port"),
            Field("posted_ps", "<i8", "ps", "when its message was posted"),
            Field("psn", "<i8", "", "packet sequence number, not wrapped to 24 bits"),
            Field("ser_ps", "<i4", "ps", "its wire time on the link"),
            Field("qp", "<i4", "", "index of the queue pair that it belongs to"),
            Field("port", "<i4", "", "index of the receiving port"),
            Field("next", "<i4", "", "of no meaning on the bus"),
            Field("dlid", "<u2", "", "destination LID"),
            Field("payload", "<u2", "bytes", "message bytes that it carries"),
            Field("wire", "<u2", "bytes", "its length on the wire"),
            Field(
                "blocks", "<i2", "credit blocks", "room in the receiver's buffer; on RoCE HPCC's telemetry"
            ),
            Field("kind", "|i1", "", "0 DATA, 1 ACK, 2 NAK, 3 RNR NAK, 4 CNP, 5 MANAGEMENT"),
            Field(
                "bits",
                "|i1",
                "",
                "1 first, 2 last, 4 acknowledge request, 8 FECN, 16 BECN, 32 corrupted, 64 CE",
            ),
            Field("sl", "|i1", "", "service level"),
            Field("vl", "|i1", "", "virtual lane; the last one stands for VL15"),
            Field("hits", "|i1", "", "symbol errors on the link"),
            Field("ttl", "|i1", "", "RoCE: routers that it may still pass"),
            Field("entropy", "<u2", "", "RoCE: UDP source port"),
        ),
    ),
    Layout(
        "fcp",
        pb.RECORD_KIND_FCP,
        1,
        "a flow-control packet for one VL of a port, or a PFC frame for one priority",
        (
            Field("arrival_ps", "<i8", "ps", "arrival of its last byte"),
            Field("pv", "<i4", "", "port index * VLs + VL of the data sender that hears it"),
            Field(
                "value",
                "<i4",
                "credit blocks",
                "FCCL, modulo 4096; for a re-synchronisation the blocks lost; of a PFC frame pause quanta",
            ),
            Field(
                "kind",
                "<i4",
                "",
                "0 update, 1 re-synchronisation, 2 lost on the link, 3 link initialisation, 4 PFC frame",
            ),
        ),
    ),
    Layout(
        "notice",
        pb.RECORD_KIND_NOTICE,
        1,
        "something that has changed at a port, as its agent reports it",
        (
            Field("at_ps", "<i8", "ps", "when it changed"),
            Field("node", "<i4", "", "node index"),
            Field("port", "<i4", "", "port number, from 1; of a cable either end, or both"),
            Field("kind", "<i4", "", "what changed: 0 link state; others as `ActionKind` numbers them"),
            Field("value", "<i8", "", "the new value; of a link 0 down, 1 up"),
        ),
        packed=True,
    ),
    Layout(
        "lft_write",
        pb.RECORD_KIND_LFT_WRITE,
        1,
        "a block of a linear forwarding table, as the subnet manager writes it",
        (
            Field("at_ps", "<i8", "ps", _AT),
            Field("node", "<i4", "", "node index of the switch"),
            Field("block", "<i4", "", "number of the block: LIDs 64 * block and on"),
            Field("ports", "|V64", "", "output port of each LID, one byte each; 255: discard"),
        ),
        packed=True,
    ),
    Layout(
        "sm_message",
        pb.RECORD_KIND_SM_MESSAGE,
        1,
        "what one subnet manager says to another",
        (
            Field("at_ps", "<i8", "ps", "when it arrives; of a block when it is in use"),
            Field(
                "kind",
                "<i4",
                "",
                "0 get SMInfo, 1 response, 2 handover, 3 acknowledge, 4 trap 144, 5 LFT block",
            ),
            Field("state", "<i4", "", "SMInfo state of the sender"),
            Field("priority", "<i4", "", "priority of the sender, 0 to 15"),
            Field("guid", "<u8", "", "port GUID of the sender"),
            Field("node", "<i4", "", "node index of a switch"),
            Field("block", "<i4", "", "number of a block"),
            Field("ports", "|V64", "", "output port of each LID of the block, one byte each"),
        ),
        packed=True,
    ),
    Layout(
        "reaction",
        pb.RECORD_KIND_REACTION,
        1,
        "what an HCA and its reaction point say to each other: a BECN, or the CCTI to use",
        (
            Field("time_ps", "<i8", "ps", _AT),
            Field("entity", "<i4", "", "index of the rate-controlled entity: a queue pair, or a port and SL"),
            Field("value", "<i4", "", "from an HCA without meaning; to it the CCTI to use from then on"),
        ),
    ),
    Layout(
        "command",
        pb.RECORD_KIND_COMMAND,
        1,
        "a line of JSON, ended by a line feed: a command of the director, as in the command log; to the "
        "director a line of the event log",
    ),
    Layout(
        "report",
        pb.RECORD_KIND_REPORT,
        1,
        "how far a logical process is",
        (
            Field("reached_ps", "<i8", "ps", "fabric time that it has reached"),
            Field("next_event_ps", "<i8", "ps", "time of its next event; 2^62 - 1: none"),
            Field("last_live_ps", "<i8", "ps", "time of its last event that was not a timer"),
            Field(
                "blocked_since_ps", "<i8", "ps", "since when its traffic makes no progress; 2^62 - 1: it does"
            ),
            Field("outstanding", "<i8", "", "messages posted and neither acknowledged nor failed"),
            Field("events", "<i8", "", "events handled"),
            Field("packet_hops", "<i8", "", "packets put on links"),
            Field("said", "<i8", "", "records said to other processes but the director"),
            Field("heard", "<i8", "", "records heard from them"),
            Field("asked", "<i8", "", "number of the last question of the director that this answers"),
            Field("idle", "|i1", "", "1: nothing is under way here"),
        ),
    ),
    Layout(
        "route_write",
        pb.RECORD_KIND_ROUTE_WRITE,
        1,
        "RoCE: the outputs of equal cost of a switch towards a destination, as its routing protocol has them",
        (
            Field("at_ps", "<i8", "ps", _AT),
            Field("node", "<i4", "", "node index of the switch"),
            Field("lid", "<i4", "", "number of the destination"),
            Field("ports", "|V32", "", "bit n is set if port n is an output; none: discard"),
        ),
        packed=True,
    ),
)
"""Every layout, in the order of its kind."""

BY_NAME = {layout.name: layout for layout in LAYOUTS}
BY_KIND = {int(layout.kind): layout for layout in LAYOUTS}
COMMAND = BY_NAME["command"]


def read_dtype(description: Any) -> np.dtype[Any]:
    """The type that ``numpy.lib.format.dtype_to_descr`` has described; JSON made lists of its tuples."""

    def tuples(value: Any) -> Any:
        if isinstance(value, list) and value and isinstance(value[0], list):
            return [tuple(tuples(part) for part in field) for field in value]
        return tuple(value) if isinstance(value, list) else value

    return np.lib.format.descr_to_dtype(tuples(description))
