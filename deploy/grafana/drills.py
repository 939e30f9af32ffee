# SPDX-License-Identifier: Apache-2.0
"""What a drill does to the fabric: faults, alerts, and what the workload feels of them, under each other."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from overview import counted
from panels import NODE, PER_PORT, TWIN, course, number, states


def drills() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Drill timeline",
        "drills",
        "Cause, detection and effect of a fault under each other. Red regions: faults that are active.",
        (*_numbers(), *_timelines(), *_effects()),
    )


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Faults",
            units.Short,
            f"sum(fabrictwin_fault_active{{{TWIN}}}) or vector(0)",
            "Is a drill going on? Faults injected and not cleared.",
            ((1, "orange"),),
        ),
        number(
            "Alerts firing",
            units.Short,
            f'count(ALERTS{{{TWIN}, alertstate="firing"}}) or vector(0)',
            "Was it detected? Alerts that fire now.",
            ((1, "orange"),),
        ),
        number(
            "Links down",
            units.Short,
            f"count(fabrictwin_port_up{{{TWIN}}} == 0) / 2 or vector(0)",
            "What is broken? Cables that do not carry anything.",
            ((1, "red"),),
        ),
        number(
            "Blocks written",
            units.Short,
            f"sum(fabrictwin_sm_lft_blocks_written_total{{{TWIN}}})",
            "Was it routed around? Blocks of forwarding tables written since the twin began.",
        ),
        number(
            "Failed messages",
            units.Short,
            f"sum(fabrictwin_hca_messages_failed_total{{{TWIN}}})",
            "Did the workload survive? Messages given up.",
            ((1, "red"),),
        ),
        number(
            "Commands",
            units.Short,
            f"sum(fabrictwin_commands_total{{{TWIN}}}) or vector(0)",
            "Has anybody touched the twin? Commands accepted since it began.",
        ),
    )


def _timelines() -> tuple[object, ...]:
    return (
        states(
            "Faults active",
            ((f"fabrictwin_fault_active{{{TWIN}}}", "{{kind}} {{target}}"),),
            "What was broken, and when? A bar for each fault.",
            {0: ("over", "green"), 1: ("active", "red")},
        ),
        states(
            "Alerts raised",
            ((f'max by (alertname) (ALERTS{{{TWIN}, alertstate="firing"}})', "{{alertname}}"),),
            "When was it detected? A bar for each alert that fires.",
            {1: ("firing", "orange")},
        ),
        states(
            "Twin",
            ((f"fabrictwin_twin_state{{{TWIN}}} == 1", "{{twin}} {{state}}"),),
            "Did the twin run meanwhile? A bar for each state that it was in.",
            {1: ("", "blue")},
        ),
    )


def _effects() -> tuple[object, ...]:
    return (
        course(
            "Payload delivered",
            units.BitsPerSecondSI,
            (
                (
                    f"8 * sum by (twin) (fabrictwin:twin_received_payload_bytes:per_fabric_second{{{TWIN}}})",
                    "{{twin}}",
                ),
            ),
            "What does the workload feel, and for how long? Payload that all HCAs receive in order.",
        ),
        course(
            "Slowest of the flows",
            units.BitsPerSecondSI,
            ((f"8 * bottomk(10, fabrictwin:flow_received_bytes:per_fabric_second{{{TWIN}}})", "{{flow}}"),),
            "Who is hit? Payload of the ten flows that get least.",
        ),
        course(
            "Traps, sweeps, failovers",
            units.Short,
            ((f"sum by (shard, kind) (fabrictwin_sm_events_total{{{TWIN}}})", "{{shard}} {{kind}}"),),
            "Does the subnet manager react? Since the twin began.",
        ),
        course(
            "Losses",
            units.Short,
            (
                (counted("transmit_discards"), "transmit discards"),
                (counted("receive_errors"), "receive errors"),
                (counted("symbol_error"), "symbol errors"),
                (counted("link_downed"), "link failures"),
                (f"sum(fabrictwin_hca_retransmitted_packets_total{{{TWIN}}})", "retransmitted"),
            ),
            "What does it cost? Counted since the twin began.",
        ),
        course(
            "Stalls",
            units.PercentUnit,
            (
                (f"topk(10, fabrictwin:port_waiting:ratio{{{NODE}}})", PER_PORT),
                (f"topk(10, fabrictwin:pfc_paused:ratio{{{NODE}}})", PER_PORT + " priority {{priority}}"),
            ),
            "Does it spread? Part of fabric time in which a port had no credits, or was paused.",
            ((0.1, "orange"), (0.5, "red")),
        ),
        course(
            "Log of events",
            units.Short,
            ((f"sum by (kind) (fabrictwin_fabric_events_total{{{TWIN}}})", "{{kind}}"),),
            "What happened? Entries of the event log since the twin began.",
        ),
    )
