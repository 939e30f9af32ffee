# SPDX-License-Identifier: Apache-2.0
"""What only RoCE has and no public exporter names: PFC, buffers, ECN, DCQCN.

Each help names the counter of SONiC (SAI) or of mlx5 that a real fabric has for it.
"""

from __future__ import annotations

from fabrictwin.telemetry.metric import Metric, Row, Rows, Service, make_metrics

_SWITCH = (Service.SWITCH_NODE,)
_HCA = (Service.HCA_ENDPOINT,)
_FABRIC = (Service.SWITCH_NODE, Service.HCA_ENDPOINT)

_PFC: tuple[Row, ...] = (
    (
        "pause_sent_frames_total",
        "frames",
        "pauses_sent",
        "PFC frames sent that pause the peer, refreshes included (mlx5 tx_prio<p>_pause; "
        "SAI_PORT_STAT_PFC_<p>_TX_PKTS counts those that release it too).",
    ),
    (
        "pause_received_frames_total",
        "frames",
        "pauses_heard",
        "PFC frames heard that pause it, refreshes included (mlx5 rx_prio<p>_pause; "
        "SAI_PORT_STAT_PFC_<p>_RX_PKTS counts those that release it too).",
    ),
    (
        "paused_seconds_total",
        "seconds of fabric time",
        "pfc_paused_ps",
        "Time that the priority has been paused here as sender (mlx5 rx_prio<p>_pause_duration, SONiC "
        "TOTAL_PAUSE_TIME_MS_<p>); how long it has paused its peer is counted there.",
    ),
    ("paused", "1", "is_paused", "1: paused now, as sender."),
    ("pausing", "1", "is_pausing", "1: it pauses its peer now."),
    ("headroom_bytes", "bytes", "headroom_bytes", "Headroom of the priority group in use now."),
    (
        "headroom_size_bytes",
        "bytes",
        "headroom_size_bytes",
        "Headroom of the priority group (SONiC BUFFER_PROFILE xoff).",
    ),
    (
        "headroom_watermark_bytes",
        "bytes",
        "peak_headroom_bytes",
        "Most headroom that was ever in use (SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES).",
    ),
    (
        "headroom_drops_total",
        "packets",
        "lossless_drops",
        "Packets of the lossless priority dropped where they came in: no headroom was left, or their "
        "output was down (SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS).",
    ),
    (
        "watchdog_stormed",
        "1",
        "watchdog_drops",
        "1: the PFC watchdog found a storm and drops what is to leave here (SONiC PFC_WD_STATUS stormed).",
    ),
    (
        "watchdog_detected_total",
        "storms",
        "storms_found",
        "Storms that the PFC watchdog has found (PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED).",
    ),
    (
        "watchdog_restored_total",
        "storms",
        "storms_restored",
        "Storms after which the PFC watchdog has let the queue go on (PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED).",
    ),
    (
        "watchdog_dropped_packets_total",
        "packets",
        "storm_drops",
        "Packets that came for the queue during a storm and were dropped "
        "(PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS).",
    ),
)

_PRIORITY: tuple[Row, ...] = (
    (
        "group_bytes",
        "bytes",
        "group_bytes",
        "Buffer that the priority group of this ingress port holds now, without headroom "
        "(SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES).",
    ),
    (
        "queue_watermark_bytes",
        "bytes",
        "peak_queue_bytes",
        "Most that has ever waited for this output and priority (SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES).",
    ),
    (
        "lossy_drops_total",
        "packets",
        "lossy_drops",
        "Packets of a lossy priority dropped for want of buffer, counted where they came in "
        "(SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS).",
    ),
)

_BUFFER: tuple[Row, ...] = (
    (
        "bytes",
        "bytes",
        "buffer_used_bytes",
        "Shared pool in use now (SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES).",
    ),
    ("size_bytes", "bytes", "buffer_size_bytes", "Size of the shared pool."),
    (
        "watermark_bytes",
        "bytes",
        "buffer_peak_bytes",
        "Most of the shared pool that was ever in use (SAI_BUFFER_POOL_STAT_WATERMARK_BYTES).",
    ),
)

_DCQCN: tuple[Row, ...] = (
    (
        "least_rate_bytes_per_second",
        "bytes per second of fabric time",
        "rate_least",
        "Least rate that congestion control gives a queue pair of it.",
    ),
    (
        "mean_rate_bytes_per_second",
        "bytes per second of fabric time",
        "rate_mean",
        "Mean of the rates that congestion control gives its queue pairs.",
    ),
    (
        "alpha_max",
        "1",
        "alpha_greatest_ppm",
        "Greatest alpha of DCQCN among its queue pairs that a CNP has slowed.",
    ),
)

ETHERNET_METRICS: tuple[Metric, ...] = (
    *make_metrics("fabrictwin_pfc", _PFC, Rows.LOSSLESS, _FABRIC),
    *make_metrics("fabrictwin_priority", _PRIORITY, Rows.ROCE_PRIORITY, _FABRIC),
    *make_metrics("fabrictwin_switch_buffer", _BUFFER, Rows.SWITCH_BUFFER, _SWITCH),
    *make_metrics("fabrictwin_hca", _DCQCN, Rows.ROCE_HCA_PORT, _HCA),
    Metric(
        "fabrictwin_port_ecn_marked_packets_total",
        "packets",
        "port_mark_fecn",
        "Packets that it has marked (CE; SAI_PORT_STAT_ECN_MARKED_PACKETS).",
        Rows.ROCE_PORT,
        _FABRIC,
    ),
    Metric(
        "fabrictwin_port_pfc_frames_sent_total",
        "frames",
        "flow_control_packets",
        "PFC frames of all priorities that it has sent, releases included "
        "(sum of SAI_PORT_STAT_PFC_<p>_TX_PKTS).",
        Rows.ROCE_PORT,
        _FABRIC,
    ),
)
"""Every one."""
