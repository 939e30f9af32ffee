# SPDX-License-Identifier: Apache-2.0
"""Where congestion is, how it spreads, and whether congestion control gets hold of it."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import NODE, PER_PORT, PORT_PAGE, TWIN, course, heat, named, number

_PRIORITY = PER_PORT + " priority {{priority}}"
_SWITCH_NAMES = f"* on (job, instance, guid) group_left (switch) infiniband_switch_info{{{TWIN}}}"


def congestion() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Congestion",
        "congestion",
        "Credit stalls, PFC, marks, notifications and rates; rates are per second of fabric time. Panels "
        "of one "
        "technology are empty on the other.",
        (*_numbers(), *_queues(), *_stalls(), *_buffers(), *_marks(), *_rates(), *_losses()),
    )


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Waiting for credits",
            units.Short,
            f"count(fabrictwin:port_waiting:ratio{{{NODE}}} > 0.1) or vector(0)",
            "How far has congestion spread? Ports that wait for credits for more than a tenth of fabric "
            "time.",
            ((1, "orange"), (20, "red")),
        ),
        number(
            "Paused",
            units.Short,
            f"count(fabrictwin:pfc_paused:ratio{{{NODE}}} > 0.1) or vector(0)",
            "How far have pauses spread? Ports and priorities that are paused for more than a tenth of "
            "fabric time.",
            ((1, "orange"), (20, "red")),
        ),
        number(
            "In deadlock",
            units.Short,
            f"max(fabrictwin_deadlocked_outputs{{{TWIN}}}) or vector(0)",
            "Will it ever end? Outputs that wait for each other in a circle.",
            ((1, "red"),),
        ),
        number(
            "Storms",
            units.Short,
            f"sum(fabrictwin_pfc_watchdog_stormed{{{TWIN}}}) or vector(0)",
            "Has a watchdog stepped in? Queues that PFC watchdogs have taken out of service now.",
            ((1, "red"),),
        ),
        number(
            "Throttled",
            units.Short,
            f"sum(fabrictwin_hca_queue_pairs_throttled{{{TWIN}}})",
            "Does congestion control act? Queue pairs that it slows down now.",
        ),
        number(
            "Lossless drops",
            units.Short,
            f"sum(fabrictwin_pfc_headroom_drops_total{{{TWIN}}}) or vector(0)",
            "Was anything lost that must not be? Packets of lossless priorities dropped since the twin "
            "began.",
            ((1, "red"),),
        ),
    )


def _queues() -> tuple[object, ...]:
    of_switches = f'fabrictwin_port_vl_queued_bytes{{{TWIN}, service="switch_node"}}'
    queued = f"sum by (node) ({named(of_switches)})"
    return (
        heat(
            "Queue heat",
            units.BytesIEC,
            ((f"topk(40, {queued})", "{{node}}"),),
            "Where does traffic pile up, and when? Bytes that wait in each switch; the forty with most.",
        ),
    )


def _stalls() -> tuple[object, ...]:
    return (
        course(
            "Credit stalls",
            units.PercentUnit,
            ((f"topk(15, fabrictwin:port_waiting:ratio{{{NODE}}})", PER_PORT),),
            "Who waits for whom? Part of fabric time with data and no credits. The root is where nobody "
            "waits any further; "
            "InfiniBand.",
            ((0.1, "orange"), (0.5, "red")),
            PORT_PAGE,
        ),
        course(
            "Pauses",
            units.PercentUnit,
            ((f"topk(15, fabrictwin:pfc_paused:ratio{{{NODE}}})", _PRIORITY),),
            "Who is paused by whom? Part of fabric time. The root is where nobody is paused any further; "
            "RoCE.",
            ((0.1, "orange"), (0.9, "red")),
            PORT_PAGE,
        ),
        course(
            "Pause frames sent",
            units.PacketsPerSecond,
            ((f"topk(15, fabrictwin:pfc_pause_sent_frames:per_fabric_second{{{NODE}}})", _PRIORITY),),
            "Who pauses its neighbours? PFC frames sent, refreshes included; RoCE.",
            (),
            PORT_PAGE,
        ),
        course(
            "Blocked now",
            units.Seconds,
            (
                (
                    f"topk(15, {named(f'fabrictwin_port_vl_blocked_seconds{{{TWIN}}}')})",
                    PER_PORT + " VL {{vl}}",
                ),
            ),
            "Who stands right now, and for how long? Only rising: deadlock or dead receiver.",
            ((1e-4, "orange"), (1e-2, "red")),
            PORT_PAGE,
        ),
    )


def _buffers() -> tuple[object, ...]:
    used = f"fabrictwin_switch_buffer_bytes{{{TWIN}}}"
    peak = f"fabrictwin_switch_buffer_watermark_bytes{{{TWIN}}}"
    size = f"fabrictwin_switch_buffer_size_bytes{{{TWIN}}}"
    headroom = named(f"fabrictwin_pfc_headroom_watermark_bytes{{{TWIN}}}")
    return (
        course(
            "Shared buffer",
            units.PercentUnit,
            (
                (f"topk(10, {used} / {size} {_SWITCH_NAMES})", "{{switch}}"),
                (f"topk(10, {peak} / {size} {_SWITCH_NAMES})", "watermark {{switch}}"),
            ),
            "How full are the switches? Part of the shared pool in use, and the most it ever was; RoCE.",
            ((0.8, "orange"),),
        ),
        course(
            "Headroom watermarks",
            units.PercentUnit,
            (
                (
                    f"topk(15, {headroom} / on (job, instance, guid, port, priority) group_left () "
                    f"fabrictwin_pfc_headroom_size_bytes{{{TWIN}}})",
                    _PRIORITY,
                ),
            ),
            "How near were drops? Most of its headroom that a priority ever used; RoCE.",
            ((0.8, "orange"), (0.95, "red")),
            PORT_PAGE,
        ),
    )


def _marks() -> tuple[object, ...]:
    return (
        course(
            "Marks and notifications",
            units.PacketsPerSecond,
            (
                (f"sum(fabrictwin:port_fecn_marked_packets:per_fabric_second{{{NODE}}})", "marked (FECN)"),
                (
                    f'sum(fabrictwin:port_becn_received_packets:per_fabric_second{{{TWIN}, kind="hca"}})',
                    "BECN at senders",
                ),
                (f"sum(fabrictwin:port_ecn_marked_packets:per_fabric_second{{{NODE}}})", "marked (ECN)"),
                (f"sum(fabrictwin:hca_cnp_sent_packets:per_fabric_second{{{TWIN}}})", "CNP sent"),
                (f"sum(fabrictwin:hca_cnp_handled_packets:per_fabric_second{{{TWIN}}})", "CNP at senders"),
            ),
            "Do the senders hear of congestion? Marks without notifications: it is off, or the way back is "
            "broken.",
        ),
        course(
            "Who marks",
            units.PacketsPerSecond,
            (
                (f"topk(10, fabrictwin:port_fecn_marked_packets:per_fabric_second{{{NODE}}})", PER_PORT),
                (f"topk(10, fabrictwin:port_ecn_marked_packets:per_fabric_second{{{NODE}}})", PER_PORT),
            ),
            "Where is the root of congestion? Ports that mark most.",
            (),
            PORT_PAGE,
        ),
    )


def _rates() -> tuple[object, ...]:
    return (
        course(
            "CCTI",
            units.Short,
            ((f"topk(10, {named(f'fabrictwin_hca_ccti_max{{{TWIN}}}')})", "{{node}}"),),
            "How hard does InfiniBand's congestion control brake? Greatest index of an HCA's queue pairs "
            "into the table "
            "of delays.",
        ),
        course(
            "Rates of senders",
            units.BitsPerSecondSI,
            (
                (
                    f"8 * bottomk(10, {named(f'fabrictwin_hca_least_rate_bytes_per_second{{{TWIN}}}')} > 0)",
                    "least {{node}}",
                ),
                (
                    f"8 * bottomk(10, {named(f'fabrictwin_hca_mean_rate_bytes_per_second{{{TWIN}}}')} > 0)",
                    "mean {{node}}",
                ),
            ),
            "What may the senders send? Rate that congestion control gives the slowest queue pair of an "
            "HCA, and their mean; "
            "RoCE.",
        ),
        course(
            "Alpha of DCQCN",
            units.Short,
            ((f"topk(10, {named(f'fabrictwin_hca_alpha_max{{{TWIN}}}')})", "{{node}}"),),
            "How bad does DCQCN think it is? Greatest alpha of the queue pairs that it slows down; RoCE.",
        ),
        course(
            "Held back",
            units.Short,
            ((f"topk(10, fabrictwin:hca_rate_limited:ratio{{{NODE}}})", "{{node}}"),),
            "Who is slowed down? Queue pairs, on average, that congestion control has wait between packets.",
        ),
    )


def _losses() -> tuple[object, ...]:
    return (
        course(
            "Slowest flows",
            units.BitsPerSecondSI,
            (
                (
                    f"8 * bottomk(10, fabrictwin:flow_received_bytes:per_fabric_second{{{TWIN}}})",
                    "{{flow}} {{src}} to {{dst}}",
                ),
            ),
            "Who are the victims? Payload of the ten flows that get least.",
        ),
        course(
            "Drops",
            units.PacketsPerSecond,
            (
                (f"topk(10, fabrictwin:port_transmit_discards:per_fabric_second{{{NODE}}})", PER_PORT),
                (
                    f"topk(10, fabrictwin:pfc_headroom_drops:per_fabric_second{{{NODE}}})",
                    "lossless " + _PRIORITY,
                ),
                (
                    f"topk(10, fabrictwin:priority_lossy_drops:per_fabric_second{{{NODE}}})",
                    "lossy " + _PRIORITY,
                ),
            ),
            "Where are packets lost? At outputs; on RoCE, by priority where they came in.",
            ((1, "orange"),),
            PORT_PAGE,
        ),
    )
