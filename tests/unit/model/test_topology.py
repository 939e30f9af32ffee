# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from fabrictwin.errors import InputError
from fabrictwin.model.check import check_fabric
from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology

QUANTUM2 = Equipment.of("quantum2", "connectx7")

SMALL: dict[str, list[dict[str, Any]]] = {
    "single_switch": [{"hosts": 1}, {"hosts": 4}],
    "chain": [{"switches": 1, "hosts_per_switch": 2}, {"switches": 3, "hosts_per_switch": 2}],
    "ring": [{"switches": 4, "hosts_per_switch": 1}],
    "fat_tree": [
        {"levels": 2, "leaves": 4, "hosts_per_leaf": 4, "spines": 2},
        {"levels": 2, "leaves": 3, "hosts_per_leaf": 2, "spines": 2, "links_per_spine": 2},
        {"levels": 3, "k": 2},
        {"levels": 3, "k": 4},
    ],
    "rail_optimized": [{"scalable_units": 2, "servers_per_unit": 3, "rails": 4, "spines": 2}],
    "explicit": [{"nodes": {"h0": "hca", "h1": "hca"}, "links": [["h0/1", "h1/1"]]}],
}
CASES = [(name, parameters) for name, every in SMALL.items() for parameters in every]


def _build(name: str, equipment: Equipment = QUANTUM2, **parameters: Any) -> Fabric:
    return build_topology(name, TOPOLOGIES[name].parameters.model_validate(parameters), equipment)


def _cables(fabric: Fabric) -> set[frozenset[str]]:
    return {frozenset((fabric.port_name(link.a), fabric.port_name(link.b))) for link in fabric.links}


def _cable(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


def test_every_topology_has_a_small_case() -> None:
    assert set(SMALL) == set(TOPOLOGIES)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_topology_small_case_is_sound_and_has_the_announced_size(
    name: str, parameters: dict[str, Any]
) -> None:
    row = TOPOLOGIES[name]
    fabric = _build(name, **parameters)
    size = row.size(row.parameters.model_validate(parameters))
    assert check_fabric(fabric) == []
    assert (size.switches, size.hcas, size.links) == (
        len(fabric.switches),
        len(fabric.hcas),
        len(fabric.links),
    )
    assert all(link.a < link.b for link in fabric.links)
    assert {fabric.nodes[index].ports for index in fabric.switches} <= {64}


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_topology_any_radix_model_gets_no_port_more_than_announced(
    name: str, parameters: dict[str, Any]
) -> None:
    row = TOPOLOGIES[name]
    fabric = _build(name, Equipment.of("native_ib", "native_hca"), **parameters)
    radix = row.size(row.parameters.model_validate(parameters)).radix
    highest = max((end.port for link in fabric.links for end in (link.a, link.b)), default=0)
    assert check_fabric(fabric) == []
    if fabric.switches:
        assert {fabric.nodes[index].ports for index in fabric.switches} == {radix}
        assert highest <= radix


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_topology_built_twice_is_equal(name: str, parameters: dict[str, Any]) -> None:
    assert _build(name, **parameters) == _build(name, **parameters)


def test_links_have_the_rate_and_length_of_the_equipment() -> None:
    (link,) = _build("single_switch", Equipment.of("quantum2", "connectx6", length_mm=30_000), hosts=1).links
    assert (link.rate_bps, link.length_mm) == (200_000_000_000, 30_000)


def test_guids_are_locally_administered_and_ports_follow_their_node() -> None:
    fabric = _build("single_switch", hosts=2)
    assert all(node.guid >> 56 == 0x02 for node in fabric.nodes)
    first, second, switch = fabric.nodes
    assert first.port_guid(1) == first.guid + 1
    assert second.guid - first.guid == 256
    assert switch.port_guid(3) == switch.guid


def test_single_switch_host_i_is_on_port_i_plus_1() -> None:
    fabric = _build("single_switch", hosts=3)
    assert _cables(fabric) == {_cable(f"h{index}/1", f"sw0/{index + 1}") for index in range(3)}


def test_chain_switch_has_hosts_then_next_then_previous() -> None:
    fabric = _build("chain", switches=3, hosts_per_switch=2)
    hosts = {_cable(f"h{index}/1", f"sw{index // 2}/{index % 2 + 1}") for index in range(6)}
    assert _cables(fabric) == hosts | {_cable("sw0/3", "sw1/4"), _cable("sw1/3", "sw2/4")}


def test_ring_last_switch_goes_on_to_the_first() -> None:
    fabric = _build("ring", switches=3, hosts_per_switch=1)
    hosts = {_cable(f"h{index}/1", f"sw{index}/1") for index in range(3)}
    between = {_cable("sw0/2", "sw1/3"), _cable("sw1/2", "sw2/3"), _cable("sw2/2", "sw0/3")}
    assert _cables(fabric) == hosts | between


def test_fat_tree_two_levels_ports_are_as_documented() -> None:
    fabric = _build("fat_tree", levels=2, leaves=2, hosts_per_leaf=3, spines=2, links_per_spine=2)
    assert [node.name for node in fabric.nodes] == [
        *(f"h{index}" for index in range(6)),
        *("leaf0", "leaf1", "spine0", "spine1"),
    ]
    hosts = {_cable(f"h{index}/1", f"leaf{index // 3}/{index % 3 + 1}") for index in range(6)}
    up = {
        _cable(f"leaf{leaf}/{3 + spine * 2 + link + 1}", f"spine{spine}/{leaf * 2 + link + 1}")
        for leaf in range(2)
        for spine in range(2)
        for link in range(2)
    }
    assert _cables(fabric) == hosts | up


def test_fat_tree_three_levels_is_the_k_ary_tree() -> None:
    fabric = _build("fat_tree", levels=3, k=4)
    cables = _cables(fabric)
    tiers = Counter(node.name.rstrip("0123456789") for node in fabric.nodes)
    assert tiers == {"h": 16, "leaf": 8, "spine": 8, "core": 4}
    # Pod order: leaf2 is the first leaf of the second pod, and h4 its first host.
    assert {_cable("h4/1", "leaf2/1"), _cable("h5/1", "leaf2/2")} <= cables
    assert {
        _cable("leaf2/3", "spine2/1"),
        _cable("leaf2/4", "spine3/1"),
        _cable("leaf3/3", "spine2/2"),
    } <= cables
    # The first spine of every pod meets the first half of the cores, on the port of its pod.
    assert {
        _cable("spine2/3", "core0/2"),
        _cable("spine2/4", "core1/2"),
        _cable("spine3/3", "core2/2"),
    } <= cables
    assert len(cables) == 48


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_fat_tree_three_levels_every_switch_uses_k_ports(k: int) -> None:
    fabric = _build("fat_tree", levels=3, k=k)
    degrees = Counter(end.node for link in fabric.links for end in (link.a, link.b))
    assert len(fabric.hcas) == k**3 // 4
    assert {degrees[index] for index in fabric.switches} == {k}


def test_rail_optimized_nic_i_of_every_server_is_on_leaf_i_of_its_unit() -> None:
    fabric = _build("rail_optimized", scalable_units=2, servers_per_unit=3, rails=4, spines=2)
    cables = _cables(fabric)
    for unit in range(2):
        for server in range(3):
            for rail in range(4):
                host = (unit * 3 + server) * 4 + rail
                assert _cable(f"h{host}/1", f"leaf{unit * 4 + rail}/{server + 1}") in cables
    assert {
        _cable("leaf0/4", "spine0/1"),
        _cable("leaf0/5", "spine1/1"),
        _cable("leaf7/4", "spine0/8"),
    } <= cables
    assert len(cables) == 24 + 16


@pytest.mark.parametrize(
    ("name", "parameters", "needed"),
    [
        ("single_switch", {"hosts": 65}, 65),
        ("chain", {"switches": 2, "hosts_per_switch": 63}, 65),
        ("ring", {"switches": 3, "hosts_per_switch": 63}, 65),
        ("fat_tree", {"levels": 2, "leaves": 65, "hosts_per_leaf": 1, "spines": 1}, 65),
        (
            "fat_tree",
            {"levels": 2, "leaves": 1, "hosts_per_leaf": 40, "spines": 13, "links_per_spine": 2},
            66,
        ),
        ("fat_tree", {"levels": 3, "k": 66}, 66),
        ("rail_optimized", {"scalable_units": 1, "servers_per_unit": 64, "rails": 1, "spines": 2}, 66),
    ],
)
def test_topology_more_ports_than_the_model_has_names_both(
    name: str, parameters: dict[str, Any], needed: int
) -> None:
    with pytest.raises(
        InputError, match=f"{name} needs switches of {needed} ports, but the model quantum2 has 64"
    ):
        _build(name, **parameters)


def test_topology_exactly_the_ports_of_the_model_is_built() -> None:
    assert len(_build("chain", switches=2, hosts_per_switch=62).hcas) == 124


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("single_switch", {"hosts": 10**9}),
        ("single_switch", {"hosts": 0}),
        ("single_switch", {"hosts": True}),
        ("single_switch", {"hosts": "4"}),
        ("single_switch", {"hosts": 4.0}),
        ("single_switch", {"hosts": 4, "colour": "red"}),
        ("single_switch", {}),
        ("ring", {"switches": 2, "hosts_per_switch": 1}),
        ("fat_tree", {"levels": 4, "k": 4}),
        ("fat_tree", {"levels": 3, "k": 5}),
        ("fat_tree", {"levels": 3, "k": 4, "spines": 2}),
        ("fat_tree", {"levels": 2, "leaves": 2, "spines": 2}),
        ("fat_tree", {"levels": 2, "leaves": 2, "hosts_per_leaf": 2, "spines": 2, "k": 4}),
        ("explicit", {"nodes": {}, "links": []}),
    ],
)
def test_topology_wrong_parameters_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TOPOLOGIES[name].parameters.model_validate(parameters)


@pytest.mark.parametrize(
    ("parameters", "what"),
    [
        ({"levels": 3, "k": 49_000}, "links"),
        ({"levels": 2, "leaves": 49_000, "hosts_per_leaf": 49_000, "spines": 1}, "nodes"),
        ({"levels": 2, "leaves": 24_000, "hosts_per_leaf": 1, "spines": 1}, "ports"),
    ],
)
def test_topology_of_hostile_size_is_refused_before_it_is_expanded(
    parameters: dict[str, Any], what: str
) -> None:
    with pytest.raises(InputError, match=rf"the fabric would have [0-9,]+ {what}; the most is"):
        _build("fat_tree", **parameters)


def test_topology_switches_come_after_hosts() -> None:
    kinds = [node.kind for node in _build("fat_tree", levels=3, k=4).nodes]
    assert kinds == sorted(kinds, key=lambda kind: kind is NodeKind.SWITCH)
