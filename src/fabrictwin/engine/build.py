# SPDX-License-Identifier: Apache-2.0
"""From a scenario and its forwarding tables to the engine's arrays: the only place that fills them."""

from __future__ import annotations

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.build_actions import build_actions, queue_first_events
from fabrictwin.engine.build_ethernet import build_ethernet, wire_sizes
from fabrictwin.engine.build_fabric import (
    build_nodes,
    build_port_more,
    build_port_vls,
    build_ports,
    build_pv_inputs,
    build_pv_more,
    build_voqs,
    weighted,
)
from fabrictwin.engine.build_traffic import (
    build_cc,
    build_code,
    build_flows,
    build_hca_parameters,
    build_ranks,
    build_requesters,
    build_responders,
)
from fabrictwin.engine.cc.ib_cca import CCTI_TIMER_UNIT_PS
from fabrictwin.engine.codes import NEVER, CcRole
from fabrictwin.engine.loop import RESERVE
from fabrictwin.engine.plan import (
    Plan,
)
from fabrictwin.engine.state import table
from fabrictwin.model.controller import LFT_BLOCK_BYTES

WHEEL_BUCKETS = 1 << 11
CACHED_PORTS = 2048
"""Ports of a fabric whose records stay in a core's cache."""
RECORDS_PER_LINK = 8
"""Packets, events and cells that a busy fabric has under way, so that the pools seldom grow."""


def build_state(
    plan: Plan, owned: np.ndarray, *, trace: bool = False, cc_role: CcRole = CcRole.TOGETHER
) -> st.State:
    """The arrays of a shard at fabric time 0.

    Args:
        plan: Names for the rows.
        owned: [nodes] bool, the nodes that this shard simulates; events of others are not made.
        trace: Record every packet and FCP.
        cc_role: Where the reaction points of congestion control are.

    Returns:
        The state, with its first events queued.
    """
    port = build_ports(plan, owned)
    actions = build_actions(plan)
    traffic = 4 * RESERVE + RECORDS_PER_LINK * len(plan.scenario.fabric.links)
    events = traffic + len(actions) + len(plan.ranks)
    chunks = 4 * RESERVE + len(plan.scenario.fabric.links) + len(actions) + len(plan.ranks)
    state = st.State(
        g=_build_globals(),
        par=_build_parameters(plan, trace, cc_role),
        port=port,
        port_more=build_port_more(plan),
        pv=build_port_vls(plan, port),
        pv_input=build_pv_inputs(plan, port),
        pv_more=build_pv_more(plan),
        voq=build_voqs(plan, port),
        packet=st.pool(traffic, st.PACKET),
        cell=st.pool(traffic, st.CELL),
        chunk=st.pool(chunks, st.CHUNK),
        event=st.records(chunks * st.CHUNK_EVENTS, st.EVENT),
        bucket=st.records(WHEEL_BUCKETS, st.BUCKET, chunk=-1),
        occupied=np.zeros(WHEEL_BUCKETS // 64, np.uint64),
        slot=np.full(st.SLOTS, -1, np.int32),
        sorted=st.records(events, st.EVENT),
        heap=st.records(events, st.EVENT),
        node=build_nodes(plan),
        lft=np.ascontiguousarray(plan.forwarding.lft, np.uint8).ravel().copy(),
        lft_moved=np.zeros(plan.forwarding.lft.shape[0] * -(-plan.forwarding.lft.shape[1] // 8), np.uint8),
        sl2vl=np.array(plan.scenario.qos.sl2vl, np.int8),
        high=table(weighted(plan.scenario.qos.vlarb_high), st.ARBITRATION_ENTRY),
        low=table(weighted(plan.scenario.qos.vlarb_low), st.ARBITRATION_ENTRY),
        requester=build_requesters(plan),
        responder=build_responders(plan),
        message=st.pool(4 * RESERVE, st.MESSAGE),
        flow=build_flows(plan),
        rank=build_ranks(plan),
        code=build_code(plan),
        hca=build_hca_parameters(plan),
        cc=build_cc(plan),
        cct=table(plan.scenario.congestion_control.cct, st.CCT_ENTRY),
        action=actions,
        lft_blocks=np.zeros(LFT_BLOCK_BYTES, np.uint8),
        latency=st.records(4 * RESERVE, st.LATENCY),
        mark=st.records(2 * RESERVE, st.MARK),
        log=st.records(4 * RESERVE, st.LOG),
        out_packet=st.records(2 * RESERVE, st.PACKET),
        out_fcp=st.records(4 * RESERVE, st.FCP_OUT),
        out_cc=st.records(2 * RESERVE, st.CC_OUT),
        trace=st.records(2 * RESERVE, st.PACKET_TRACE),
        fcp_trace=st.records(2 * RESERVE, st.FCP_TRACE),
        boundary=np.flatnonzero(port.remote).astype(np.int32),
        **build_ethernet(plan, port),
    )
    for name in st.POOLS:
        state.g[0][f"{name}s_left"] = len(getattr(state, name))
    queue_first_events(state, len(plan.ranks), owned)
    return state


def _build_globals() -> st.Records:
    return st.records(1, st.GLOBAL, bucket=-1, credits_known_ps=NEVER, stuck_ps=-1)


def _build_parameters(plan: Plan, trace: bool, cc_role: CcRole) -> st.Records:
    scenario = plan.scenario
    control = scenario.congestion_control
    return st.records(
        1,
        st.PARAMETER,
        seed=scenario.seed,
        ports=plan.ports.total,
        vls=plan.vls,
        mtu=scenario.mtu_bytes,
        shift=_bucket_shift(plan),
        buckets=WHEEL_BUCKETS,
        trace=int(trace),
        look_ahead=int(2 * len(scenario.fabric.links) > CACHED_PORTS),
        management=int(any(flow.management for _, flow in plan.flows)),
        high_limit=scenario.qos.vl_high_limit,
        high_entries=len(weighted(scenario.qos.vlarb_high)),
        low_entries=len(weighted(scenario.qos.vlarb_low)),
        lids=plan.forwarding.lft.shape[1],
        cc_on=int(control.algorithm != "none"),
        cc_role=cc_role,
        marking_rate=control.marking_rate,
        packet_size=control.packet_size_blocks,
        ccti_increase=control.ccti_increase,
        ccti_limit=control.ccti_limit,
        ccti_min=control.ccti_min,
        ccti_timer_ps=control.ccti_timer * CCTI_TIMER_UNIT_PS,
        reaction_ps=control.reaction_latency_ps,
        **wire_sizes(plan),
    )


def _bucket_shift(plan: Plan) -> int:
    """log2 of a bucket in ps: less than an event a slot on a busy fabric, and a wheel longer than a hop."""
    fabric = plan.scenario.fabric
    packet_ps = sum(8 * 10**12 * plan.scenario.mtu_bytes // link.rate_bps for link in fabric.links)
    packet_ps //= max(1, len(fabric.links))
    width_ps = st.SLOTS * packet_ps // max(1, 6 * len(fabric.links))
    longest_ps = max((link.propagation_ps for link in fabric.links), default=0) + 4 * packet_ps + 10**6
    return max(width_ps.bit_length() - 1, (longest_ps // WHEEL_BUCKETS).bit_length(), 9)
