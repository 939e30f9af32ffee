# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.api.v1.common_pb2 import PortActivity, PortLoad, WatchPortsRequest
from fabrictwin.errors import InputError
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.failures import StateError
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.runtime.port_activity import PortReader, merge, read_interval_s, read_most
from fabrictwin.telemetry.stepped import NodesOfKind, SteppedSimulation
from fabrictwin.units import PS_PER_US

INCAST = """\
version: 1
name: incast
duration: 1ms
fabric:
  technology: infiniband
  topology: {generator: single_switch, hosts: 4}
  switch_model: quantum2
  hca_model: connectx7
workload:
  - {kind: incast, senders: [h1, h2], receiver: h0, message: 1MiB, count: forever}
faults:
  - {kind: link_down, link: [h3/1, sw0/4], at: 100us}
"""


@pytest.fixture
def stepped() -> SteppedSimulation:
    return SteppedSimulation(open_simulation(parse_scenario(INCAST)), [])


def _named(load: PortLoad) -> str:
    return f"{load.node}/{load.number}"


def test_reader_of_an_incast_finds_the_busy_port_and_who_waits_for_it(stepped: SteppedSimulation) -> None:
    switch = PortReader(stepped.nodes_of(NodeKind.SWITCH))
    hcas = PortReader(stepped.nodes_of(NodeKind.HCA))
    stepped.step(50 * PS_PER_US)
    switch.read(10)
    hcas.read(10)
    stepped.step(80 * PS_PER_US)
    at_switch, at_hcas = switch.read(10), hcas.read(10)
    assert (at_switch.from_ps, at_switch.at_ps) == (50 * PS_PER_US, 80 * PS_PER_US)
    busiest = at_switch.busiest[0]
    assert busiest.peer == "h0/1"
    assert busiest.sent_bps == pytest.approx(busiest.rate_bps, rel=0.02)
    assert busiest.queued_bytes > 0
    # Both senders want the whole of the receiver's link, so each waits for half of the time.
    assert {_named(load) for load in at_hcas.most_blocked} == {"h1/1", "h2/1"}
    assert all(load.waited == pytest.approx(0.5, abs=0.1) for load in at_hcas.most_blocked)
    assert at_hcas.injected_bps == pytest.approx(400e9, rel=0.02)
    assert 380e9 < at_hcas.delivered_bps < at_hcas.injected_bps
    assert at_switch.injected_bps == 0
    assert at_hcas.ports_blocked <= 2


def test_reader_where_fabric_time_stands_still_has_no_rates(stepped: SteppedSimulation) -> None:
    hcas = PortReader(stepped.nodes_of(NodeKind.HCA))
    stepped.step(50 * PS_PER_US)
    hcas.read(10)
    again = hcas.read(10)
    assert again.from_ps == again.at_ps == 50 * PS_PER_US
    assert again.injected_bps == again.delivered_bps == 0
    assert not again.busiest
    assert not again.most_blocked


def test_reader_counts_both_ends_of_a_cable_that_is_down(stepped: SteppedSimulation) -> None:
    switch, hcas = (PortReader(stepped.nodes_of(kind)) for kind in (NodeKind.SWITCH, NodeKind.HCA))
    stepped.step(90 * PS_PER_US)
    assert switch.read(10).ports_down + hcas.read(10).ports_down == 0
    stepped.step(110 * PS_PER_US)
    assert (switch.read(10).ports_down, hcas.read(10).ports_down) == (1, 1)


def test_reader_gives_at_most_so_many_ports(stepped: SteppedSimulation) -> None:
    hcas = PortReader(stepped.nodes_of(NodeKind.HCA))
    stepped.step(50 * PS_PER_US)
    assert len(hcas.read(1).busiest) == 1


def test_reader_of_a_shard_without_ports_is_refused(stepped: SteppedSimulation) -> None:
    nothing = NodesOfKind(stepped, NodeKind.HCA)
    nothing.owned[:] = False
    with pytest.raises(StateError):
        PortReader(nothing)


def test_merge_adds_up_and_keeps_the_largest() -> None:
    parts = [
        PortActivity(
            from_ps=10,
            at_ps=30,
            injected_bps=5,
            ports_down=1,
            busiest=[PortLoad(node="a", rate_bps=100, sent_bps=50)],
            most_blocked=[PortLoad(node="a", waited=0.1)],
        ),
        PortActivity(
            from_ps=20,
            at_ps=40,
            injected_bps=2,
            ports_down=1,
            busiest=[PortLoad(node="b", rate_bps=50, sent_bps=40)],
            most_blocked=[PortLoad(node="b", waited=0.3)],
        ),
    ]
    merged = merge(parts, 1)
    assert (merged.from_ps, merged.at_ps) == (10, 30)
    assert merged.injected_bps == 7
    assert merged.ports_down == 2
    assert [load.node for load in merged.busiest] == ["b"]
    assert [load.node for load in merged.most_blocked] == ["b"]


def test_request_for_too_much_is_refused() -> None:
    with pytest.raises(InputError, match="every_s"):
        read_interval_s(WatchPortsRequest(every_s=0.01))
    with pytest.raises(InputError, match="most"):
        read_most(WatchPortsRequest(most=101))


def test_request_without_wishes_gets_the_defaults() -> None:
    assert read_interval_s(WatchPortsRequest()) == 0.5
    assert read_most(WatchPortsRequest()) == 10
