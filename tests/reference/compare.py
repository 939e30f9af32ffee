# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario in the oracle and in the engine, and finds the first event that differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabrictwin.engine.codes import Flag
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import DIRECT_KINDS, LftWrite, Notice
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.offline import (
    describe_forwarding,
    open_simulation,
    route_scenario,
    start_managers,
)
from fabrictwin.subnet.lids import LFT_BLOCK_LIDS
from fabrictwin.subnet.routes import Routes
from fabrictwin.units import PS_PER_NS
from reference.case import Case
from reference.difference import Row, first_difference
from reference.fabric import OracleFabric
from reference.packet import PacketKind
from reference.port import VL15
from reference.totals import different_totals, oracle_totals, result_totals
from reference.world import FcpRow, PacketRow

_PACKET_FIELDS = ("port", "start_ps", "vl", "kind", "qp", "psn", "wire", "bits")


def case_of(scenario: Scenario) -> Case:
    """The case that a scenario describes, with the forwarding tables that its subnet managers write."""
    routes = route_scenario(scenario)
    forwarding = describe_forwarding(scenario, routes)
    fabric = scenario.fabric
    tables = dict(zip(fabric.switches, forwarding.lft.tolist(), strict=True))
    return Case(
        fabric=fabric,
        switches={node: scenario.switch_models[fabric.nodes[node].model] for node in fabric.switches},
        hcas={node: scenario.hca_models[fabric.nodes[node].model] for node in fabric.hcas},
        mtu_bytes=scenario.mtu_bytes,
        jobs=scenario.jobs,
        lft={node: dict(enumerate(table)) for node, table in tables.items()},
        lids={end: lid for end, lid in forwarding.lid_of.items() if end.port > 0},
        actions=scenario.actions,
        lft_writes=[
            (write.at_ps, write.node, dict(enumerate(write.ports, write.block * LFT_BLOCK_LIDS)))
            for write in _play_managers(scenario, routes)
        ],
        lmc=forwarding.lmc,
        service_level=forwarding.service_level,
        seed=scenario.seed,
        qos=scenario.qos,
        congestion_control=scenario.congestion_control,
    )


def _play_managers(scenario: Scenario, routes: Routes) -> list[LftWrite]:
    """What the subnet managers of a scenario write, all of whose changes are known."""
    managers = start_managers(scenario, routes)
    notices = [
        Notice.of(action)
        for action in scenario.actions
        if action.kind is ActionKind.LINK_STATE or action.kind in DIRECT_KINDS
    ]
    for manager in managers:
        manager.hear(notices)
    writes: list[LftWrite] = []
    while (next_ps := min(manager.next_ps for manager in managers)) <= scenario.duration_ps:
        for number, manager in enumerate(managers):
            manager.advance(next_ps + manager.peer_lookahead_ps)
            spoken = manager.speak()
            writes += spoken.writes
            for other, messages in spoken.messages.items():
                managers[other].hear_peer(number, messages)
    return sorted(writes)


def compare(scenario: Scenario) -> str:
    """What differs between the oracle and the engine; empty where nothing does."""
    simulation = open_simulation(scenario, trace=True)
    simulation.run()
    oracle = OracleFabric(case_of(scenario))
    # A run that has stopped early says nothing of what would have come later.
    end_ps = simulation.now_ps
    oracle.run(end_ps - 1)
    difference = first_difference(
        _until(end_ps, [*oracle.world.packets, *oracle.world.fcps]),
        _until(end_ps, _engine_rows(simulation)),
        [node.name for node in scenario.fabric.nodes],
    )
    result = simulation.result()
    return (
        difference
        or different_totals(oracle_totals(oracle, end_ps), result_totals(result))
        or _different_first_packets(oracle, result)
    )


def _different_first_packets(oracle: OracleFabric, result: Mapping[str, Any]) -> str:
    """What differs between the first packets on new paths; empty where nothing does."""
    names = [node.name for node in oracle.world.case.fabric.nodes]
    ours = [(row.start_ps, names[row.node], row.port, row.dlid) for row in oracle.world.first_packets]
    theirs = [
        (round(event["fabric_ns"] * PS_PER_NS), event["node"], event["port"], event["dlid"])
        for event in result["events"]
        if event["kind"] == "first_packet"
    ]
    if sorted(ours) == sorted(theirs):
        return ""
    return f"first packets on new paths: oracle {sorted(ours)}, engine {sorted(theirs)}"


def _until(end_ps: int, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.start_ps < end_ps]


def _engine_rows(simulation: Simulation) -> list[Row]:
    ends = {simulation.plan.ports.of(end): end for end in simulation.plan.scenario.fabric.link_at}
    packets, fcps = simulation.trace()
    rows: list[Row] = [
        _packet_row(ends[port], *values) for port, *values in packets[[*_PACKET_FIELDS]].tolist()
    ]
    for start_ps, port, vl, fccl in fcps.tolist():
        rows.append(FcpRow(start_ps, ends[port].node, ends[port].port, vl, fccl))
    return rows


def _packet_row(
    end: PortRef, start_ps: int, vl: int, kind: int, queue_pair: int, psn: int, wire_bytes: int, flags: int
) -> PacketRow:
    return PacketRow(
        start_ps,
        end.node,
        end.port,
        VL15 if kind == PacketKind.MANAGEMENT else vl,
        kind,
        queue_pair,
        0 if kind == PacketKind.CNP else psn,
        wire_bytes,
        bool(flags & Flag.FECN),
        bool(flags & Flag.BECN),
    )
