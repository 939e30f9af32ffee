# SPDX-License-Identifier: Apache-2.0
"""The arrays of queue pairs, flows, ranks and their programs, and reaction points."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.cc.tcp import INITIAL_WINDOW
from fabrictwin.engine.codes import NEVER, LossRecovery, QpState
from fabrictwin.engine.plan import (
    Plan,
    destination_lid,
    model_of,
    nodes_of_ports,
    path_sl,
    queue_pairs,
)
from fabrictwin.engine.state import table
from fabrictwin.engine.transport import MAX_OUTSTANDING
from fabrictwin.model.program import LOOP_DEPTH, Flow


def _vl_of(plan: Plan, sl: int) -> int:
    """VL that an HCA sends on; a switch discards what the table drops."""
    vl = plan.scenario.qos.sl2vl[sl]
    return vl if vl < plan.vls - 1 else 0


_RECOVERIES = {
    "go_back_n": LossRecovery.GO_BACK_N,
    "selective_repeat": LossRecovery.SELECTIVE,
    "go_back_0": LossRecovery.GO_BACK_0,
}
_MOST_ACK_EVERY = 2**31 - 1


def _recovery(model: Any, flow: Flow) -> LossRecovery:
    """TCP's acknowledgements are selective."""
    return LossRecovery.SELECTIVE if flow.tcp else _RECOVERIES[model.loss_recovery]


def _ack_every(plan: Plan, model: Any, flow: Flow) -> int:
    """HPCC hears of every packet (SIGCOMM 2019, section 3.1), and so does TCP; who goes back to 0 hears of
    whole messages only."""
    if flow.tcp or plan.scenario.congestion_control.algorithm == "hpcc":
        return 1
    return _MOST_ACK_EVERY if model.loss_recovery == "go_back_0" else int(model.ack_every)


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
        resend_head=-1,
        resend_tail=-1,
        state=QpState.IDLE,
    )
    per_sl = plan.scenario.congestion_control.control == "sl"
    for qp, number, index, flow in queue_pairs(plan):
        record = requester[qp]
        hca = model_of(plan.scenario, flow.src.node)
        record.port = plan.ports.of(flow.src)
        record.dlid = destination_lid(plan, flow, number)
        record.sl = path_sl(plan, flow, number)
        record.vl = _vl_of(plan, int(record.sl))
        record.flow = index
        record.service = int(flow.management)
        record.retries_left = hca.retry_count
        record.rnr_left = hca.rnr_retry
        record.window = INITIAL_WINDOW if flow.tcp else hca.window_packets or MAX_OUTSTANDING
        record.ack_every = _ack_every(plan, hca, flow)
        record.recovery = _recovery(hca, flow)
        record.tcp = int(flow.tcp)
        record.cc = int(record.port) * 16 + int(record.sl) if per_sl else qp
    return requester


def build_responders(plan: Plan) -> st.Records:
    """[qps] RESPONDER."""
    count = max(1, int(plan.first_qp[-1]))
    responder = st.records(count, st.RESPONDER, response=-1, last_ps=-1, held_head=-1, held_tail=-1)
    for qp, number, index, flow in queue_pairs(plan):
        record = responder[qp]
        record.port = plan.ports.of(flow.dst)
        record.dlid = plan.forwarding.lid_of[flow.src]
        record.vl = _vl_of(plan, path_sl(plan, flow, number))
        record.flow = index
        record.recovery = _recovery(model_of(plan.scenario, flow.dst.node), flow)
        record.tcp = int(flow.tcp)
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


def build_hca_parameters(plan: Plan) -> st.Records:
    """[nodes] HCA_PARAMETER."""
    fabric = plan.scenario.fabric
    hca = st.records(len(fabric.nodes), st.HCA_PARAMETER)
    for index in fabric.hcas:
        model = model_of(plan.scenario, index)
        record = hca[index]
        record.ack_timeout_ps = model.ack_timeout_ps
        record.rnr_timer_ps = model.rnr_timer_ps
        record.retry_count = model.retry_count
        record.rnr_retry = model.rnr_retry
        record.reorder_packets = model.reorder_packets
    return hca


def build_cc(plan: Plan) -> st.Records:
    """[entities] CC_ENTITY."""
    control = plan.scenario.congestion_control
    if control.algorithm != "ib_cca":
        return st.records(1, st.CC_ENTITY)
    if control.control == "sl":
        cc = st.records(plan.ports.total * 16, st.CC_ENTITY)
        cc.node = np.repeat(nodes_of_ports(plan), 16)
    else:
        cc = st.records(max(1, int(plan.first_qp[-1])), st.CC_ENTITY)
        for qp, _, _, flow in queue_pairs(plan):
            cc.node[qp] = flow.src.node
    cc.ccti = cc.applied = control.ccti_min
    return cc
