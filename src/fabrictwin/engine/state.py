# SPDX-License-Identifier: Apache-2.0
"""The state of a fabric in motion: records in arrays, one array for each kind of thing.

Indices: ``port`` runs over every port of every node; ``pv = vl * ports + port``, where the last VL stands for
VL15 (``port_vl.py``);
``voq = ports[out].voq0 + vl * node ports + (input port number - 1)``. Times are in ps, sizes in bytes or in
credit blocks. Pools (packets, messages, cells, events) are linked lists through ``next``, -1 ends one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fabrictwin.errors import FabricTwinError

NODE = np.dtype(
    [
        ("forwarding_ps", "i8"),
        ("hoq_ps", "i8"),
        ("leaf_hoq_ps", "i8"),
        ("tx_latency_ps", "i8"),
        ("rx_latency_ps", "i8"),
        ("port0", "i4"),  # index of its port 1
        ("ports", "i4"),  # up to the last one that is cabled
        ("switch", "i4"),  # row in the LFTs, -1: an HCA
        ("stall_count", "i2"),
        ("stores", "i1"),  # store-and-forward
        ("fcp_gap_ps", "i8"),  # between the starts of two FCPs of a VL
    ],
    align=True,
)

PORT = np.dtype(  # a port as sender: one cache line
    [
        ("tx_free_ps", "i8"),  # end of the last packet or FCP
        ("data_free_ps", "i8"),  # end of the last packet
        ("xmit_bytes", "i8"),
        ("xmit_pkts", "i8"),
        ("fs_per_byte", "i4"),
        ("delay_ps", "i4"),  # first byte out to first byte in
        ("peer", "i4"),  # port at the other end, -1: not cabled
        ("peer_node", "i4"),
        ("node", "i4"),
        ("voq0", "i4"),  # -1: an HCA's port
        ("vl_mask", "u2"),  # data VLs that have a candidate
        ("up", "i1"),
        ("peer_is_hca", "i1"),
        ("remote", "i1"),  # the other end belongs to another shard
        ("odd", "i1"),  # bits of Odd
        ("flapped", "i1"),  # its link has been down
        ("planned", "i1"),  # a PORT_FREE event is under way
    ],
    align=True,
)

PORT_MORE = np.dtype(  # what is seldom needed of a port
    [
        ("down_at_ps", "i8"),  # the last time that its link went down
        ("up_at_ps", "i8"),
        ("xmit_wait_ps", "i8"),  # time that a candidate has waited for credits
        ("fecn_marked", "i8"),
        ("fecn_received", "i8"),
        ("becn_received", "i8"),
        ("xmit_discards", "i8"),
        ("symbol_errors", "i8"),
        ("integrity_errors", "i8"),
        ("rcv_errors", "i8"),
        ("relay_errors", "i8"),
        ("downed", "i8"),
        ("vl15_dropped", "i8"),
        ("ecn_received", "i8"),  # RoCE: data packets with CE
        ("out_of_sequence", "i8"),  # data packets ahead of what is expected
        ("duplicates", "i8"),  # data packets that have been received before
        ("sequence_naks", "i8"),  # NAKs that a requester has heard
        ("rnr_naks", "i8"),
        ("ack_timeouts", "i8"),
        ("limit_left", "i8"),  # VL arbitration
        ("high_at", "i4"),
        ("high_left", "i4"),
        ("low_at", "i4"),
        ("low_left", "i4"),
        ("error_below", "i8"),  # a draw of 32 bits below this is a symbol error; -n: every n-th packet is hit
        ("jitter_ps", "i8"),  # FEC codeword, 0: no jitter
        ("last_tail_ps", "i8"),
        ("drain_fs", "i8"),  # fs per byte to memory; -1: at line rate, 0: stopped
        ("drain_head", "i4"),
        ("drain_tail", "i4"),
        ("draining", "i4"),  # packet that is being moved, -1: none
        ("vl15_blocks", "i4"),  # capacity of the VL15 buffer
        ("moved", "i4"),  # entries of the forwarding table that lead here now and no packet has followed
        ("victim_mask", "i1"),  # marks although it is a victim
        ("drains", "i1"),  # data packets go through the drain queue
        ("receives", "i1"),  # receive work requests are posted
        ("floods", "i1"),  # RoCE: the MAC address of the host behind it is forgotten
        ("llr", "i1"),
    ],
    align=True,
)

PV = np.dtype(  # a VL of a port as sender: one cache line
    [
        ("credit_at_ps", "i8"),  # time of its CREDIT event, NEVER: none
        ("blocked_at_ps", "i8"),
        ("head_since_ps", "i8"),
        ("fcp_ps", "i8"),  # arrival of the next FCP, NEVER: none is on its way
        ("fcp_head", "i4"),  # FCPs behind it: cells (arrival, FCCL)
        ("ring_head", "i4"),  # VOQs (switch) or queue pairs (HCA) that have something to send
        ("ring_tail", "i4"),
        ("ring_count", "i4"),
        ("waiting_blocks", "i4"),
        ("fctbs", "i2"),
        ("fccl", "i2"),
        ("fcp_fccl", "i2"),
        ("block_shift", "i1"),  # log2 of the credit block of the buffer at the other end
        ("blocked", "i1"),  # the candidate waits for credits
        ("starved", "i1"),  # it did since the last packet left
        ("care", "i1"),  # bits of PvCare
    ],
    align=True,
)

PV_INPUT = np.dtype(  # a VL of a port as receiver: one cache line
    [
        ("last_fcp_ps", "i8"),
        ("due_ps", "i8"),  # when the first freed blocks are due, NEVER: none are
        ("rcv_bytes", "i8"),
        ("rcv_pkts", "i8"),
        ("due_blocks", "i4"),
        ("due_head", "i4"),  # freed blocks behind them: cells (time, blocks) by time
        ("due_tail", "i4"),
        ("held_blocks", "i4"),
        ("fcps", "i4"),
        ("advertised", "i2"),  # FCCL as it would be without what is due
        ("cap", "i2"),
        ("number", "u1"),  # of the port
        ("flapped", "i1"),  # its link has been down
        ("wanted", "i1"),  # the sender waits and knows of no FCP to come
        ("eager", "i1"),  # blocks are lost: send FCPs by events
        ("refresh", "i1"),  # an FCP is due only because something was lost
    ],
    align=True,
)

PV_MORE = np.dtype(  # what is seldom needed of a VL of a port
    [
        ("fifo_head", "i4"),  # responses (HCA), VL15 packets
        ("fifo_tail", "i4"),
        ("stalled_until_ps", "i8"),
        ("discards_in_row", "i4"),
        ("mark_above", "i4"),  # FECN threshold, blocks
        ("unmarked", "i4"),
        ("lost_blocks", "i4"),
        ("departures", "i8"),  # packets that have left, if its arbiter draws
    ],
    align=True,
)

VOQ = np.dtype(
    [
        ("head", "i4"),
        ("tail", "i4"),
        ("next", "i4"),
        ("wire", "i4"),  # of the packet at its head
    ],
    align=True,
)

CELL = np.dtype([("time_ps", "i8"), ("value", "i4"), ("next", "i4")], align=True)

PACKET = np.dtype(  # one cache line
    [
        ("start_ps", "i8"),
        ("head_in_ps", "i8"),
        ("posted_ps", "i8"),
        ("psn", "i8"),
        ("ser_ps", "i4"),  # wire time on the link that it came by
        ("qp", "i4"),
        ("port", "i4"),  # port it came in by, -1: made here
        ("next", "i4"),
        ("dlid", "u2"),
        ("payload", "u2"),
        ("wire", "u2"),
        ("blocks", "i2"),  # in the buffer it stands in; RoCE with HPCC: use of the busiest link, in 1/256
        ("kind", "i1"),
        ("bits", "i1"),
        ("sl", "i1"),
        ("vl", "i1"),
        ("hits", "i1"),  # symbol errors on its last link
        ("ttl", "i1"),  # RoCE: routers that it may still pass
        ("entropy", "u2"),  # RoCE: its UDP source port
    ],
    align=True,
)

LANE = np.dtype(  # RoCE, a priority of a port: paused as sender, a priority group as receiver; one line
    [
        ("until_ps", "i8"),  # paused until then, 0: not
        ("paused_at_ps", "i8"),
        ("paused_ps", "i8"),  # time that it has been paused, up to ``paused_at_ps``
        ("departed_ps", "i8"),  # when a packet left last, or came into the empty queue
        ("held_bytes", "i4"),  # of the priority group, outside its headroom
        ("headroom_bytes", "i4"),  # in use
        ("headroom_size_bytes", "i4"),
        ("reserve_bytes", "i4"),
        ("peak_bytes", "i4"),  # most that has waited for this output
        ("pausing", "i1"),  # the peer is paused
        ("refreshing", "i1"),  # a PFC_REFRESH event is under way
        ("lossless", "i1"),
        ("storms", "i1"),  # an adapter that pauses its peer without need
        ("watched", "i1"),  # a WATCHDOG event is under way
        ("drops", "i1"),  # the watchdog has found a storm
    ],
    align=True,
)

LANE_MORE = np.dtype(  # what is seldom needed of a priority of a port
    [
        ("pauses_sent", "i8"),
        ("pauses_heard", "i8"),
        ("heard_ps", "i8"),  # when the last one took effect
        ("lossless_drops", "i8"),  # for want of headroom
        ("lossy_drops", "i8"),  # where a lossy priority found no room
        ("peak_headroom_bytes", "i8"),
        ("storms_found", "i8"),  # by the watchdog
        ("storm_drops", "i8"),
    ],
    align=True,
)

BUFFER = np.dtype([("used_bytes", "i8"), ("peak_bytes", "i8")], align=True)

BUFFER_RULE = np.dtype(  # RoCE, of a node
    [
        ("shared_bytes", "i8"),
        ("alpha_q16", "i8"),  # dynamic threshold, 0: no limit but the pool
        ("egress_alpha_q16", "i8"),
        ("xon_offset_bytes", "i8"),
        ("kmin_bytes", "i8"),
        ("kmax_bytes", "i8"),
        ("pmax_q16", "i8"),  # 0: no marking
        ("response_ps", "i8"),  # from a PFC frame's last byte to its effect
        ("quanta", "i8"),
        ("hash_seed", "i8"),
        ("watch_ps", "i8"),  # the watchdog looks so often, 0: never
        ("detection_ps", "i8"),
        ("restoration_ps", "i8"),
    ],
    align=True,
)

GROUP = np.dtype([("first", "i4"), ("count", "i4")], align=True)
FLOWLET = np.dtype([("key", "i8"), ("last_ps", "i8"), ("out", "i4")], align=True)

RATE = np.dtype(  # a queue pair's rate, and what DCQCN's reaction and notification point know
    [
        ("rate_bps", "i8"),
        ("target_bps", "i8"),
        ("line_bps", "i8"),
        ("alpha_q30", "i8"),
        ("alpha_at_ps", "i8"),  # up to which alpha is worked out
        ("raise_at_ps", "i8"),  # next end of the rate timer
        ("cut_at_ps", "i8"),  # the last cut
        ("bytes_left", "i8"),  # of the byte counter
        ("timer_stage", "i4"),
        ("byte_stage", "i4"),
        ("cnps", "i8"),  # heard
        ("cnp_at_ps", "i8"),  # the last one sent (notification point)
        ("cnps_sent", "i8"),
        ("limited", "i1"),  # the rate is below the link's
    ],
    align=True,
)

RATE_RULE = np.dtype(
    [
        ("cnp_interval_ps", "i8"),
        ("alpha_timer_ps", "i8"),
        ("g_q30", "i8"),
        ("rate_timer_ps", "i8"),
        ("byte_counter", "i8"),
        ("threshold", "i8"),
        ("rate_ai_bps", "i8"),
        ("rate_hai_bps", "i8"),
        ("min_rate_bps", "i8"),
        ("min_decrease_q16", "i8"),
        ("rate_reduce_interval_ps", "i8"),
        ("clamp_target", "i8"),
    ],
    align=True,
)

DELAY = np.dtype(  # TIMELY, of a queue pair
    [
        ("before_ps", "i8"),  # the round-trip time before, 0: none was measured
        ("change_ps", "i8"),  # smoothed
        ("falls", "i4"),  # measurements in a row that did not rise
        ("head", "i4"),  # packets whose acknowledgement is going to be timed: cells (end, PSN)
        ("tail", "i4"),
    ],
    align=True,
)

DELAY_RULE = np.dtype(
    [
        ("ewma_q16", "i8"),
        ("beta_q16", "i8"),
        ("t_low_ps", "i8"),
        ("t_high_ps", "i8"),
        ("min_rtt_ps", "i8"),
        ("delta_bps", "i8"),
        ("hai_threshold", "i8"),
        ("hai_factor", "i8"),
        ("min_decrease_q16", "i8"),
        ("min_rate_bps", "i8"),
    ],
    align=True,
)

WINDOW = np.dtype(  # HPCC, of a queue pair
    [
        ("reference_bytes", "i8"),
        ("most_bytes", "i8"),  # a bandwidth-delay product of its link
        ("update_psn", "i8"),  # an acknowledgement beyond this makes a new reference
        ("most_packets", "i4"),  # the adapter's own limit
        ("stage", "i4"),  # additive increases since the last multiplicative change
        ("heard_q8", "i4"),  # telemetry of the last data packet, to be echoed (receiver)
    ],
    align=True,
)

WINDOW_RULE = np.dtype(
    [
        ("eta_q16", "i8"),
        ("max_stage", "i8"),
        ("base_rtt_ps", "i8"),
        ("flows", "i8"),
        ("min_rate_bps", "i8"),
    ],
    align=True,
)

TCP = np.dtype(  # of a connection; packets in 1/256
    [
        ("window_q8", "i8"),
        ("threshold_q8", "i8"),  # above it the window grows by one packet a round trip
        ("recover_psn", "i8"),  # losses before it have halved the window already
    ],
    align=True,
)

USE = np.dtype([("use_q16", "i8"), ("at_ps", "i8")], align=True)  # HPCC, of an output

EVENT = np.dtype([("time_ps", "i8"), ("key", "i8"), ("detail", "i4"), ("next", "i4")], align=True)

CHUNK_EVENTS, SLOTS = 8, 64
"""Events of a chunk, three cache lines; slots that the events of a bucket are dealt into."""

CHUNK = np.dtype([("next", "i4")], align=True)

BUCKET = np.dtype(
    [
        ("chunk", "i4"),  # that is being filled, -1: none; the others follow it, all full
        ("count", "i4"),  # events
    ],
    align=True,
)

MESSAGE = np.dtype(
    [("bytes", "i8"), ("first_psn", "i8"), ("packets", "i8"), ("posted_ps", "i8"), ("next", "i4")],
    align=True,
)

REQUESTER = np.dtype(
    [
        ("next_psn", "i8"),
        ("una_psn", "i8"),
        ("high_psn", "i8"),  # first PSN never sent
        ("free_psn", "i8"),  # first PSN not yet given to a message
        ("deadline_ps", "i8"),  # of the acknowledgement timer, NEVER: stopped
        ("allowed_ps", "i8"),  # injection-rate delay
        ("last_end_ps", "i8"),
        ("port", "i4"),
        ("dlid", "i4"),
        ("flow", "i4"),
        ("current", "i4"),  # message being sent
        ("oldest", "i4"),  # first message not acknowledged
        ("newest", "i4"),
        ("sendable", "i4"),  # messages from `current` on that may be sent
        ("next", "i4"),  # in the ring
        ("state", "i1"),
        ("sl", "i1"),
        ("vl", "i1"),
        ("timer_armed", "i1"),
        ("service", "i1"),  # 0: RC, 1: management datagrams on VL15
        ("retries_left", "i4"),
        ("rnr_left", "i4"),
        ("cc", "i4"),  # its CC entity
        ("fetching", "i4"),  # posted messages whose POSTED event is under way
        ("unsent", "i4"),  # posted messages whose last packet has not begun
        ("resend_head", "i4"),  # RoCE, selective repeat: ranges to send again, cells (first PSN, packets)
        ("resend_tail", "i4"),
        ("window", "i4"),  # most packets that may be sent and not acknowledged
        ("ack_every", "i4"),  # packets for one acknowledgement
        ("recovery", "i1"),  # LossRecovery
        ("tcp", "i1"),
        ("retransmitted", "i8"),
        ("limited_ps", "i8"),
        ("first_ps", "i8"),
        ("posted", "i8"),
        ("completed", "i8"),
        ("failed", "i8"),
    ],
    align=True,
)

RESPONDER = np.dtype(
    [
        ("expected_psn", "i8"),
        ("bytes", "i8"),
        ("messages", "i8"),
        ("in_memory", "i8"),  # messages that the rank may see
        ("last_ps", "i8"),
        ("port", "i4"),
        ("dlid", "i4"),
        ("response", "i4"),  # packet that still waits, -1: none
        ("flow", "i4"),
        ("nak_sent", "i1"),
        ("vl", "i1"),
        ("held_head", "i4"),  # RoCE, selective repeat: packets that came ahead, by PSN
        ("held_tail", "i4"),
        ("asked_psn", "i8"),  # below it all that is missing has been asked for
        ("recovery", "i1"),  # LossRecovery
        ("tcp", "i1"),
        ("message_psn", "i8"),  # RoCE, go back to 0: first of the message that is being received
    ],
    align=True,
)

FLOW = np.dtype(
    [
        ("first_qp", "i4"),
        ("qps", "i4"),
        ("consumed", "i8"),
        ("sender", "i4"),  # rank that waits for it to be sent
        ("receiver", "i4"),  # rank that waits for a message of it
        ("consumer", "i1"),  # some rank waits for its messages at all
    ],
    align=True,
)

RANK = np.dtype(
    [
        ("pc", "i4"),
        ("pc0", "i4"),  # its first instruction
        ("node", "i4"),
        ("done", "i1"),
        ("paced_ps", "i8"),
        ("stop_ps", "i8"),
        ("draws", "i8"),
        ("marks", "i8"),
        ("loops", "i8", (4,)),
        ("first_flow", "i4"),
    ],
    align=True,
)

CC_ENTITY = np.dtype(
    [
        ("ccti", "i4"),  # as congestion control has it
        ("applied", "i4"),  # as the HCA uses it
        ("node", "i4"),
        ("timer_on", "i1"),
        ("becns", "i8"),
    ],
    align=True,
)

GLOBAL = np.dtype(
    [
        ("now_ps", "i8"),
        ("horizon_ps", "i8"),  # no event at or after this is handled
        ("credits_known_ps", "i8"),  # no FCP of another shard arrives before this that is not known
        ("stuck_ps", "i8"),  # a port waits at this time for news of FCPs, -1: none does
        ("last_live_ps", "i8"),  # the last time that something kept the fabric busy
        ("live", "i8"),  # queued events that keep the fabric busy
        ("outstanding", "i8"),  # messages posted and neither acknowledged nor failed
        ("events", "i8"),
        ("packet_hops", "i8"),
        ("bucket", "i8"),  # number of the bucket being handled
        ("sorted_at", "i8"),
        ("sorted_count", "i8"),
        ("wheel_count", "i8"),
        ("heap_count", "i8"),
        ("free_chunk", "i4"),
        ("chunks_left", "i4"),
        ("free_packet", "i4"),
        ("packets_left", "i4"),
        ("free_cell", "i4"),
        ("cells_left", "i4"),
        ("free_message", "i4"),
        ("messages_left", "i4"),
        ("latencies", "i8"),
        ("marks", "i8"),
        ("log", "i8"),
        ("out_packets", "i8"),
        ("out_fcps", "i8"),
        ("out_ccs", "i8"),
        ("traced", "i8"),
        ("traced_fcps", "i8"),
        ("latency_size", "i8"),
        ("mark_size", "i8"),
        ("log_size", "i8"),
        ("out_packet_size", "i8"),
        ("out_fcp_size", "i8"),
        ("out_cc_size", "i8"),
        ("trace_size", "i8"),
        ("fcp_trace_size", "i8"),
        ("heap_size", "i8"),
        ("sorted_size", "i8"),
        ("boundary_ports", "i8"),
    ],
    align=True,
)

PARAMETER = np.dtype(
    [
        ("seed", "i8"),
        ("ports", "i4"),
        ("vls", "i4"),  # data VLs, plus one for VL15
        ("mtu", "i4"),
        ("shift", "i4"),  # bucket width of the wheel, log2 ps
        ("buckets", "i4"),
        ("trace", "i1"),
        ("management", "i1"),  # some flow uses VL15
        ("look_ahead", "i1"),  # the fabric is too large for the caches
        ("high_limit", "i4"),
        ("high_entries", "i4"),
        ("low_entries", "i4"),
        ("lids", "i4"),  # entries of a forwarding table
        ("cc_on", "i1"),
        ("cc_role", "i1"),  # CcRole
        ("rate_control", "i1"),  # RateControl
        ("closed_loop", "i1"),  # acknowledgements matter to it, or to TCP
        ("marking_rate", "i4"),
        ("packet_size", "i4"),
        ("ccti_increase", "i4"),
        ("ccti_limit", "i4"),
        ("ccti_min", "i4"),
        ("ccti_timer_ps", "i8"),
        ("reaction_ps", "i8"),
        ("data_overhead", "i4"),  # wire bytes of a data packet beside its padded payload
        ("ack_bytes", "i4"),
        ("cnp_bytes", "i4"),
        ("ethernet", "i1"),  # PFC instead of credits
        ("spraying", "i1"),
        ("flowlet_ps", "i8"),  # 0: no flowlets
    ],
    align=True,
)

HCA_PARAMETER = np.dtype(
    [
        ("ack_timeout_ps", "i8"),
        ("rnr_timer_ps", "i8"),
        ("retry_count", "i4"),
        ("rnr_retry", "i4"),
        ("reorder_packets", "i4"),  # so many may come ahead of one before it counts as lost
    ],
    align=True,
)

ACTION = np.dtype(
    [("at_ps", "i8"), ("kind", "i4"), ("port", "i4"), ("node", "i4"), ("value", "i8"), ("block", "i4")],
    align=True,
)

LATENCY = np.dtype([("qp", "i4"), ("at_ps", "i8"), ("latency_ps", "i8")], align=True)
MARK = np.dtype([("rank", "i4"), ("at_ps", "i8")], align=True)
LOG = np.dtype(
    [("at_ps", "i8"), ("node", "i4"), ("kind", "i4"), ("index", "i8"), ("value", "i8")], align=True
)

FCP_OUT = np.dtype([("arrival_ps", "i8"), ("pv", "i4"), ("value", "i4"), ("kind", "i4")], align=True)
CC_OUT = np.dtype(  # a BECN for a reaction point, or the CCTI that an HCA is to use
    [("time_ps", "i8"), ("entity", "i4"), ("value", "i4")], align=True
)
PACKET_TRACE = np.dtype(
    [
        ("start_ps", "i8"),
        ("psn", "i8"),
        ("port", "i4"),
        ("qp", "i4"),
        ("wire", "i4"),
        ("kind", "i1"),
        ("bits", "i1"),
        ("vl", "i1"),
    ],
    align=True,
)
FCP_TRACE = np.dtype([("start_ps", "i8"), ("port", "i4"), ("vl", "i4"), ("fccl", "i4")], align=True)

POOLS = ("chunk", "packet", "cell", "message")
"""Pools; their counters in GLOBAL are ``free_<pool>`` and ``<pool>s_left``."""

LOGS = {
    "latency": "latencies",
    "mark": "marks",
    "log": "log",
    "out_packet": "out_packets",
    "out_fcp": "out_fcps",
    "out_cc": "out_ccs",
    "trace": "traced",
    "fcp_trace": "traced_fcps",
    "heap": "heap_count",
    "sorted": "sorted_count",
}
"""Arrays that are filled from the start, by the counter in GLOBAL of what they hold."""

CAPACITIES = {name: f"{name}_size" for name in LOGS} | {"boundary": "boundary_ports"}
"""Arrays whose length kernels need, by the field of GLOBAL that holds it."""

ARBITRATION_ENTRY = np.dtype([("vl", "i4"), ("weight", "i4")], align=True)
INSTRUCTION = np.dtype([("op", "i8"), ("a", "i8"), ("b", "i8"), ("c", "i8")], align=True)
CCT_ENTRY = np.dtype([("shift", "i8"), ("multiplier", "i8")], align=True)

Records = Any
"""A ``numpy.recarray`` of one of the types above."""

ARRAYS: dict[str, np.dtype[Any]] = {
    "g": GLOBAL,  # [1]
    "par": PARAMETER,  # [1]
    "port": PORT,  # [ports]
    "port_more": PORT_MORE,  # [ports]
    "pv": PV,  # [vls * ports]
    "pv_input": PV_INPUT,  # [vls * ports]
    "pv_more": PV_MORE,  # [vls * ports]
    "voq": VOQ,
    "packet": PACKET,  # pool
    "cell": CELL,  # pool
    "chunk": CHUNK,  # pool
    "event": EVENT,  # [chunks * CHUNK_EVENTS]
    "bucket": BUCKET,  # [buckets]
    "occupied": np.dtype("u8"),  # [buckets / 64] bit set: the bucket has events
    "slot": np.dtype("i4"),  # [SLOTS] last event dealt into each, -1: none
    "sorted": EVENT,  # the bucket at hand, in order
    "heap": EVENT,  # what lies beyond the wheel, a binary heap
    "node": NODE,  # [nodes]
    "lft": np.dtype("u1"),  # [switches * lids] output port, 255: discard
    "lft_moved": np.dtype("u1"),  # [switches * ceil(lids / 8)] bit set: counted in PORT_MORE.moved
    "sl2vl": np.dtype("i1"),  # [16]
    "high": ARBITRATION_ENTRY,  # [par.high_entries]
    "low": ARBITRATION_ENTRY,  # [par.low_entries]
    "requester": REQUESTER,  # [qps]
    "responder": RESPONDER,  # [qps]
    "message": MESSAGE,  # pool
    "flow": FLOW,  # [flows]
    "rank": RANK,  # [ranks]
    "code": INSTRUCTION,  # [instructions]
    "hca": HCA_PARAMETER,  # [nodes]
    "cc": CC_ENTITY,  # [entities]
    "cct": CCT_ENTRY,  # [CCTIs]
    "action": ACTION,  # [actions]
    "lft_blocks": np.dtype("u1"),  # [writes * 64]
    "latency": LATENCY,  # log
    "mark": MARK,  # log
    "log": LOG,  # log
    "out_packet": PACKET,  # packets that leave this shard
    "out_fcp": FCP_OUT,  # FCPs that leave this shard
    "out_cc": CC_OUT,  # what congestion control and the HCAs say to each other
    "trace": PACKET_TRACE,  # log
    "fcp_trace": FCP_TRACE,  # log
    "lane": LANE,  # RoCE: [ports * vls]
    "lane_more": LANE_MORE,
    "buffer": BUFFER,  # RoCE: [nodes]
    "buffer_rule": BUFFER_RULE,  # RoCE: [nodes]
    "route": np.dtype("u2"),  # RoCE: [switches * lids] group of next hops, 0: discard
    "group": GROUP,
    "member": np.dtype("u1"),  # output ports of the groups
    "flowlet": FLOWLET,  # RoCE: [switches * FLOWLETS]
    "rate": RATE,  # RoCE: [qps]
    "rate_rule": RATE_RULE,
    "delay": DELAY,  # TIMELY: [qps]
    "delay_rule": DELAY_RULE,
    "window": WINDOW,  # HPCC: [qps]
    "window_rule": WINDOW_RULE,
    "use": USE,  # HPCC: [ports]
    "tcp": TCP,  # RoCE: [qps]
    "boundary": np.dtype("i4"),  # [g.boundary_ports] ports whose other end is in another shard
}
"""Every array of a State: its name and the type of its elements."""

CONSTANT = frozenset(
    {
        "par",
        "node",
        "sl2vl",
        "high",
        "low",
        "code",
        "hca",
        "cct",
        "buffer_rule",
        "group",
        "member",
        "rate_rule",
        "delay_rule",
        "window_rule",
    }
)
"""Arrays that no kernel writes to."""


_CACHE_LINE_BYTES = 64
_ARENA_BYTES = 8 << 20
"""At least this much, so that the arrays lie in large pages: a fabric is visited in no order."""


def _cache_lines(size_bytes: int) -> np.ndarray:
    """Zeroed bytes that begin a cache line: what else is one would be two."""
    memory = np.zeros(size_bytes + _CACHE_LINE_BYTES, np.uint8)
    at = -memory.ctypes.data % _CACHE_LINE_BYTES
    return memory[at : at + size_bytes]


def _settle_together(arrays: dict[str, Records]) -> dict[str, Records]:
    """Copies of arrays in one piece of memory, each at the start of a cache line."""
    sizes = {
        name: -(-array.nbytes // _CACHE_LINE_BYTES) * _CACHE_LINE_BYTES for name, array in arrays.items()
    }
    arena = _cache_lines(max(sum(sizes.values()), _ARENA_BYTES))
    at = 0
    settled: dict[str, Records] = {}
    for name, array in arrays.items():
        settled[name] = arena[at : at + array.nbytes].view(array.dtype).view(type(array))
        settled[name][:] = array
        at += sizes[name]
    return settled


class State:
    """Everything that a kernel may read or write; an attribute for each of :data:`ARRAYS`.

    Attributes:
        address: Of the table of the arrays' addresses, which is all that compiled code gets.
    """

    __slots__ = (*ARRAYS, "address", "table")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Records: ...

    def __init__(self, **arrays: Records) -> None:
        self.table = np.zeros(len(ARRAYS), np.int64)
        self.address = int(self.table.ctypes.data)
        for name, array in _settle_together(arrays).items():
            self.put(name, array)
        for name, counter in CAPACITIES.items():
            self.g[0][counter] = len(getattr(self, name))

    def put(self, name: str, array: Records) -> None:
        """Replaces an array."""
        if array.dtype != ARRAYS[name] or not array.flags.c_contiguous:
            raise TypeError(f"{name}: expected a contiguous array of {ARRAYS[name]}, got {array.dtype}")
        setattr(self, name, array)
        self.table[list(ARRAYS).index(name)] = array.ctypes.data


def records(count: int, dtype: np.dtype[Any], **fields: Any) -> Records:
    """A zeroed record array with some fields set."""
    array = _cache_lines(count * dtype.itemsize).view(dtype).view(np.recarray)
    for name, value in fields.items():
        array[name] = value
    return array


def pool(count: int, dtype: np.dtype[Any]) -> Records:
    """Records linked into one free list from index 0 on."""
    array = records(count, dtype)
    array["next"] = np.arange(1, count + 1)
    array["next"][-1] = -1
    return array


def table(rows: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> Records:
    """Records from rows, one zeroed record if there are none."""
    filled = records(max(1, len(rows)), dtype)
    for index, row in enumerate(rows):
        filled[index] = row
    return filled


MOST_RECORDS = 1 << 28
"""Bound of every pool and log: more is a run away simulation, not a fabric."""


def _double(name: str, old: Records) -> int:
    """Length of an array after growing.

    Raises:
        FabricTwinError: It would be longer than the bound.
    """
    if 2 * len(old) > MOST_RECORDS:
        raise FabricTwinError(f"the simulation needs more than {MOST_RECORDS:,} records of {name!r}")
    return 2 * len(old)


def _lengthen(state: State, name: str, count: int) -> None:
    old = getattr(state, name)
    new = records(count, old.dtype)
    new[: len(old)] = old
    state.put(name, new)


def grow(state: State, reserve: int) -> None:
    """Doubles every pool and log that has less than twice a reserve left; what they hold stays in place."""
    g = state.g[0]
    for name in POOLS:
        old = getattr(state, name)
        if g[f"{name}s_left"] < 2 * reserve:
            new = pool(_double(name, old), old.dtype)
            new[: len(old)] = old
            new["next"][-1] = g[f"free_{name}"]
            g[f"free_{name}"] = len(old)
            g[f"{name}s_left"] += len(old)
            state.put(name, new)
            if name == "chunk":
                _lengthen(state, "event", CHUNK_EVENTS * len(new))
    for name, counter in LOGS.items():
        old = getattr(state, name)
        waiting = g.wheel_count + g.heap_count if name == "sorted" else 0
        if len(old) - g[counter] - waiting < 2 * reserve:
            _lengthen(state, name, _double(name, old))
            g[CAPACITIES[name]] = len(getattr(state, name))
