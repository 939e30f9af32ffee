# SPDX-License-Identifier: Apache-2.0
"""From a scenario and its forwarding tables to the engine's arrays: the only place that fills them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.cc.ib_cca import CCTI_TIMER_UNIT_PS
from fabrictwin.engine.codes import NEVER, CcRole, EventKind, PvCare, QpState
from fabrictwin.engine.forwarding import Forwarding
from fabrictwin.engine.hca import AT_LINE_RATE
from fabrictwin.engine.loop import RESERVE
from fabrictwin.engine.queue import push_event
from fabrictwin.engine.vl_arbitration import LIMIT_UNIT_BYTES
from fabrictwin.jit import kernel
from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.controller import DIRECT_KINDS, LFT_BLOCK_BYTES
from fabrictwin.model.fabric import Fabric, Link, NodeKind, PortRef
from fabrictwin.model.program import LOOP_DEPTH, Flow
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import femtoseconds_per_byte

WHEEL_BUCKETS = 1 << 16
EVENTS_PER_BUCKET = 4
CACHED_PORTS = 2048
"""Ports of a fabric whose records stay in a core's cache."""
RECORDS_PER_LINK = 8
"""Packets, events and cells that a busy fabric has under way, so that the pools seldom grow."""
CODEWORD_BITS = 5440
"""RS(544,514) codeword."""


class PortIndex(NamedTuple):
    """Where the ports of the nodes stand in the arrays.

    Attributes:
        first: [nodes] index of each node's port 1.
        total: Number of ports.
    """

    first: np.ndarray
    total: int

    def of(self, end: PortRef) -> int:
        """Index of a port."""
        return int(self.first[end.node]) + end.port - 1


@dataclass(frozen=True)
class Plan:
    """What does not change while the arrays live: names for the rows.

    Attributes:
        scenario: The scenario.
        forwarding: Its forwarding tables.
        ports: Where ports stand.
        flows: (job index, flow) of every flow, in order.
        first_qp: [flows + 1] first queue pair of each flow.
        ranks: (job index, program index) of every rank.
        vls: Data VLs, plus one for VL15.
    """

    scenario: Scenario
    forwarding: Forwarding
    ports: PortIndex
    flows: tuple[tuple[int, Flow], ...]
    first_qp: np.ndarray
    ranks: tuple[tuple[int, int], ...]
    vls: int


def make_plan(scenario: Scenario, forwarding: Forwarding) -> Plan:
    """Numbers ports, flows, queue pairs and ranks."""
    sizes = np.array([node.ports for node in scenario.fabric.nodes], np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    flows = tuple((job, flow) for job, work in enumerate(scenario.jobs) for flow in work.flows)
    first_qp = np.concatenate([[0], np.cumsum([flow.qps for _, flow in flows])]).astype(np.int64)
    ranks = tuple((job, r) for job, work in enumerate(scenario.jobs) for r in range(len(work.programs)))
    plan = Plan(scenario, forwarding, PortIndex(first[:-1], int(first[-1])), flows, first_qp, ranks, 0)
    used = {scenario.qos.sl2vl[path_sl(plan, flow, number)] for _, number, _, flow in _queue_pairs(plan)}
    data_vls = max((vl for vl in used if vl < scenario.data_vls), default=0) + 1
    return Plan(scenario, forwarding, plan.ports, flows, first_qp, ranks, data_vls + 1)


def destination_lid(plan: Plan, flow: Flow, qp: int) -> int:
    """The LID that a queue pair of a flow sends to."""
    return plan.forwarding.lid_of[flow.dst] + qp % (1 << plan.forwarding.lmc)


def path_sl(plan: Plan, flow: Flow, qp: int) -> int:
    """The service level of a queue pair: the path's where routing decides it, else the flow's."""
    decide = plan.forwarding.service_level
    return flow.sl if decide is None else decide(flow.src, destination_lid(plan, flow, qp))


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
    port = _build_ports(plan, owned)
    actions = _build_actions(plan)
    traffic = 4 * RESERVE + RECORDS_PER_LINK * len(plan.scenario.fabric.links)
    events = traffic + len(actions) + len(plan.ranks)
    state = st.State(
        g=_build_globals(),
        par=_build_parameters(plan, trace, cc_role),
        port=port,
        port_more=_build_port_more(plan),
        pv=_build_port_vls(plan, port),
        pv_input=_build_pv_inputs(plan, port),
        pv_more=_build_pv_more(plan),
        voq=_build_voqs(plan, port),
        packet=st.pool(traffic, st.PACKET),
        cell=st.pool(traffic, st.CELL),
        event=st.pool(events, st.EVENT),
        bucket=np.full(WHEEL_BUCKETS, -1, np.int32),
        occupied=np.zeros(WHEEL_BUCKETS // 64, np.uint64),
        sorted=st.records(events, st.EVENT),
        heap=st.records(events, st.EVENT),
        node=_build_nodes(plan),
        lft=np.ascontiguousarray(plan.forwarding.lft, np.uint8).ravel().copy(),
        sl2vl=np.array(plan.scenario.qos.sl2vl, np.int8),
        high=table(_weighted(plan.scenario.qos.vlarb_high), st.ARBITRATION_ENTRY),
        low=table(_weighted(plan.scenario.qos.vlarb_low), st.ARBITRATION_ENTRY),
        requester=build_requesters(plan),
        responder=build_responders(plan),
        message=st.pool(4 * RESERVE, st.MESSAGE),
        flow=build_flows(plan),
        rank=build_ranks(plan),
        code=build_code(plan),
        hca=_build_hca_parameters(plan),
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
    )
    for name in st.POOLS:
        state.g[0][f"{name}s_left"] = len(getattr(state, name))
    _queue_first_events(state, len(plan.ranks), owned)
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
        vls=plan.vls,
        mtu=scenario.mtu_bytes,
        shift=_bucket_shift(plan),
        buckets=WHEEL_BUCKETS,
        trace=int(trace),
        look_ahead=int(2 * len(scenario.fabric.links) > CACHED_PORTS),
        management=int(any(flow.management for _, flow in plan.flows)),
        high_limit=scenario.qos.vl_high_limit,
        high_entries=len(_weighted(scenario.qos.vlarb_high)),
        low_entries=len(_weighted(scenario.qos.vlarb_low)),
        lids=plan.forwarding.lft.shape[1],
        cc_on=int(control.algorithm == "ib_cca"),
        cc_role=cc_role,
        marking_rate=control.marking_rate,
        packet_size=control.packet_size_blocks,
        ccti_increase=control.ccti_increase,
        ccti_limit=control.ccti_limit,
        ccti_min=control.ccti_min,
        ccti_timer_ps=control.ccti_timer * CCTI_TIMER_UNIT_PS,
        reaction_ps=control.reaction_latency_ps,
    )


def _bucket_shift(plan: Plan) -> int:
    """log2 of a bucket's width in ps: a few events each on a busy fabric, and a wheel longer than a hop."""
    fabric = plan.scenario.fabric
    packet_ps = sum(8 * 10**12 * plan.scenario.mtu_bytes // link.rate_bps for link in fabric.links)
    packet_ps //= max(1, len(fabric.links))
    width_ps = EVENTS_PER_BUCKET * packet_ps // max(1, 3 * len(fabric.links))
    longest_ps = max((link.propagation_ps for link in fabric.links), default=0) + 4 * packet_ps + 10**6
    return max(width_ps.bit_length() - 1, (longest_ps // WHEEL_BUCKETS).bit_length(), 3)


def _build_nodes(plan: Plan) -> st.Records:
    scenario = plan.scenario
    node = st.records(len(scenario.fabric.nodes), st.NODE, hoq_ps=NEVER, leaf_hoq_ps=NEVER, switch=-1)
    node.port0 = plan.ports.first
    node.ports = _highest_cabled(scenario.fabric)
    for row, index in enumerate(scenario.fabric.switches):
        model = scenario.switch_models[scenario.fabric.nodes[index].model]
        record = node[index]
        record.switch = row
        record.forwarding_ps = model.forwarding_latency_ps
        record.stores = int(model.forwarding == "store_and_forward")
        record.stall_count = model.vl_stall_count
        record.fcp_gap_ps = model.fcp_min_gap_ps
        record.hoq_ps = NEVER if model.hoq_life_ps is None else model.hoq_life_ps
        record.leaf_hoq_ps = NEVER if model.leaf_hoq_life_ps is None else model.leaf_hoq_life_ps
    for index in scenario.fabric.hcas:
        hca = scenario.hca_models[scenario.fabric.nodes[index].model]
        node[index].stores = 1
        node[index].tx_latency_ps = hca.tx_latency_ps
        node[index].rx_latency_ps = hca.rx_latency_ps
    return node


def _highest_cabled(fabric: Fabric) -> np.ndarray:
    """[nodes] highest port number that has a cable."""
    highest = np.zeros(len(fabric.nodes), np.int64)
    for link in fabric.links:
        for end in (link.a, link.b):
            highest[end.node] = max(highest[end.node], end.port)
    return highest


def _model_of(scenario: Scenario, node: int) -> Any:
    item = scenario.fabric.nodes[node]
    models: Any = scenario.switch_models if item.kind is NodeKind.SWITCH else scenario.hca_models
    return models[item.model]


def _build_ports(plan: Plan, owned: np.ndarray) -> st.Records:
    """PORT rows with their cables; ``voq0`` is filled with the VOQs."""
    scenario = plan.scenario
    port = st.records(plan.ports.total, st.PORT, peer=-1, voq0=-1)
    port.node = _nodes_of_ports(plan)
    for end, other, link in _cable_ends(scenario.fabric):
        record = port[plan.ports.of(end)]
        there = _model_of(scenario, other.node)
        record.peer = plan.ports.of(other)
        record.peer_node = other.node
        record.up = 1
        record.fs_per_byte = femtoseconds_per_byte(link.rate_bps)
        record.delay_ps = link.propagation_ps + there.fec_latency_ps
        record.odd = int(there.fec_latency_ps > 0)
        record.peer_is_hca = scenario.fabric.nodes[other.node].kind is NodeKind.HCA
        record.remote = int(owned[end.node] and not owned[other.node])
    return port


def _cable_ends(fabric: Fabric) -> Iterator[tuple[PortRef, PortRef, Link]]:
    """(sending end, receiving end, link) of both directions of every cable."""
    for link in fabric.links:
        yield link.a, link.b, link
        yield link.b, link.a, link


def _build_port_more(plan: Plan) -> st.Records:
    scenario = plan.scenario
    more = st.records(
        plan.ports.total,
        st.PORT_MORE,
        down_at_ps=-1,
        receives=1,
        drain_fs=-1,
        drain_head=-1,
        drain_tail=-1,
        draining=-1,
    )
    more.limit_left = scenario.qos.vl_high_limit * LIMIT_UNIT_BYTES
    for name, table in (("high_left", scenario.qos.vlarb_high), ("low_left", scenario.qos.vlarb_low)):
        entries = _weighted(table)
        more[name] = entries[0][1] if entries else 0
    for index, node in enumerate(scenario.fabric.nodes):
        rows = slice(int(plan.ports.first[index]), int(plan.ports.first[index]) + node.ports)
        model = _model_of(scenario, index)
        more.vl15_blocks[rows] = model.vl15_buffer_bytes // model.credit_block_bytes
        if node.kind is NodeKind.HCA and model.drain_rate_bps is not None:
            ends = [PortRef(index, number) for number in range(1, node.ports + 1)]
            more.drain_fs[rows] = [_drain_fs(scenario.fabric, end, model.drain_rate_bps) for end in ends]
            more.drains[rows] = more.drain_fs[rows] != AT_LINE_RATE
    for end, other, link in _cable_ends(scenario.fabric):
        llr = _model_of(scenario, end.node).llr and _model_of(scenario, other.node).llr
        more[plan.ports.of(end)].llr = int(llr)
        if _model_of(scenario, other.node).fec_latency_ps > 0:
            more[plan.ports.of(end)].jitter_ps = CODEWORD_BITS * 10**16 // (link.rate_bps * 10_625)
    more.victim_mask[[plan.ports.of(end) for end in scenario.congestion_control.victim_ports]] = 1
    return more


def _buffer_blocks(scenario: Scenario, node: int) -> int:
    model = _model_of(scenario, node)
    is_switch = scenario.fabric.nodes[node].kind is NodeKind.SWITCH
    size = model.buffer_per_vl_bytes if is_switch else model.receive_buffer_bytes
    return int(size // model.credit_block_bytes)


def _buffers(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """([nodes] blocks of an input buffer of a VL, [nodes] log2 of the block's bytes)."""
    scenario = plan.scenario
    nodes = range(len(scenario.fabric.nodes))
    blocks = [_buffer_blocks(scenario, node) for node in nodes]
    shifts = [_model_of(scenario, node).credit_block_bytes.bit_length() - 1 for node in nodes]
    return np.array(blocks), np.array(shifts)


def _build_port_vls(plan: Plan, port: st.Records) -> st.Records:
    vls = plan.vls
    pv = st.records(
        plan.ports.total * vls,
        st.PV,
        credit_at_ps=NEVER,
        fcp_ps=NEVER,
        fcp_head=-1,
        ring_head=-1,
        ring_tail=-1,
    )
    blocks, shifts = _buffers(plan)
    peer_node = port.node[port.peer]
    pv.fccl = np.repeat(np.where(port.peer >= 0, blocks[peer_node], 0), vls)
    pv.block_shift = np.repeat(np.where(port.peer >= 0, shifts[peer_node], 0), vls)
    random = [
        _model_of(plan.scenario, node).arbitration == "random" for node in plan.scenario.fabric.switches
    ]
    drawing = np.isin(port.node, np.array(plan.scenario.fabric.switches, np.int64)[random])
    pv.care = np.where(_mark_thresholds(plan) >= 0, PvCare.MARKS, 0)
    pv.care |= np.where(np.repeat(drawing, vls), PvCare.DRAWS, 0).astype(np.int8)
    return pv


def _build_pv_inputs(plan: Plan, port: st.Records) -> st.Records:
    cap = np.repeat(_buffers(plan)[0][port.node], plan.vls)
    number = np.arange(plan.ports.total) - plan.ports.first[port.node] + 1
    return st.records(
        plan.ports.total * plan.vls,
        st.PV_INPUT,
        last_fcp_ps=-NEVER,
        number=np.repeat(number, plan.vls),
        due_ps=NEVER,
        due_head=-1,
        due_tail=-1,
        advertised=cap,
        cap=cap,
    )


def _mark_thresholds(plan: Plan) -> np.ndarray:
    """[ports * vls] blocks above which an output marks, -1: never."""
    control = plan.scenario.congestion_control
    marks = np.full((plan.ports.total, plan.vls), -1)
    if control.algorithm == "ib_cca" and control.threshold > 0:
        node = _nodes_of_ports(plan)
        switch = np.isin(node, plan.scenario.fabric.switches)
        blocks = _buffers(plan)[0][node] * (16 - control.threshold) // 16
        marks[switch, : plan.vls - 1] = blocks[switch, None]
    return marks.ravel()


def _build_pv_more(plan: Plan) -> st.Records:
    return st.records(
        plan.ports.total * plan.vls,
        st.PV_MORE,
        fifo_head=-1,
        fifo_tail=-1,
        unmarked=plan.scenario.congestion_control.marking_rate,
        mark_above=_mark_thresholds(plan),
    )


def _build_voqs(plan: Plan, port: st.Records) -> st.Records:
    fabric: Fabric = plan.scenario.fabric
    count = 0
    sizes = _highest_cabled(fabric)
    for index in fabric.switches:
        size = int(sizes[index])
        first = int(plan.ports.first[index])
        per_port = (plan.vls - 1) * size
        port.voq0[first : first + size] = count + per_port * np.arange(size)
        count += per_port * size
    return st.records(max(1, count), st.VOQ, head=-1, tail=-1, next=-1)


def _weighted(table: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """The entries of an arbitration table that are not skipped."""
    return [entry for entry in table if entry[1] > 0]


def table(rows: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> st.Records:
    """Records from rows, one zeroed record if there are none."""
    filled = st.records(max(1, len(rows)), dtype)
    for index, row in enumerate(rows):
        filled[index] = row
    return filled


def _queue_pairs(plan: Plan) -> Iterator[tuple[int, int, int, Flow]]:
    """(queue pair, its number in the flow, flow index, flow) of every queue pair."""
    for index, (_, flow) in enumerate(plan.flows):
        for number in range(flow.qps):
            yield int(plan.first_qp[index]) + number, number, index, flow


def _vl_of(plan: Plan, sl: int) -> int:
    """VL that an HCA sends on; a switch discards what the table drops."""
    vl = plan.scenario.qos.sl2vl[sl]
    return vl if vl < plan.vls - 1 else 0


def build_requesters(plan: Plan) -> st.Records:
    """[qps] REQUESTER."""
    count = int(plan.first_qp[-1])
    requester = st.records(
        max(1, count),
        st.REQUESTER,
        deadline_ps=NEVER,
        current=-1,
        oldest=-1,
        newest=-1,
        next=-1,
        first_ps=-1,
        last_end_ps=-1,
        state=QpState.IDLE,
    )
    per_sl = plan.scenario.congestion_control.control == "sl"
    for qp, number, index, flow in _queue_pairs(plan):
        record = requester[qp]
        hca = _model_of(plan.scenario, flow.src.node)
        record.port = plan.ports.of(flow.src)
        record.dlid = destination_lid(plan, flow, number)
        record.sl = path_sl(plan, flow, number)
        record.vl = _vl_of(plan, int(record.sl))
        record.flow = index
        record.service = int(flow.management)
        record.retries_left = hca.retry_count
        record.rnr_left = hca.rnr_retry
        record.cc = int(record.port) * 16 + int(record.sl) if per_sl else qp
    return requester


def build_responders(plan: Plan) -> st.Records:
    """[qps] RESPONDER."""
    responder = st.records(max(1, int(plan.first_qp[-1])), st.RESPONDER, response=-1, last_ps=-1)
    for qp, number, index, flow in _queue_pairs(plan):
        record = responder[qp]
        record.port = plan.ports.of(flow.dst)
        record.dlid = plan.forwarding.lid_of[flow.src]
        record.vl = _vl_of(plan, path_sl(plan, flow, number))
        record.flow = index
    return responder


def build_flows(plan: Plan) -> st.Records:
    """[flows] FLOW."""
    flow = st.records(max(1, len(plan.flows)), st.FLOW, sender=-1, receiver=-1)
    flow.first_qp[: len(plan.flows)] = plan.first_qp[:-1]
    flow.qps[: len(plan.flows)] = np.diff(plan.first_qp)
    base = 0
    for job in plan.scenario.jobs:
        for program in job.programs:
            waits = [step.a for step in program.instructions if step.op.name == "WAIT_RECEIVED"]
            flow.consumer[[base + number for number in waits]] = 1
        base += len(job.flows)
    return flow


def build_ranks(plan: Plan) -> st.Records:
    """[ranks] RANK."""
    rank = st.records(max(1, len(plan.ranks)), st.RANK, stop_ps=NEVER)
    assert rank.loops.shape[1] >= LOOP_DEPTH
    pc = 0
    bases = np.concatenate([[0], np.cumsum([len(job.flows) for job in plan.scenario.jobs])])
    for index, (job, number) in enumerate(plan.ranks):
        program = plan.scenario.jobs[job].programs[number]
        record = rank[index]
        record.pc = record.pc0 = pc
        record.node = program.node
        record.paced_ps = program.start_ps
        record.first_flow = bases[job]
        if program.stop_ps is not None:
            record.stop_ps = program.stop_ps
        pc += len(program.instructions)
    return rank


def build_code(plan: Plan) -> st.Records:
    """[instructions] the programs of all ranks, one behind another."""
    programs = (plan.scenario.jobs[job].programs[number] for job, number in plan.ranks)
    steps = [(int(step.op), step.a, step.b, step.c) for program in programs for step in program.instructions]
    return table(steps, st.INSTRUCTION)


def count_code(plan: Plan) -> int:
    """Instructions of all ranks."""
    return sum(len(plan.scenario.jobs[job].programs[number].instructions) for job, number in plan.ranks)


def _build_hca_parameters(plan: Plan) -> st.Records:
    fabric = plan.scenario.fabric
    hca = st.records(len(fabric.nodes), st.HCA_PARAMETER)
    for index in fabric.hcas:
        model = _model_of(plan.scenario, index)
        record = hca[index]
        record.ack_every = model.ack_every
        record.ack_timeout_ps = model.ack_timeout_ps
        record.rnr_timer_ps = model.rnr_timer_ps
        record.retry_count = model.retry_count
        record.rnr_retry = model.rnr_retry
    return hca


def build_cc(plan: Plan) -> st.Records:
    """[entities] CC_ENTITY."""
    control = plan.scenario.congestion_control
    if control.algorithm != "ib_cca":
        return st.records(1, st.CC_ENTITY)
    if control.control == "sl":
        cc = st.records(plan.ports.total * 16, st.CC_ENTITY)
        cc.node = np.repeat(_nodes_of_ports(plan), 16)
    else:
        cc = st.records(max(1, int(plan.first_qp[-1])), st.CC_ENTITY)
        for qp, _, _, flow in _queue_pairs(plan):
            cc.node[qp] = flow.src.node
    cc.ccti = cc.applied = control.ccti_min
    return cc


def _nodes_of_ports(plan: Plan) -> np.ndarray:
    return np.repeat(
        np.arange(len(plan.scenario.fabric.nodes)), [node.ports for node in plan.scenario.fabric.nodes]
    )


_BOTH_ENDS = (ActionKind.LINK_STATE, ActionKind.LINK_RATE, ActionKind.LINK_ERROR)


def _engine_value(fabric: Fabric, action: Action) -> int:
    if action.kind is ActionKind.LINK_RATE:
        return femtoseconds_per_byte(action.value)
    if action.kind is ActionKind.DRAIN_RATE and action.value > 0:
        return _drain_fs(fabric, action.target, action.value)
    return action.value


def _drain_fs(fabric: Fabric, end: PortRef, rate_bps: int) -> int:
    """Femtoseconds per byte to memory; a host that keeps up with the link does not limit it."""
    link = fabric.link_at.get(end)
    return AT_LINE_RATE if link is None or rate_bps >= link.rate_bps else femtoseconds_per_byte(rate_bps)


def action_rows(plan: Plan) -> list[tuple[int, int, int, int, int, int]]:
    """An ACTION for each end that a scenario's actions change."""
    fabric = plan.scenario.fabric
    rows: list[tuple[int, int, int, int, int, int]] = []
    for action in plan.scenario.actions:
        if action.kind in DIRECT_KINDS:
            continue
        ends = [action.target]
        if action.kind in _BOTH_ENDS:
            ends = [fabric.link_at[action.target].a, fabric.link_at[action.target].b]
        for end in ends:
            port = plan.ports.of(end)
            rows.append((action.at_ps, int(action.kind), port, end.node, _engine_value(fabric, action), -1))
    return rows


def _build_actions(plan: Plan) -> st.Records:
    return table(action_rows(plan) or [(NEVER, 0, 0, -1, 0, -1)], st.ACTION)


@kernel
def queue_events(  # type: ignore[no-untyped-def]
    s: st.State, kind: int, numbers, nodes, times_ps, owned
) -> None:
    """Schedules an event for each number whose node a shard owns."""
    for i in range(len(numbers)):
        if nodes[i] >= 0 and owned[nodes[i]]:
            push_event(s, times_ps[i], np.int64(nodes[i]), kind, numbers[i], numbers[i])


def _queue_first_events(state: st.State, ranks: int, owned: np.ndarray) -> None:
    for kind, rows, count, times_ps in (
        (EventKind.ACTION, state.action, len(state.action), state.action.at_ps),
        (EventKind.RANK, state.rank, ranks, state.rank.paced_ps),
    ):
        numbers = np.arange(count)
        queue_events(state, int(kind), numbers, rows.node[:count].copy(), times_ps[:count].copy(), owned)
