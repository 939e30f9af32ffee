# SPDX-License-Identifier: Apache-2.0
"""The underlay: which switches change which routes after a cable fails, when, and what packets do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from fabrictwin.model.controller import NEVER_PS, RouteWrite, Spoken, pack_ports, unpack_ports
from fabrictwin.model.fabric import Fabric, Link, PortRef
from fabrictwin.model.routing_names import RoutingSpec
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.subnet.outbox import EventKind
from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.underlay import Underlay
from fabrictwin.units import PS_PER_MS, PS_PER_US
from unit.subnet.fabrics import k_ary_tree, random_fabric, routed, switch_links, two_level_tree
from unit.subnet.sm_driver import link_notices

TIMING = RoutingSpec("ecmp", bfd_interval_ps=10 * PS_PER_MS, bfd_multiplier=3, bgp_update_ps=4 * PS_PER_MS)
FAILURE_PS = PS_PER_MS


def _told(routes: Routes, changes: Iterable[tuple[int, Link, bool]]) -> Spoken:
    """What the underlay says of changes of cables."""
    underlay = Underlay(routes, TIMING)
    for at_ps, link, up in changes:
        underlay.hear(link_notices(at_ps, link, up=up))
    underlay.advance(NEVER_PS)
    return underlay.speak()


def _tables(routes: Routes) -> dict[tuple[int, int], tuple[int, ...]]:
    """Outputs by (switch's node index, destination)."""
    assert routes.next_hops is not None
    group, groups = routes.next_hops
    switches = routes.graph.fabric.switches
    return {
        (switches[row], lid): groups[number]
        for row, numbers in enumerate(group.tolist())
        for lid, number in enumerate(numbers)
    }


def _written(tables: dict[tuple[int, int], tuple[int, ...]], writes: Iterable[RouteWrite]) -> None:
    for write in writes:
        tables[write.node, write.lid] = unpack_ports(write.ports)


def _cable(fabric: Fabric, a: str, b: str) -> Link:
    ends = {a, b}
    return next(
        link
        for link in switch_links(fabric)
        if {fabric.nodes[link.a.node].name, fabric.nodes[link.b.node].name} == ends
    )


@pytest.mark.parametrize("ports", [(), (1,), (1, 2, 40), (255,)])
def test_port_numbers_are_unpacked_as_they_were_packed(ports: tuple[int, ...]) -> None:
    assert unpack_ports(pack_ports(ports)) == ports


def test_news_of_a_cable_travels_a_switch_after_the_other() -> None:
    routes = routed(k_ary_tree(4), "ecmp")
    fabric = routes.graph.fabric
    spoken = _told(routes, [(FAILURE_PS, _cable(fabric, "leaf0", "spine0"), False)])
    first_ps = FAILURE_PS + 30 * PS_PER_MS
    at = {fabric.nodes[write.node].name: write.at_ps for write in spoken.routes}
    assert at["leaf0"] == at["spine0"] == first_ps
    # leaf1 stands one switch from spine0, the leaves of other pods three. A core has one way into the pod.
    assert at["leaf1"] == first_ps + 4 * PS_PER_MS
    assert {at[f"leaf{number}"] for number in range(2, 8)} == {first_ps + 12 * PS_PER_MS}
    assert not {"core0", "core1"} & at.keys()
    assert [event.kind for event in spoken.events] == [
        EventKind.BFD_DOWN,
        EventKind.ROUTED,
        EventKind.CONVERGED,
    ]
    assert spoken.events[0].at_ps == first_ps
    assert spoken.events[2].at_ps == max(at.values())


@pytest.mark.parametrize("seed", range(12))
def test_tables_become_those_of_the_fabric_that_is_left_and_come_back(seed: int) -> None:
    fabric = random_fabric(seed)
    routes = routed(fabric, "ecmp")
    links = switch_links(fabric)
    cut = [links[seed % len(links)], links[(seed * 7 + 3) % len(links)]]
    cut = cut[:1] if cut[0] == cut[1] else cut
    underlay = Underlay(routes, TIMING)
    before, tables = _tables(routes), _tables(routes)
    for number, link in enumerate(cut):
        underlay.hear(link_notices(FAILURE_PS * (1 + number), link, up=False))
    underlay.advance(100 * PS_PER_MS)
    _written(tables, underlay.speak().routes)
    wanted = _tables(underlay.routes)
    reached = {write for write in tables if tables[write] == wanted[write]}
    graph = underlay.routes.graph
    pieces = dict(zip(fabric.switches, graph.pieces.tolist(), strict=True))
    told = {pieces[end.node] for link in cut for end in (link.a, link.b)}
    assert reached >= {(node, lid) for node, lid in wanted if pieces[node] in told}
    for number, link in enumerate(cut):
        underlay.hear(link_notices(FAILURE_PS * (200 + number), link, up=True))
    underlay.advance(NEVER_PS)
    _written(tables, underlay.speak().routes)
    assert tables == before


def test_older_news_never_overwrites_newer() -> None:
    routes = routed(two_level_tree(leaves=4, hosts_per_leaf=1, spines=3), "ecmp")
    fabric = routes.graph.fabric
    near, far = _cable(fabric, "leaf0", "spine0"), _cable(fabric, "leaf3", "spine2")
    changes = [(FAILURE_PS, near, False), (FAILURE_PS + PS_PER_MS, far, False)]
    spoken = _told(routes, changes)
    tables = _tables(routes)
    _written(tables, sorted(spoken.routes, key=lambda write: write.at_ps))
    graph = routes.graph.with_down([near, far])
    assert graph.pieces.max() == 0
    underlay = Underlay(routes, TIMING)
    for _, link, _ in changes:
        underlay.hear(link_notices(FAILURE_PS, link, up=False))
    underlay.advance(NEVER_PS)
    assert tables == _tables(underlay.routes)


def test_cable_of_a_host_is_no_news_for_the_underlay() -> None:
    routes = routed(two_level_tree(leaves=2, hosts_per_leaf=2, spines=2), "ecmp")
    fabric = routes.graph.fabric
    cable = next(link for link in fabric.links if link not in switch_links(fabric))
    assert _told(routes, [(FAILURE_PS, cable, False)]) == Spoken()


SCENARIO = """
version: 1
name: convergence
duration: 200us
fabric:
  technology: roce
  topology: {{generator: fat_tree, levels: 2, leaves: 3, hosts_per_leaf: 2, spines: 2}}
  hca_model: {{base: connectx7_roce, ack_timeout: 20us}}
routing: {{engine: ecmp, bfd_interval: 10us, bfd_multiplier: 3, bgp_update: 5us{more}}}
workload: [{{kind: permutation, pattern: shift, shift: 2, message: 16KiB, count: forever, qps: 8}}]
faults: [{{kind: link_down, link: [leaf0/3, spine0/1], at: 50us}}]
"""


@pytest.mark.parametrize("more", ["", ", spraying: true", ", flowlet: 100us"])
def test_packets_go_into_the_gap_until_the_news_has_come(more: str) -> None:
    scenario = parse_scenario(SCENARIO.format(more=more))
    simulation = open_simulation(scenario, trace=True)
    simulation.run()
    packets, _ = simulation.trace()
    plan = simulation.plan
    port = plan.ports.of(PortRef(scenario.fabric.index_of["leaf2"], 3))
    to_leaf0 = [
        qp
        for number, (_, flow) in enumerate(plan.flows)
        if scenario.fabric.nodes[flow.dst.node].name in ("h0", "h1")
        for qp in range(int(plan.first_qp[number]), int(plan.first_qp[number]) + flow.qps)
    ]
    # What goes back to them takes the same output.
    from_leaf2 = packets[(packets.port == port) & np.isin(packets.qp, to_leaf0)]
    starts_us = from_leaf2.start_ps / PS_PER_US
    assert ((starts_us > 50) & (starts_us < 85)).any()
    # What stands in the queue by then still goes.
    assert not (starts_us > 95).any()
