# SPDX-License-Identifier: Apache-2.0
"""Who manages the subnet, and what it does about what happens."""

from __future__ import annotations

from boards import board
from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models import units
from panels import NODE, PER_PORT, PORT_PAGE, TWIN, course, named, number, states

_SM_STATES = {
    0: ("not active", "red"),
    1: ("discovering", "yellow"),
    2: ("standby", "blue"),
    3: ("master", "green"),
}


def subnet() -> dashboard.Dashboard:
    """The dashboard."""
    return board(
        "Subnet manager",
        "subnet",
        "Subnet managers, sweeps, forwarding tables, and what the fabric makes of them.",
        (*_numbers(), *_managers(), *_fabric()),
    )


def _numbers() -> tuple[object, ...]:
    return (
        number(
            "Masters",
            units.Short,
            f"count(fabrictwin_sm_state{{{TWIN}}} == 3) or vector(0)",
            "Is there one master? None: nothing is re-routed. Two: they undo each other's work.",
            ((2, "red"),),
        ),
        number(
            "Standbys",
            units.Short,
            f"count(fabrictwin_sm_state{{{TWIN}}} == 2) or vector(0)",
            "Who would take over? Subnet managers on standby.",
        ),
        number(
            "Blocks written",
            units.Short,
            f"sum(fabrictwin_sm_lft_blocks_written_total{{{TWIN}}})",
            "How much was re-routed? Blocks of forwarding tables written since the twin began.",
        ),
        number(
            "Switches",
            units.Short,
            f"count(infiniband_switch_info{{{TWIN}}})",
            "How large is the subnet? Switches that have a LID.",
        ),
        number(
            "HCA ports",
            units.Short,
            f"count(infiniband_hca_info{{{TWIN}}})",
            "How large is the subnet? Ports of HCAs that have a LID.",
        ),
        number(
            "Links down",
            units.Short,
            f"count(fabrictwin_port_up{{{TWIN}}} == 0) / 2 or vector(0)",
            "What is there to route around? Cables that do not carry anything.",
            ((1, "red"),),
        ),
    )


def _managers() -> tuple[object, ...]:
    return (
        states(
            "State of the subnet managers",
            ((f"fabrictwin_sm_state{{{TWIN}}}", "{{shard}}"),),
            "Who was master when? SMInfo.SMState.",
            _SM_STATES,
        ),
        course(
            "What they did",
            units.Short,
            ((f"sum by (shard, kind) (fabrictwin_sm_events_total{{{TWIN}}})", "{{shard}} {{kind}}"),),
            "Do they notice what happens? Traps, sweeps and failovers since the twin began.",
        ),
        course(
            "Forwarding tables",
            units.Short,
            ((f"fabrictwin_sm_lft_blocks_written_total{{{TWIN}}}", "{{shard}}"),),
            "When was the fabric re-routed? Blocks of forwarding tables written since the twin began.",
        ),
    )


def _fabric() -> tuple[object, ...]:
    unrouted = named(f"infiniband_switch_port_receive_switch_relay_errors_total{{{TWIN}}}")
    busy = f"fabrictwin:port_utilisation:ratio{{{NODE}}}"
    uplinks = f'infiniband_switch_uplink_info{{{TWIN}, uplink_type="SW"}}'
    events = 'kind=~"link_down|link_up|lft_write|first_packet"'
    return (
        course(
            "What the fabric saw of it",
            units.Short,
            ((f"sum by (kind) (fabrictwin_fabric_events_total{{{TWIN}, {events}}})", "{{kind}}"),),
            "Does it take effect? Links that went down and up, blocks that switches have taken, first "
            "packets on new paths.",
        ),
        course(
            "Packets without a way",
            units.Short,
            ((f"topk(10, {unrouted})", PER_PORT),),
            "Is anything not routed? PortRcvSwitchRelayErrors since the twin began.",
            ((1, "orange"),),
            PORT_PAGE,
        ),
        course(
            "Balance of the links between switches",
            units.PercentUnit,
            (
                (
                    f"topk(20, {busy} and on (job, instance, guid, port) {uplinks})",
                    PER_PORT,
                ),
            ),
            "Do the routes spread the load? Part of its rate that each link between switches carries; the "
            "fullest twenty.",
            ((0.9, "orange"),),
            PORT_PAGE,
        ),
    )
