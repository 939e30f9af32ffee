# SPDX-License-Identifier: Apache-2.0
"""The arrays that only an Ethernet fabric fills: buffers, priority groups, next hops, rates.

On InfiniBand each is one empty record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.build_rates import (
    RATE_ARRAYS,
    build_rate_rules,
    build_rates,
    is_closed_loop,
    rate_control_of,
    telemetry_bytes,
)
from fabrictwin.engine.codes import (
    ACK_BYTES,
    CNP_BYTES,
    DATA_OVERHEAD_BYTES,
    ETHERNET_ACK_BYTES,
    ETHERNET_CNP_BYTES,
    ETHERNET_DATA_OVERHEAD_BYTES,
)
from fabrictwin.engine.ethernet.ecmp import FLOWLETS
from fabrictwin.engine.plan import PRIORITIES, Plan, model_of
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.model.fabric import Link, NodeKind, PortRef, Technology
from fabrictwin.model.hardware.ethernet_switch_model import LONGEST_PAUSE_QUANTA, EthernetSwitchModel
from fabrictwin.model.hardware.headroom import headroom_bytes, response_ps

_SEED_RANGE = 1 << 31


def build_ethernet(plan: Plan, port: st.Records) -> dict[str, Any]:
    """The arrays, by name.

    Args:
        plan: The scenario and its rows.
        port: PORT; switches' ports are told from adapters'.
    """
    if plan.scenario.fabric.technology is not Technology.ROCE:
        return _empty()
    for index in plan.scenario.fabric.switches:
        first = int(plan.ports.first[index])
        port.voq0[first : first + plan.scenario.fabric.nodes[index].ports] = 0
    group, member = _build_groups(plan)
    return {
        "lane": _build_lanes(plan),
        "lane_more": st.records(plan.ports.total * plan.vls, st.LANE_MORE),
        "buffer": st.records(len(plan.scenario.fabric.nodes), st.BUFFER),
        "buffer_rule": _build_rules(plan),
        "route": np.ascontiguousarray(plan.forwarding.group, np.uint16).ravel().copy(),
        "group": group,
        "member": member,
        "flowlet": _build_flowlets(plan),
        **build_rates(plan),
        **build_rate_rules(plan),
    }


def wire_sizes(plan: Plan) -> dict[str, int]:
    """The fields of PARAMETER that say how long packets are, and how they spread."""
    if plan.scenario.fabric.technology is not Technology.ROCE:
        return {"data_overhead": DATA_OVERHEAD_BYTES, "ack_bytes": ACK_BYTES, "cnp_bytes": CNP_BYTES}
    return {
        "data_overhead": ETHERNET_DATA_OVERHEAD_BYTES + telemetry_bytes(plan),
        "ack_bytes": ETHERNET_ACK_BYTES,
        "cnp_bytes": ETHERNET_CNP_BYTES,
        "ethernet": 1,
        "rate_control": rate_control_of(plan),
        "closed_loop": int(is_closed_loop(plan)),
        "spraying": int(plan.scenario.routing.spraying),
        "flowlet_ps": plan.scenario.routing.flowlet_ps,
    }


def _empty() -> dict[str, Any]:
    names = ("lane", "lane_more", "buffer", "buffer_rule", "group", "flowlet", *RATE_ARRAYS)
    arrays: dict[str, Any] = {name: st.records(1, st.ARRAYS[name]) for name in names}
    return arrays | {"route": np.zeros(1, np.uint16), "member": np.zeros(1, np.uint8)}


def _build_lanes(plan: Plan) -> st.Records:
    """[ports * vls] LANE: what a priority group may hold beside the shared pool."""
    lane = st.records(plan.ports.total * plan.vls, st.LANE)
    by_priority = lane.reshape(plan.vls, plan.ports.total)
    scenario = plan.scenario
    for index, node in enumerate(scenario.fabric.nodes):
        model = model_of(scenario, index)
        for number in range(1, node.ports + 1):
            end = PortRef(index, number)
            link = scenario.fabric.link_at.get(end)
            if link is None:
                continue
            row = by_priority[:, plan.ports.of(end)]
            if node.kind is NodeKind.SWITCH:
                row.reserve_bytes[:PRIORITIES] = model.reserve_bytes
            for priority in sorted(scenario.qos.lossless):
                row[priority].lossless = 1
                row[priority].headroom_size_bytes = _headroom(model, link, scenario.mtu_bytes)
    return lane


def _headroom(model: Any, link: Link, mtu_bytes: int) -> int:
    if model.headroom_bytes is not None:
        return int(model.headroom_bytes)
    return headroom_bytes(model.headroom_profile, link.rate_bps, link.length_mm, mtu_bytes)


def _build_rules(plan: Plan) -> st.Records:
    """[nodes] BUFFER_RULE."""
    scenario = plan.scenario
    rule = st.records(len(scenario.fabric.nodes), st.BUFFER_RULE)
    for row, index in enumerate(scenario.fabric.switches):
        model: Any = model_of(scenario, index)
        record = rule[index]
        record.shared_bytes = model.shared_buffer_bytes
        record.alpha_q16, record.egress_alpha_q16 = model.alpha_q16, model.egress_alpha_q16
        if model.ecn is not None:
            record.kmin_bytes, record.kmax_bytes = model.ecn.kmin_bytes, model.ecn.kmax_bytes
            record.pmax_q16 = model.ecn.pmax_q16
        if model.watchdog is not None:
            record.watch_ps, record.detection_ps = model.watchdog.poll_ps, model.watchdog.detection_ps
            record.restoration_ps = model.watchdog.restoration_ps
        if not scenario.routing.equal_seeds:
            record.hash_seed = draw_below(scenario.seed, Stream.PATH, row, 0, _SEED_RANGE)
        _set_pause(record, plan, index, model)
    for index in scenario.fabric.hcas:
        model = model_of(scenario, index)
        rule[index].shared_bytes = model.receive_buffer_bytes - _largest_headroom(plan, index, model)
        _set_pause(rule[index], plan, index, model)
    return rule


def _set_pause(record: Any, plan: Plan, node: int, model: Any) -> None:
    record.quanta = model.pause_quanta if isinstance(model, EthernetSwitchModel) else LONGEST_PAUSE_QUANTA
    record.xon_offset_bytes = model.xon_offset_bytes
    rate_bps = max((link.rate_bps for link in _links_of(plan, node)), default=0)
    record.response_ps = model.response_ps if model.response_ps is not None else response_ps(rate_bps)


def _largest_headroom(plan: Plan, node: int, model: Any) -> int:
    sizes = (_headroom(model, link, plan.scenario.mtu_bytes) for link in _links_of(plan, node))
    return max(sizes, default=0)


def _links_of(plan: Plan, node: int) -> list[Link]:
    fabric = plan.scenario.fabric
    ends = (PortRef(node, number) for number in range(1, fabric.nodes[node].ports + 1))
    return [fabric.link_at[end] for end in ends if end in fabric.link_at]


def _build_groups(plan: Plan) -> tuple[st.Records, np.ndarray]:
    """(GROUP by number, output ports of all groups one behind another)."""
    groups = plan.forwarding.groups
    group = st.records(max(1, len(groups)), st.GROUP)
    group.count[: len(groups)] = [len(ports) for ports in groups]
    group["first"][1:] = np.cumsum(group.count)[:-1]
    member = np.array([port for ports in groups for port in ports] or [0], np.uint8)
    return group, member


def _build_flowlets(plan: Plan) -> st.Records:
    rows = len(plan.scenario.fabric.switches) * FLOWLETS if plan.scenario.routing.flowlet_ps else 1
    return st.records(rows, st.FLOWLET, key=-1)
