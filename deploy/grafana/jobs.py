# SPDX-License-Identifier: Apache-2.0
"""What the workload gets out of the fabric: jobs, messages, flows."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import NODE, TWIN, course, number


def jobs() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Jobs and messages",
        "jobs",
        "Workloads, their messages and flows; rates are per second of fabric time.",
        (*_numbers(), *_jobs(), *_messages(), *_reasons(), *_flows()),
    )


def _total(name: str) -> str:
    return f"sum(fabrictwin_hca_{name}_total{{{TWIN}}})"


def _numbers() -> tuple[object, ...]:
    return (
        number("Posted", units.Short, _total("messages_posted"), "How much was asked for? Messages posted."),
        number(
            "Completed",
            units.Short,
            _total("messages_completed"),
            "How much is done? Messages acknowledged to the end.",
        ),
        number(
            "Under way",
            units.Short,
            f"sum(fabrictwin_messages_outstanding{{{TWIN}}})",
            "What is being sent? Messages neither acknowledged nor failed.",
        ),
        number(
            "Failed",
            units.Short,
            _total("messages_failed"),
            "Was anything given up? Messages whose retries are exhausted.",
            ((1, "red"),),
        ),
        number(
            "Delivered",
            units.BitsPerSecondSI,
            f"8 * sum(fabrictwin:twin_received_payload_bytes:per_fabric_second{{{TWIN}}})",
            "What do the jobs get? Payload that all HCAs receive in order.",
        ),
        number(
            "Flows",
            units.Short,
            f"max(fabrictwin_flows{{{TWIN}}})",
            "How many talk to each other? Flows of the twin; the first thousand have series of their own.",
        ),
    )


def _jobs() -> tuple[object, ...]:
    return (
        course(
            "Iterations",
            units.Short,
            (
                (
                    f"min by (twin, workload, kind) (fabrictwin_workload_iterations_total{{{TWIN}}})",
                    "{{workload}} ({{kind}})",
                ),
            ),
            "Do the jobs get on? Iterations that every rank has ended, since the twin began.",
        ),
        course(
            "Iterations a second",
            units.OpsPerSecond,
            (
                (
                    "min by (twin, workload, kind) "
                    f"(fabrictwin:workload_iterations:per_fabric_second{{{TWIN}}})",
                    "{{workload}} ({{kind}})",
                ),
            ),
            "How fast are the jobs? Iterations of the slowest rank.",
        ),
    )


def _messages() -> tuple[object, ...]:
    return (
        course(
            "Messages received",
            units.OpsPerSecond,
            ((f"topk(10, fabrictwin:hca_messages_received:per_fabric_second{{{NODE}}})", "{{node}}"),),
            "Who gets messages, and how many? Messages received to the end.",
        ),
        course(
            "Payload received",
            units.BitsPerSecondSI,
            (
                (
                    f"8 * topk(10, fabrictwin:hca_received_payload_bytes:per_fabric_second{{{NODE}}})",
                    "{{node}}",
                ),
            ),
            "Who gets most? Payload received in order.",
        ),
        course(
            "Queue pairs",
            units.Short,
            ((f"sum by (state) (fabrictwin_hca_queue_pairs{{{TWIN}}})", "{{state}}"),),
            "What do the senders do? Idle: nothing to send. Paced: slowed down. Error: given up.",
        ),
        course(
            "Sent again",
            units.PacketsPerSecond,
            ((f"topk(10, fabrictwin:hca_retransmitted_packets:per_fabric_second{{{NODE}}})", "{{node}}"),),
            "Who has to repeat itself? Packets sent again after a loss, a timeout or a receiver that was "
            "not ready.",
        ),
    )


def _reasons() -> tuple[object, ...]:
    reasons = (
        ("out_of_sequence_packets_received", "ahead of what was expected"),
        ("packet_sequence_errors", "NAK for a gap"),
        ("local_ack_timeout_errors", "timeout"),
        ("rnr_nak_retry_packets_received", "receiver not ready"),
        ("duplicate_requests_packets", "received twice"),
    )
    return (
        course(
            "Reasons to send again",
            units.Short,
            tuple((f"sum(node_infiniband_{name}_total{{{TWIN}}})", text) for name, text in reasons),
            "Why is anything sent again? Loss shows as gaps, a dead path as timeouts, a slow host as "
            "receiver not "
            "ready. Counted since the twin began.",
        ),
        course(
            "Who meets gaps",
            units.Short,
            (
                (
                    f"topk(10, node_infiniband_out_of_sequence_packets_received_total{{{TWIN}}})",
                    "{{device}}",
                ),
            ),
            "Which hosts see packets out of sequence? Behind a path that loses them. Counted since the "
            "twin began.",
        ),
    )


def _flows() -> tuple[object, ...]:
    flow = "{{flow}} {{src}} to {{dst}}"
    rate = f"fabrictwin:flow_received_bytes:per_fabric_second{{{TWIN}}}"
    return (
        course(
            "Fastest flows",
            units.BitsPerSecondSI,
            ((f"8 * topk(10, {rate})", flow),),
            "Who gets most? Payload of the ten largest flows.",
        ),
        course(
            "Slowest flows",
            units.BitsPerSecondSI,
            ((f"8 * bottomk(10, {rate})", flow),),
            "Who gets least? Payload of the ten smallest flows: a collective is as fast as its slowest.",
        ),
        course(
            "Packets sent again by flow",
            units.Short,
            ((f"topk(10, fabrictwin_flow_retransmitted_packets_total{{{TWIN}}})", flow),),
            "Which flows lose packets? Sent again since the twin began.",
        ),
        course(
            "Messages by flow",
            units.Short,
            ((f"topk(10, fabrictwin_flow_received_messages_total{{{TWIN}}})", flow),),
            "Which flows have got how far? Messages delivered since the twin began.",
        ),
    )
