# SPDX-License-Identifier: Apache-2.0
"""Go back to 0: after a loss the whole message is sent again, and what came of it is forgotten.

**Models**: docs/models/rocev2.md section 8 (Guo et al., SIGCOMM 2016, section 4.1: how it live-locks). A
message is acknowledged when it is whole.
**State**: ``RESPONDER.message_psn``.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.codes import Flag, PacketKind
from fabrictwin.engine.pools import give_packet
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import NOBODY
from fabrictwin.engine.transport import on_data, on_response, respond
from fabrictwin.jit import seldom_kernel


@seldom_kernel
def on_data_restarting(s: State, packet_index: int, now_ps: int) -> int:
    """A data packet at the responder, which takes it over; returns the port to serve."""
    packet = s.packet[packet_index]
    qp = np.int64(packet.qp)
    responder = s.responder[qp]
    if packet.psn < responder.message_psn:
        asks = packet.bits & Flag.ACK_REQUEST != 0
        s.port_more[packet.port].duplicates += 1
        give_packet(s, packet_index)
        return respond(s, qp, PacketKind.ACK, responder.message_psn - 1, False) if asks else NOBODY
    if packet.psn > responder.expected_psn or packet.psn == responder.message_psn:
        responder.expected_psn = responder.message_psn
    expected = responder.expected_psn + 0
    served = on_data(s, packet_index, now_ps)
    if responder.expected_psn > expected:
        _count_whole_messages(s, packet_index)
    give_packet(s, packet_index)
    return served


@seldom_kernel
def _count_whole_messages(s: State, packet_index: int) -> None:
    """Bytes count when the last packet of their message is in."""
    packet = s.packet[packet_index]
    responder = s.responder[packet.qp]
    if packet.bits & Flag.LAST:
        responder.bytes += (packet.psn - responder.message_psn) * s.par[0].mtu
        responder.message_psn = responder.expected_psn
    else:
        responder.bytes -= packet.payload


@seldom_kernel
def on_response_restarting(s: State, packet_index: int, now_ps: int) -> int:
    """A response at the requester's adapter; returns the port to serve. A NAK costs no retry."""
    packet = s.packet[packet_index]
    requester = s.requester[packet.qp]
    if packet.kind == PacketKind.NAK:
        requester.retries_left = s.hca[s.port[requester.port].node].retry_count
    return on_response(s, packet_index, now_ps)
