# SPDX-License-Identifier: Apache-2.0
"""The dashboard to start from: how fast the twin runs, what the fabric carries, and where it hurts."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import NAMES, NODE, TWIN, board, course, number

UID = "fabrictwin-overview"


def _counted(name: str) -> str:
    return f'sum({{__name__=~"infiniband_(switch|hca)_port_{name}_total", {TWIN}}})'


_BLOCKED_NOW = f"(fabrictwin_port_vl_blocked_seconds{{{TWIN}}} {NAMES})"
_STEPS = f"rate(fabrictwin_step_seconds_bucket{{{TWIN}}}[15s])"


def overview() -> dashboard.Dashboard:
    """The dashboard."""
    result = board(
        "FabricTwin / Overview",
        UID,
        "Rates are per second of fabric time, unless the title says wall time.",
    )
    for panel in (*_numbers(), *_traffic(), *_trouble(), *_health()):
        result = result.with_panel(panel)
    return result


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Fabric time",
            units.Seconds,
            f"max(fabrictwin_fabric_seconds_total{{{TWIN}}})",
            "Fabric time that has been simulated.",
        ),
        number(
            "Speed",
            units.Seconds,
            f"max(fabrictwin:speed:rate15s{{{TWIN}}})",
            "Seconds of fabric time per second of wall time; 0 while the twin is paused.",
        ),
        number(
            "Delivered",
            units.BitsPerSecondSI,
            f"8 * sum(fabrictwin:twin_received_payload_bytes:per_fabric_second{{{TWIN}}})",
            "Payload that all HCAs receive in order.",
        ),
        number(
            "Ports blocked",
            units.Short,
            f"count({_BLOCKED_NOW} > 1e-5) or vector(0)",
            "Ports whose next packet has waited for credits for more than 10 us of fabric time.",
            ((1, "orange"), (10, "red")),
        ),
        number(
            "Links down",
            units.Short,
            f"count(fabrictwin_port_up{{{TWIN}}} == 0) / 2 or vector(0)",
            "Cables that do not carry anything.",
            ((1, "red"),),
        ),
        number(
            "Services up",
            units.Short,
            f"sum(fabrictwin_twin_up{{{TWIN}}})",
            "Services that answer and have not failed.",
        ),
    )


def _traffic() -> tuple[object, ...]:
    per_port = "{{node}}/{{port}} to {{peer}}"
    return (
        course(
            "Throughput",
            units.BitsPerSecondSI,
            (
                (
                    f"8 * sum by (twin) (fabrictwin:twin_received_payload_bytes:per_fabric_second{{{TWIN}}})",
                    "payload {{twin}}",
                ),
                (f"8 * topk(10, fabrictwin:flow_received_bytes:per_fabric_second{{{TWIN}}})", "{{flow}}"),
            ),
            "Payload delivered in order: all of it, and the ten largest flows.",
        ),
        course(
            "Busiest ports",
            units.PercentUnit,
            (
                (
                    f"topk(10, fabrictwin:port_utilisation:ratio{{{NODE}}})",
                    per_port,
                ),
            ),
            "Part of its link's rate that a port sends at.",
            ((0.9, "orange"),),
        ),
    )


def _trouble() -> tuple[object, ...]:
    per_port = "{{node}}/{{port}} to {{peer}}"
    return (
        course(
            "Credit stalls",
            units.PercentUnit,
            ((f"topk(10, fabrictwin:port_waiting:ratio{{{NODE}}})", per_port),),
            "Part of fabric time in which a port had data to send and no credits (PortXmitWait).",
            ((0.1, "orange"), (0.5, "red")),
        ),
        course(
            "Blocked ports",
            units.Seconds,
            ((f"topk(10, {_BLOCKED_NOW})", per_port + " VL {{vl}}"),),
            "How long a port's next packet has waited for credits. Only rising: deadlock or dead receiver.",
            ((1e-4, "orange"), (1e-2, "red")),
        ),
        course(
            "Longest queues",
            units.BytesIEC,
            ((f"topk(10, fabrictwin_port_vl_queued_bytes{{{TWIN}}} {NAMES})", per_port + " VL {{vl}}"),),
            "Packets in a switch that wait for an output.",
        ),
        course(
            "FECN and BECN",
            units.PacketsPerSecond,
            (
                (f"sum(fabrictwin:port_fecn_marked_packets:per_fabric_second{{{NODE}}})", "marked (FECN)"),
                (
                    f'sum(fabrictwin:port_becn_received_packets:per_fabric_second{{{TWIN}, kind="hca"}})',
                    "BECN at senders",
                ),
            ),
            "Marks without BECNs: congestion control is off, or the way back is broken.",
        ),
        course(
            "Rate limits",
            units.Short,
            ((f"topk(10, fabrictwin_hca_ccti_max{{{TWIN}}} {NAMES})", "{{node}}"),),
            "Greatest CCTI at an HCA: the higher, the longer the pause between packets.",
        ),
        course(
            "Drops and errors",
            units.Short,
            (
                (_counted("transmit_discards"), "transmit discards"),
                (_counted("receive_errors"), "receive errors"),
                (_counted("receive_switch_relay_errors"), "no route"),
                (_counted("symbol_error"), "symbol errors"),
                (f"sum(fabrictwin_hca_retransmitted_packets_total{{{TWIN}}})", "retransmitted"),
            ),
            "Counted since the twin began.",
        ),
        course(
            "Events",
            units.Short,
            ((f"sum by (kind) (fabrictwin_fabric_events_total{{{TWIN}}})", "{{kind}}"),),
            "Entries of the event log since the twin began. `fabrictwin status` shows their text.",
        ),
    )


def _health() -> tuple[object, ...]:
    return (
        course(
            "Speed by shard",
            units.Seconds,
            ((f"fabrictwin:speed:rate15s{{{TWIN}}}", "{{shard}}"),),
            "Seconds of fabric time per second of wall time.",
        ),
        course(
            "Step time (wall time)",
            units.Seconds,
            (
                (
                    f"histogram_quantile(0.99, sum by (le, shard) ({_STEPS}))",
                    "99 % {{shard}}",
                ),
            ),
            "Wall time that a step computes, without waiting.",
        ),
        course(
            "Bus (wall time)",
            units.BytesPerSecondSI,
            (
                (
                    f"sum by (shard, peer) (rate(fabrictwin_bus_sent_bytes_total{{{TWIN}}}[15s]))",
                    "{{shard}} to {{peer}}",
                ),
            ),
            "Bytes written to each channel.",
        ),
    )
