# SPDX-License-Identifier: Apache-2.0
"""The arrays of nodes, ports, virtual lanes and their queues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.codes import NEVER, Odd, PvCare
from fabrictwin.engine.hca import AT_LINE_RATE
from fabrictwin.engine.plan import (
    Plan,
    model_of,
    nodes_of_ports,
)
from fabrictwin.engine.vl_arbitration import LIMIT_UNIT_BYTES
from fabrictwin.model.fabric import Fabric, Link, NodeKind, PortRef, Technology
from fabrictwin.model.hardware import SwitchModel
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import femtoseconds_per_byte

CODEWORD_BITS = 5440
"""RS(544,514) codeword."""


def build_nodes(plan: Plan) -> st.Records:
    """[nodes] NODE."""
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
        if not isinstance(model, SwitchModel):
            continue
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


def build_ports(plan: Plan, owned: np.ndarray) -> st.Records:
    """PORT rows with their cables; ``voq0`` is filled with the VOQs."""
    scenario = plan.scenario
    port = st.records(plan.ports.total, st.PORT, peer=-1, voq0=-1)
    port.node = nodes_of_ports(plan)
    for end, other, link in _cable_ends(scenario.fabric):
        record = port[plan.ports.of(end)]
        there = model_of(scenario, other.node)
        record.peer = plan.ports.of(other)
        record.peer_node = other.node
        record.up = 1
        record.fs_per_byte = femtoseconds_per_byte(link.rate_bps)
        record.delay_ps = link.propagation_ps + there.fec_latency_ps
        record.odd = Odd.ERRORS if there.fec_latency_ps > 0 else 0
        record.peer_is_hca = scenario.fabric.nodes[other.node].kind is NodeKind.HCA
        record.remote = int(owned[end.node] and not owned[other.node])
    return port


def _cable_ends(fabric: Fabric) -> Iterator[tuple[PortRef, PortRef, Link]]:
    """(sending end, receiving end, link) of both directions of every cable."""
    for link in fabric.links:
        yield link.a, link.b, link
        yield link.b, link.a, link


def build_port_more(plan: Plan) -> st.Records:
    """[ports] PORT_MORE."""
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
        entries = weighted(table)
        more[name] = entries[0][1] if entries else 0
    for index, node in enumerate(scenario.fabric.nodes):
        rows = slice(int(plan.ports.first[index]), int(plan.ports.first[index]) + node.ports)
        model = model_of(scenario, index)
        if has_credits_on(scenario):
            more.vl15_blocks[rows] = model.vl15_buffer_bytes // model.credit_block_bytes
        if node.kind is NodeKind.HCA and model.drain_rate_bps is not None:
            ends = [PortRef(index, number) for number in range(1, node.ports + 1)]
            more.drain_fs[rows] = [drain_fs(scenario.fabric, end, model.drain_rate_bps) for end in ends]
            more.drains[rows] = more.drain_fs[rows] != AT_LINE_RATE
    for end, other, link in _cable_ends(scenario.fabric):
        llr = model_of(scenario, end.node).llr and model_of(scenario, other.node).llr
        more[plan.ports.of(end)].llr = int(llr)
        if model_of(scenario, other.node).fec_latency_ps > 0:
            more[plan.ports.of(end)].jitter_ps = CODEWORD_BITS * 10**16 // (link.rate_bps * 10_625)
    more.victim_mask[[plan.ports.of(end) for end in scenario.congestion_control.victim_ports]] = 1
    return more


def drain_fs(fabric: Fabric, end: PortRef, rate_bps: int) -> int:
    """Femtoseconds per byte to memory; a host that keeps up with the link does not limit it."""
    link = fabric.link_at.get(end)
    return AT_LINE_RATE if link is None or rate_bps >= link.rate_bps else femtoseconds_per_byte(rate_bps)


def _buffer_blocks(scenario: Scenario, node: int) -> int:
    model = model_of(scenario, node)
    is_switch = scenario.fabric.nodes[node].kind is NodeKind.SWITCH
    size = model.buffer_per_vl_bytes if is_switch else model.receive_buffer_bytes
    return int(size // model.credit_block_bytes)


def has_credits_on(scenario: Scenario) -> bool:
    """Whether the links of a fabric have credit-based flow control."""
    return scenario.fabric.technology is Technology.INFINIBAND


def _buffers(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """([nodes] blocks of an input buffer of a VL, [nodes] log2 of the block's bytes); 0 without credits."""
    scenario = plan.scenario
    if not has_credits_on(scenario):
        return np.zeros(len(scenario.fabric.nodes), np.int64), np.zeros(len(scenario.fabric.nodes), np.int64)
    nodes = range(len(scenario.fabric.nodes))
    blocks = [_buffer_blocks(scenario, node) for node in nodes]
    shifts = [model_of(scenario, node).credit_block_bytes.bit_length() - 1 for node in nodes]
    return np.array(blocks), np.array(shifts)


def build_port_vls(plan: Plan, port: st.Records) -> st.Records:
    """[vls * ports] PV."""
    vls = plan.vls
    pv = st.records(
        vls * plan.ports.total,
        st.PV,
        credit_at_ps=NEVER,
        fcp_ps=NEVER,
        fcp_head=-1,
        ring_head=-1,
        ring_tail=-1,
    )
    blocks, shifts = _buffers(plan)
    peer_node = port.node[port.peer]
    pv.fccl = np.tile(np.where(port.peer >= 0, blocks[peer_node], 0), vls)
    pv.block_shift = np.tile(np.where(port.peer >= 0, shifts[peer_node], 0), vls)
    models = [model_of(plan.scenario, node) for node in plan.scenario.fabric.switches]
    random = [isinstance(model, SwitchModel) and model.arbitration == "random" for model in models]
    drawing = np.isin(port.node, np.array(plan.scenario.fabric.switches, np.int64)[random])
    pv.care = np.where(_mark_thresholds(plan) >= 0, PvCare.MARKS, 0)
    pv.care |= np.where(np.tile(drawing, vls), PvCare.DRAWS, 0).astype(np.int8)
    return pv


def build_pv_inputs(plan: Plan, port: st.Records) -> st.Records:
    """[vls * ports] PV_INPUT."""
    cap = np.tile(_buffers(plan)[0][port.node], plan.vls)
    number = np.arange(plan.ports.total) - plan.ports.first[port.node] + 1
    return st.records(
        plan.vls * plan.ports.total,
        st.PV_INPUT,
        last_fcp_ps=-NEVER,
        number=np.tile(number, plan.vls),
        due_ps=NEVER,
        due_head=-1,
        due_tail=-1,
        advertised=cap,
        cap=cap,
    )


def _mark_thresholds(plan: Plan) -> np.ndarray:
    """[vls * ports] blocks above which an output marks, -1: never."""
    control = plan.scenario.congestion_control
    marks = np.full((plan.vls, plan.ports.total), -1)
    if control.algorithm == "ib_cca" and control.threshold > 0:
        node = nodes_of_ports(plan)
        switch = np.isin(node, plan.scenario.fabric.switches)
        blocks = _buffers(plan)[0][node] * (16 - control.threshold) // 16
        marks[: plan.vls - 1, switch] = blocks[switch]
    return marks.ravel()


def build_pv_more(plan: Plan) -> st.Records:
    """[vls * ports] PV_MORE."""
    return st.records(
        plan.vls * plan.ports.total,
        st.PV_MORE,
        fifo_head=-1,
        fifo_tail=-1,
        unmarked=plan.scenario.congestion_control.marking_rate,
        mark_above=_mark_thresholds(plan),
    )


def build_voqs(plan: Plan, port: st.Records) -> st.Records:
    """The VOQs of all switches; notes in PORT where those of each output begin."""
    fabric: Fabric = plan.scenario.fabric
    count = 0
    if not has_credits_on(plan.scenario):
        return st.records(1, st.VOQ)
    sizes = _highest_cabled(fabric)
    for index in fabric.switches:
        size = int(sizes[index])
        first = int(plan.ports.first[index])
        per_port = (plan.vls - 1) * size
        port.voq0[first : first + size] = count + per_port * np.arange(size)
        count += per_port * size
    return st.records(max(1, count), st.VOQ, head=-1, tail=-1, next=-1)


def weighted(table: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """The entries of an arbitration table that are not skipped."""
    return [entry for entry in table if entry[1] > 0]
