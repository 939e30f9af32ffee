# SPDX-License-Identifier: Apache-2.0
"""The dashboard to start from: how fast the twin runs, what the fabric carries, and where it hurts."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import NODE, PER_PORT, PORT_PAGE, TWIN, course, named, number


def counted(name: str) -> str:
    """A counter of all ports, since the twin began."""
    return f'sum({{__name__=~"infiniband_(switch|hca)_port_{name}_total", {TWIN}}})'


_BLOCKED_NOW = named(f"fabrictwin_port_vl_blocked_seconds{{{TWIN}}}")


def overview() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Fabric overview",
        "overview",
        "Rates are per second of fabric time, unless the title says wall time.",
        (*_numbers(), *_traffic(), *_trouble()),
    )


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Fabric time",
            units.Seconds,
            f"max(fabrictwin_fabric_seconds_total{{{TWIN}}})",
            "How far is the twin? Fabric time that has been simulated.",
        ),
        number(
            "Speed",
            units.Seconds,
            f"max(fabrictwin:speed:rate15s{{{TWIN}}})",
            "How fast is it? Seconds of fabric time per second of wall time; 0 while the twin is paused.",
        ),
        number(
            "Delivered",
            units.BitsPerSecondSI,
            f"8 * sum(fabrictwin:twin_received_payload_bytes:per_fabric_second{{{TWIN}}})",
            "How much arrives? Payload that all HCAs receive in order.",
        ),
        number(
            "Ports blocked",
            units.Short,
            f"count({_BLOCKED_NOW} > 1e-5) or vector(0)",
            "Does anything stand? Ports whose next packet has waited for credits, or for the end of a "
            "pause, for more "
            "than 10 us of fabric time.",
            ((1, "orange"), (10, "red")),
        ),
        number(
            "Links down",
            units.Short,
            f"count(fabrictwin_port_up{{{TWIN}}} == 0) / 2 or vector(0)",
            "Is anything broken? Cables that do not carry anything.",
            ((1, "red"),),
        ),
        number(
            "Alerts",
            units.Short,
            f'count(ALERTS{{{TWIN}, alertstate="firing"}}) or vector(0)',
            "Does anybody have to look? Alerts that fire now.",
            ((1, "orange"),),
        ),
    )


def _traffic() -> tuple[object, ...]:
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
            "Who gets what? Payload delivered in order: all of it, and the ten largest flows.",
        ),
        course(
            "Busiest ports",
            units.PercentUnit,
            ((f"topk(10, fabrictwin:port_utilisation:ratio{{{NODE}}})", PER_PORT),),
            "Where is the fabric full? Part of its link's rate that a port sends at.",
            ((0.9, "orange"),),
            PORT_PAGE,
        ),
    )


def _trouble() -> tuple[object, ...]:
    return (
        course(
            "Stalls of flow control",
            units.PercentUnit,
            (
                (f"topk(10, fabrictwin:port_waiting:ratio{{{NODE}}})", PER_PORT),
                (f"topk(10, fabrictwin:pfc_paused:ratio{{{NODE}}})", PER_PORT + " priority {{priority}}"),
            ),
            "Who is held up? Part of fabric time in which a port had data to send and no credits "
            "(PortXmitWait); "
            "on RoCE, in which it was paused.",
            ((0.1, "orange"), (0.5, "red")),
            PORT_PAGE,
        ),
        course(
            "Blocked ports",
            units.Seconds,
            ((f"topk(10, {_BLOCKED_NOW})", PER_PORT + " VL {{vl}}"),),
            "Does anything stand for good? How long a port's next packet has waited for credits, or for "
            "the end of a "
            "pause. Only rising: deadlock or dead receiver.",
            ((1e-4, "orange"), (1e-2, "red")),
            PORT_PAGE,
        ),
        course(
            "Longest queues",
            units.BytesIEC,
            ((f"topk(10, {named(f'fabrictwin_port_vl_queued_bytes{{{TWIN}}}')})", PER_PORT + " VL {{vl}}"),),
            "Where does traffic pile up? Packets in a switch that wait for an output.",
            (),
            PORT_PAGE,
        ),
        course(
            "Congestion control",
            units.PacketsPerSecond,
            (
                (f"sum(fabrictwin:port_fecn_marked_packets:per_fabric_second{{{NODE}}})", "marked (FECN)"),
                (
                    f'sum(fabrictwin:port_becn_received_packets:per_fabric_second{{{TWIN}, kind="hca"}})',
                    "BECN at senders",
                ),
                (f"sum(fabrictwin:port_ecn_marked_packets:per_fabric_second{{{NODE}}})", "marked (ECN)"),
                (f"sum(fabrictwin:hca_cnp_handled_packets:per_fabric_second{{{TWIN}}})", "CNP at senders"),
            ),
            "Do senders hear of it? Marks without notifications: congestion control is off, or the way "
            "back is broken.",
        ),
        course(
            "Rate limits",
            units.Short,
            ((f"topk(10, fabrictwin:hca_rate_limited:ratio{{{NODE}}})", "{{node}}"),),
            "Who is slowed down? Queue pairs, on average, that congestion control has wait between packets.",
        ),
        course(
            "Drops and errors",
            units.Short,
            (
                (counted("transmit_discards"), "transmit discards"),
                (counted("receive_errors"), "receive errors"),
                (counted("receive_switch_relay_errors"), "no route"),
                (counted("symbol_error"), "symbol errors"),
                (f"sum(fabrictwin_hca_retransmitted_packets_total{{{TWIN}}})", "retransmitted"),
                (f"sum(fabrictwin_pfc_headroom_drops_total{{{TWIN}}})", "lossless drops"),
            ),
            "What was lost? Counted since the twin began.",
        ),
        course(
            "Events",
            units.Short,
            ((f"sum by (kind) (fabrictwin_fabric_events_total{{{TWIN}}})", "{{kind}}"),),
            "What has happened? Entries of the event log since the twin began; `fabrictwin status` shows "
            "their text.",
        ),
    )
