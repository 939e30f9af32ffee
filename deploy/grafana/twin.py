# SPDX-License-Identifier: Apache-2.0
"""How the twin itself is doing: services, speed, who waits for whom, the bus, checkpoints, processes."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import TWIN, course, number, states

_STEPS = f"rate(fabrictwin_step_seconds_bucket{{{TWIN}}}[15s])"


def twin() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Twin health",
        "twin",
        "The services of the twin. What they do is per second of wall time.",
        (*_numbers(), *_speed(), *_waits(), *_bus(), *_processes()),
    )


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Services up",
            units.Short,
            f"sum(fabrictwin_twin_up{{{TWIN}}})",
            "Do all answer? Services that do and have not failed.",
        ),
        number(
            "Services down",
            units.Short,
            f'count(up{{{TWIN}, job="fabrictwin"}} == 0) or vector(0)',
            "Is any lost? Services that do not answer.",
            ((1, "red"),),
        ),
        number(
            "Speed now",
            units.Seconds,
            f"max(fabrictwin_fabric_wall_ratio{{{TWIN}}})",
            "How fast is it? Seconds of fabric time per second of wall time.",
        ),
        number(
            "Packet hops (wall time)",
            units.OpsPerSecond,
            f"sum(rate(fabrictwin_packet_hops_total{{{TWIN}}}[15s]))",
            "How much does it simulate? Packets over links, per second of wall time.",
        ),
        number(
            "Packet hops",
            units.OpsPerSecond,
            f"sum(fabrictwin:twin_packet_hops:per_fabric_second{{{TWIN}}})",
            "How much is there to simulate? Packets over links, per second of fabric time.",
        ),
        number(
            "Oldest checkpoint",
            units.Seconds,
            f"time() - min(fabrictwin_checkpoint_timestamp_seconds{{{TWIN}}})",
            "How far would a service that dies go back? Wall time since the oldest of the last checkpoints.",
            ((60, "orange"),),
        ),
    )


def _speed() -> tuple[object, ...]:
    return (
        states(
            "State of the twin",
            ((f"fabrictwin_twin_state{{{TWIN}}} == 1", "{{twin}} {{state}}"),),
            "Does it run? A bar for each state that it was in.",
            {1: ("", "blue")},
        ),
        course(
            "Speed by shard",
            units.Seconds,
            ((f"fabrictwin:speed:rate15s{{{TWIN}}}", "{{shard}}"),),
            "Do all keep up? Seconds of fabric time per second of wall time.",
        ),
        course(
            "Step time (wall time)",
            units.Seconds,
            ((f"histogram_quantile(0.99, sum by (le, shard) ({_STEPS}))", "99 % {{shard}}"),),
            "Who takes long? Wall time that a step computes, without waiting.",
        ),
        course(
            "Phases (wall time)",
            units.PercentUnit,
            (
                (
                    f"sum by (shard, phase) (rate(fabrictwin_phase_seconds_total{{{TWIN}}}[15s]))",
                    "{{shard}} {{phase}}",
                ),
            ),
            "What does a service spend its time on? Part of wall time; a shard that never waits is the "
            "brake.",
        ),
        course(
            "Engine events (wall time)",
            units.OpsPerSecond,
            ((f"rate(fabrictwin_engine_events_total{{{TWIN}}}[15s])", "{{shard}}"),),
            "Who does the work? Events that the engine handles.",
        ),
    )


def _waits() -> tuple[object, ...]:
    return (
        course(
            "Waiting for others (wall time)",
            units.PercentUnit,
            (
                (
                    f"topk(15, rate(fabrictwin_promise_wait_seconds_total{{{TWIN}}}[15s]))",
                    "{{shard}} for {{peer}}",
                ),
            ),
            "Who waits for whom? Part of wall time in which a service waited for a promise of another.",
        ),
        course(
            "Promises behind",
            units.Seconds,
            ((f"topk(15, fabrictwin_promise_lag_seconds{{{TWIN}}})", "{{shard}}: {{peer}}"),),
            "Who is behind? Fabric time by which a promise trails the furthest one.",
        ),
    )


def _bus() -> tuple[object, ...]:
    return (
        course(
            "Bus (wall time)",
            units.BytesPerSecondSI,
            (
                (
                    f"sum by (shard, peer) (rate(fabrictwin_bus_sent_bytes_total{{{TWIN}}}[15s]))",
                    "{{shard}} to {{peer}}",
                ),
            ),
            "Who says most? Bytes written to each channel.",
        ),
        course(
            "Entries on the bus (wall time)",
            units.OpsPerSecond,
            (
                (
                    f"sum by (shard) (rate(fabrictwin_bus_received_entries_total{{{TWIN}}}[15s]))",
                    "{{shard}}",
                ),
            ),
            "How often do they talk? Entries that each service reads.",
        ),
        course(
            "Age of checkpoints",
            units.Seconds,
            ((f"time() - fabrictwin_checkpoint_timestamp_seconds{{{TWIN}}}", "{{shard}}"),),
            "How much would be done again? Wall time since the last checkpoint of each service.",
            ((60, "orange"),),
        ),
        course(
            "Commands",
            units.Short,
            ((f"sum by (do) (fabrictwin_commands_total{{{TWIN}}}) or vector(0)", "{{do}}"),),
            "What do people do to it? Commands accepted since it began.",
        ),
    )


def _processes() -> tuple[object, ...]:
    return (
        course(
            "Processor (wall time)",
            units.PercentUnit,
            ((f"rate(process_cpu_seconds_total{{{TWIN}}}[15s])", "{{shard}}"),),
            "What does each service cost? Part of a core.",
        ),
        course(
            "Memory",
            units.BytesIEC,
            ((f"process_resident_memory_bytes{{{TWIN}}}", "{{shard}}"),),
            "Does any grow? Resident memory of each service.",
        ),
    )
