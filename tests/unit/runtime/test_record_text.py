# SPDX-License-Identifier: Apache-2.0
"""Records in words: names in place of indices, times to the picosecond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabrictwin.engine.plan import Plan
from fabrictwin.model.controller import pack_ports
from fabrictwin.runtime.blueprint import draw_blueprint
from fabrictwin.runtime.convert import WindowData
from fabrictwin.runtime.record_text import Names, rows, show, show_ns
from fabrictwin.runtime.records import BY_NAME, LAYOUTS
from fabrictwin.runtime.scenario_source import ScenarioSource

SCENARIO = """
version: 1
name: two-hosts
duration: 1us
fabric:
  technology: infiniband
  topology: {generator: single_switch, hosts: 2}
workload:
  - {kind: stream, name: down, src: h0, dst: h1, message: 4KiB, count: 1}
  - {kind: stream, name: up, src: h1, dst: h0, message: 4KiB, count: 1, qps: 2}
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return draw_blueprint(ScenarioSource(SCENARIO, "two-hosts.yaml")).plan


def _lines(plan: Plan | None, kind: str, /, **fields: Any) -> list[str]:
    records = np.zeros(1, BY_NAME[kind].dtype)
    for name, value in fields.items():
        records[name] = value
    window = WindowData(0, 0, 0, {kind: records})
    return [show(row) for row in rows(window, Names(plan))]


def _port(plan: Plan, name: str) -> int:
    node, _, port = name.partition("/")
    return int(plan.ports.first[plan.scenario.fabric.index_of[node]]) + int(port) - 1


def test_packet_shows_both_ends_its_flow_and_its_times(plan: Plan) -> None:
    packet = {"port": _port(plan, "sw0/2"), "qp": 2, "kind": 0, "bits": 1 | 8, "psn": 17, "wire": 4122}
    times = {"start_ps": 5, "head_in_ps": 50_005, "ser_ps": 82_440}
    assert _lines(plan, "packet", **packet, **times) == [
        "packet  h1/1 → sw0/2  up DATA psn 17 [first fecn]  4122 B vl 0  starts 0.005 ns, "
        "arrives 50.005 ns to 132.445 ns"
    ]


def test_fcp_shows_the_port_that_advertises_and_the_one_that_hears(plan: Plan) -> None:
    pv = _port(plan, "h0/1") * plan.vls
    assert _lines(plan, "fcp", pv=pv, value=130, arrival_ps=1_234) == [
        "fcp     sw0/1 → h0/1  vl 0 FCCL 130  arrives 1.234 ns"
    ]
    assert _lines(plan, "fcp", pv=pv, value=2, kind=1) == [
        "fcp     sw0/1 → h0/1  vl 0 lost 2 blocks (resync)  arrives 0.000 ns"
    ]


def test_route_shows_the_outputs_of_a_destination(plan: Plan) -> None:
    node = plan.scenario.fabric.index_of["sw0"]
    shown = [
        _lines(plan, "route_write", node=node, lid=7, ports=pack_ports(ports), at_ps=1_234)[0]
        for ports in ((2, 33), ())
    ]
    assert shown == [
        "route   sw0 destination 7 ports 2 33  at 1.234 ns",
        "route   sw0 destination 7 ports none  at 1.234 ns",
    ]


def test_pfc_frame_shows_the_priority_that_it_pauses_and_how_long(plan: Plan) -> None:
    pv = _port(plan, "h0/1") * plan.vls
    shown = [_lines(plan, "fcp", pv=pv, value=quanta, kind=4, arrival_ps=1_234)[0] for quanta in (65535, 0)]
    assert shown == [
        "pfc     sw0/1 → h0/1  priority 0 pause 65535 quanta  arrives 1.234 ns",
        "pfc     sw0/1 → h0/1  priority 0 resume  arrives 1.234 ns",
    ]


def test_subnet_records_show_nodes_and_lids(plan: Plan) -> None:
    switch = plan.scenario.fabric.index_of["sw0"]
    assert _lines(plan, "notice", node=switch, port=2, kind=0) == ["notice  sw0/2 link_state 0  at 0.000 ns"]
    assert _lines(plan, "lft_write", node=switch, block=1, ports=bytes(64)) == [
        "lft     sw0 block 1 (LIDs 64 to 127)  at 0.000 ns"
    ]
    assert _lines(plan, "sm_message", kind=1, state=2, priority=15, guid=0xABC) == [
        "sm      response from 0x0000000000000abc state 2 priority 15  at 0.000 ns"
    ]


def test_commands_are_shown_as_they_are_even_if_broken() -> None:
    window = WindowData(0, 0, 0, commands=[b'{"do": "fault.clear", "id": "f1"}', b"{"])
    assert [show(row) for row in rows(window, Names(None))] == [
        'command {"do": "fault.clear", "id": "f1"}',
        'command "{"',
    ]


def test_every_kind_can_be_shown_without_a_plan() -> None:
    for layout in LAYOUTS:
        if layout.fields:
            assert len(_lines(None, layout.name)) == 1


def test_names_beyond_the_plan_are_indices(plan: Plan) -> None:
    assert [Names(plan).flow(qp) for qp in range(4)] == ["down", "up", "up", "qp 3"]
    assert Names(plan).peer(_port(plan, "sw0/2") + 1000) == "?"


def test_times_are_exact_and_never_is_a_word() -> None:
    assert show_ns(1_000_001) == "1000.001 ns"
    assert show_ns((1 << 62) - 1) == "never"
