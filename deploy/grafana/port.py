# SPDX-License-Identifier: Apache-2.0
"""Everything about the ports that were chosen."""

from __future__ import annotations

from boards import board, with_port
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import PER_PORT, PORT, TWIN, course, named, number, states

_VL = PER_PORT + " VL {{vl}}"
_PRIORITY = PER_PORT + " priority {{priority}}"


def port() -> dashboard.Dashboard:
    """The dashboard."""
    return with_port(
        board(
            "Port detail",
            "port",
            "One port, or those that were chosen; rates are per second of fabric time.",
            (*_numbers(), *_traffic(), *_flow_control(), *_priorities(), *_errors()),
        )
    )


def _counted(name: str) -> str:
    """A counter of the ports, since the twin began."""
    return named(f'{{__name__=~"infiniband_(switch|hca)_port_{name}_total", {TWIN}}}', PORT)


def _own(name: str) -> str:
    return named(f"fabrictwin_{name}{{{TWIN}}}", PORT)


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Ports down",
            units.Short,
            f"count({_own('port_up')} == 0) or vector(0)",
            "Does it carry anything? Ports, of those chosen, whose link is down.",
            ((1, "red"),),
        ),
        number(
            "Rate",
            units.BitsPerSecondSI,
            f"8 * min({_own('port_rate_bytes_per_second')})",
            "How fast is the link now? The least of the ports chosen.",
        ),
        number(
            "Rate as cabled",
            units.BitsPerSecondSI,
            f"8 * min({_own('port_enabled_rate_bytes_per_second')})",
            "How fast should it be? More than the rate now: the link is degraded.",
        ),
        number(
            "Utilisation",
            units.PercentUnit,
            f"max(fabrictwin:port_utilisation:ratio{{{PORT}}})",
            "How full is it? Part of the link's rate that it sends at; the greatest.",
            ((0.9, "orange"),),
        ),
        number(
            "Link failures",
            units.Short,
            f"sum({_counted('link_downed')})",
            "Has it been down? LinkDownedCounter since the twin began.",
            ((1, "orange"), (3, "red")),
        ),
        number(
            "Symbol errors",
            units.Short,
            f"sum({_counted('symbol_error')})",
            "Is the cable clean? SymbolErrorCounter since the twin began.",
            ((1, "orange"),),
        ),
    )


def _traffic() -> tuple[object, ...]:
    return (
        course(
            "Bytes",
            units.BitsPerSecondSI,
            (
                (f"8 * fabrictwin:port_transmit_bytes:per_fabric_second{{{PORT}}}", "out " + PER_PORT),
                (f"8 * fabrictwin:port_receive_bytes:per_fabric_second{{{PORT}}}", "in " + PER_PORT),
            ),
            "What does it carry? Bits on the wire, headers included.",
        ),
        course(
            "Packets",
            units.PacketsPerSecond,
            ((f"fabrictwin:port_transmit_packets:per_fabric_second{{{PORT}}}", PER_PORT),),
            "Many small or few large ones? Packets sent.",
        ),
    )


def _flow_control() -> tuple[object, ...]:
    return (
        course(
            "Waiting",
            units.PercentUnit,
            (
                (f"fabrictwin:port_waiting:ratio{{{PORT}}}", PER_PORT),
                (f"fabrictwin:pfc_paused:ratio{{{PORT}}}", _PRIORITY),
            ),
            "Is it held up? Part of fabric time with data to send and no credits; on RoCE, part in which "
            "it was paused.",
            ((0.1, "orange"), (0.5, "red")),
        ),
        course(
            "Blocked for",
            units.Seconds,
            ((_own("port_vl_blocked_seconds"), _VL),),
            "Does it stand right now? How long its next packet has waited.",
            ((1e-4, "orange"), (1e-2, "red")),
        ),
        course(
            "Queues",
            units.BytesIEC,
            ((_own("port_vl_queued_bytes"), _VL),),
            "What waits for it in the switch? Bytes by VL, on RoCE by priority.",
        ),
        course(
            "Credits",
            units.BytesIEC,
            ((_own("port_vl_credit_bytes"), _VL),),
            "What may it send? Room that the other end has promised; InfiniBand.",
        ),
    )


def _priorities() -> tuple[object, ...]:
    return (
        course(
            "Pause frames",
            units.PacketsPerSecond,
            (
                (f"fabrictwin:pfc_pause_sent_frames:per_fabric_second{{{PORT}}}", "sent " + _PRIORITY),
                (f"fabrictwin:pfc_pause_received_frames:per_fabric_second{{{PORT}}}", "heard " + _PRIORITY),
            ),
            "Who pauses whom? PFC frames by priority; RoCE.",
        ),
        course(
            "Headroom",
            units.BytesIEC,
            (
                (_own("pfc_headroom_bytes"), "in use " + _PRIORITY),
                (_own("pfc_headroom_watermark_bytes"), "watermark " + _PRIORITY),
                (_own("pfc_headroom_size_bytes"), "size " + _PRIORITY),
            ),
            "Is there room for what comes until a pause takes effect? A watermark at the size: drops are "
            "near; RoCE.",
        ),
        course(
            "Buffer of its priority groups",
            units.BytesIEC,
            ((_own("priority_group_bytes"), _PRIORITY),),
            "What has come in here and not left the switch? By priority; RoCE.",
        ),
        course(
            "Queue watermarks",
            units.BytesIEC,
            ((_own("priority_queue_watermark_bytes"), _PRIORITY),),
            "How long did a queue ever get? The most that has waited for this output; RoCE.",
        ),
    )


def _errors() -> tuple[object, ...]:
    return (
        course(
            "Errors",
            units.Short,
            tuple(
                (_counted(name), f"{text} {PER_PORT}")
                for name, text in (
                    ("symbol_error", "symbol errors"),
                    ("receive_errors", "receive errors"),
                    ("transmit_discards", "discards"),
                    ("receive_switch_relay_errors", "no route"),
                    ("local_link_integrity_errors", "integrity"),
                    ("link_downed", "link failures"),
                )
            ),
            "What went wrong here? Counted since the twin began.",
        ),
        course(
            "Marks",
            units.PacketsPerSecond,
            (
                (f"fabrictwin:port_fecn_marked_packets:per_fabric_second{{{PORT}}}", "FECN " + PER_PORT),
                (f"fabrictwin:port_ecn_marked_packets:per_fabric_second{{{PORT}}}", "ECN " + PER_PORT),
            ),
            "Does it tell of its congestion? Packets that it has marked.",
        ),
        states(
            "Link",
            ((_own("port_up"), PER_PORT),),
            "When was the link up?",
            {0: ("down", "red"), 1: ("up", "green")},
        ),
    )
