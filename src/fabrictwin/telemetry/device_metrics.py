# SPDX-License-Identifier: Apache-2.0
"""Counters of hosts under the names of node_exporter's infiniband collector.

``device`` is the name of the HCA's node, ``port`` its port; ``guid`` is added, so that
names of cables can be joined.
"""

from __future__ import annotations

from fabrictwin.telemetry.metric import Metric, Row, Rows, Service, make_metrics

_HCA = (Service.HCA_ENDPOINT,)
_PREFIX = "node_infiniband"

_COUNTERS: tuple[Row, ...] = (
    ("port_data_transmitted_bytes_total", "bytes", "port_xmit_data", "Bytes sent (port_xmit_data)."),
    ("port_data_received_bytes_total", "bytes", "port_rcv_data", "Bytes received (port_rcv_data)."),
    ("port_packets_transmitted_total", "packets", "port_xmit_pkts", "Packets sent (port_xmit_packets)."),
    ("port_packets_received_total", "packets", "port_rcv_pkts", "Packets received (port_rcv_packets)."),
    (
        "port_discards_transmitted_total",
        "packets",
        "port_xmit_discards",
        "Packets discarded on their way out (port_xmit_discards).",
    ),
    ("port_errors_received_total", "packets", "port_rcv_errors", "Packets with errors (port_rcv_errors)."),
    (
        "port_transmit_wait_total",
        "ticks of 1 ps",
        "xmit_wait_ps",
        "Ticks of 1 ps of fabric time with data to send and no credits (port_xmit_wait).",
    ),
    ("symbol_error_total", "errors", "symbol_error_counter", "Symbol errors (symbol_error)."),
    ("link_downed_total", "failures", "link_downed_counter", "Times that the link went down (link_downed)."),
    (
        "local_link_integrity_errors_total",
        "errors",
        "local_link_integrity_errors",
        "Local link integrity errors (local_link_integrity_errors).",
    ),
    (
        "out_of_sequence_packets_received_total",
        "packets",
        "out_of_sequence",
        "Data packets that came ahead of what was expected (out_of_sequence).",
    ),
    (
        "duplicate_requests_packets_total",
        "packets",
        "duplicates",
        "Data packets that had been received before (duplicate_request).",
    ),
    (
        "packet_sequence_errors_total",
        "packets",
        "sequence_naks",
        "NAKs for a gap in the sequence that it has heard as sender (packet_seq_err).",
    ),
    (
        "local_ack_timeout_errors_total",
        "timeouts",
        "ack_timeouts",
        "Times that no acknowledgement came in time (local_ack_timeout_err).",
    ),
    (
        "rnr_nak_retry_packets_received_total",
        "packets",
        "rnr_naks",
        "Receiver-not-ready NAKs that it has heard as sender (rnr_nak_retry_err).",
    ),
    ("rate_bytes_per_second", "bytes per second of fabric time", "port_rate", "Data rate of its link now."),
    ("state_id", "PortState", "port_state", "PortState: 1 down, 4 active."),
    ("physical_state_id", "PortPhysicalState", "physical_state", "PortPhysicalState: 2 polling, 5 link up."),
)

_ROCE: tuple[Row, ...] = (
    (
        "np_ecn_marked_roce_packets_received_total",
        "packets",
        "ecn_received",
        "Data packets that came with a mark (CE; np_ecn_marked_roce_packets).",
    ),
    (
        "np_cnp_packets_sent_total",
        "packets",
        "cnps_sent",
        "CNPs that it has sent as notification point (np_cnp_sent).",
    ),
    (
        "rp_cnp_packets_handled_total",
        "packets",
        "cnps_handled",
        "CNPs that it has heard and acted on as reaction point (rp_cnp_handled).",
    ),
)

DEVICE_METRICS: tuple[Metric, ...] = (
    Metric(f"{_PREFIX}_info", "1", "one", "Model of an HCA.", Rows.DEVICE_NAMES, _HCA),
    *make_metrics(_PREFIX, _COUNTERS, Rows.DEVICE, _HCA),
    *make_metrics(_PREFIX, _ROCE, Rows.ROCE_DEVICE, _HCA),
)
"""Every one that the engine counts."""
