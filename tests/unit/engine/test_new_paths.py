# SPDX-License-Identifier: Apache-2.0
"""The event log tells of the first packet that follows what a subnet manager has written."""

from __future__ import annotations

from typing import Any

import pytest

from fabrictwin.engine.codes import Odd
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation

TEXT = """
version: 1
name: moved
duration: 200us
fabric:
  technology: infiniband
  topology:
    nodes: {{h0: hca, h1: hca, h2: hca, a: {{switch: 4}}, b: {{switch: 4}}}}
    links: [[h0/1, a/1], [h1/1, b/1], [h2/1, b/4], [a/2, b/2], [a/3, b/3]]
  switch_model: {{base: native_ib, fec_latency: {fec}}}
  hca_model: {{base: native_hca, ack_timeout: 10us}}
routing: {{engine: min_hop}}
subnet_manager: {{managers: [{{node: h0}}], trap_latency: 2us, smp_rtt: 1us, max_wire_smps: 64}}
workload:
  - {{kind: stream, src: h0, dst: h1, message: 4KiB, rate: 10Gb/s, count: forever, stop: {stop}}}
  - {{kind: stream, src: h1, dst: h2, message: 4KiB, rate: 1Gb/s, count: forever}}
faults:
  - {{kind: link_down, link: [a/2, b/2], at: 50us, duration: 60us}}
"""


def _run(stop: str = "200us", fec: str = "0ns", shards: int = 1) -> Simulation:
    simulation = open_simulation(parse_scenario(TEXT.format(stop=stop, fec=fec)), shards=shards, trace=True)
    simulation.run()
    return simulation


def _events(simulation: Simulation, kind: str) -> list[dict[str, Any]]:
    return [event for event in simulation.result()["events"] if event["kind"] == kind]


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return _run()


def test_cable_that_dies_and_comes_back_has_a_first_packet_each_way(simulation: Simulation) -> None:
    places = [(event["node"], event["port"], event["dlid"]) for event in _events(simulation, "first_packet")]
    lid_of = {simulation.plan.scenario.fabric.nodes[end.node].name: lid
              for end, lid in simulation.plan.forwarding.lid_of.items()}  # fmt: skip
    assert places == [
        ("a", 3, lid_of["h1"]),
        ("b", 3, lid_of["h0"]),
        ("a", 2, lid_of["h1"]),
        ("b", 2, lid_of["h0"]),
    ]


def test_first_packet_is_told_at_the_time_when_it_starts(simulation: Simulation) -> None:
    written_ns = _events(simulation, "lft_write")[0]["fabric_ns"]
    packets, _ = simulation.trace()
    out = simulation.plan.ports.first[simulation.plan.scenario.fabric.index_of["a"]] + 2
    starts_ps = packets.start_ps[packets.port == out]
    first = _events(simulation, "first_packet")[0]
    assert first["fabric_ns"] == starts_ps.min() / 1000
    assert first["fabric_ns"] >= written_ns
    assert first["text"] == f"first packet on the new path to h1 (LID {first['dlid']})"


def test_outputs_without_a_packet_to_wait_for_are_spared_the_look(simulation: Simulation) -> None:
    state = simulation._group.shards[0].state
    assert not (state.port.odd & Odd.MOVED).any()
    assert not state.port_more.moved.any()
    assert not state.lft_moved.any()


def test_path_that_nobody_takes_is_waited_for_where_it_was_written_last() -> None:
    silent = _run(stop="40us")
    assert len(_events(silent, "lft_write")) == 4
    assert _events(silent, "first_packet") == []
    state, ports = silent._group.shards[0].state, silent.plan.ports
    first = int(ports.first[silent.plan.scenario.fabric.index_of["a"]])
    assert list(state.port.odd[first : first + 4] & Odd.MOVED > 0) == [False, True, False, False]
    assert state.port_more.moved[first + 1] > 0
    assert state.port_more.moved[first + 2] == 0


def test_port_with_jitter_keeps_it_when_its_new_path_is_taken() -> None:
    jittered = _run(fec="50ns")
    assert len(_events(jittered, "first_packet")) == 4
    odd = jittered._group.shards[0].state.port.odd
    assert (odd & Odd.ERRORS).any()
    assert not (odd & Odd.MOVED).any()


def test_first_packets_do_not_depend_on_the_shards(simulation: Simulation) -> None:
    assert _run(shards=2).result()["events"] == simulation.result()["events"]
