# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.check import check_fabric
from fabrictwin.model.fabric import Fabric
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology

QUANTUM2 = Equipment.of("quantum2", "connectx7")


def _build(nodes: dict[str, Any], links: list[Any], equipment: Equipment = QUANTUM2) -> Fabric:
    parameters = TOPOLOGIES["explicit"].parameters.model_validate({"nodes": nodes, "links": links})
    return build_topology("explicit", parameters, equipment)


def _problems(nodes: dict[str, Any], links: list[Any]) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        _build(nodes, links)
    return list(caught.value.problems)


def test_explicit_as_documented_is_built() -> None:
    fabric = _build(
        {"h0": "hca", "h1": {"hca": 2}, "leaf0": {"switch": 40}, "spine0": "switch"},
        [
            ["h0/1", "leaf0/1"],
            ["leaf0/33", "spine0/1", {"length": "30m", "rate": "200Gb/s"}],
            ["spine0/2", "h1/2", {"length": "2m"}],
        ],
    )
    assert [(node.name, node.ports) for node in fabric.nodes] == [
        ("h0", 1),
        ("h1", 2),
        ("leaf0", 40),
        ("spine0", 64),
    ]
    assert [fabric.port_name(link.a) for link in fabric.links] == ["h0/1", "leaf0/33", "h1/2"]
    assert [fabric.port_name(link.b) for link in fabric.links] == ["leaf0/1", "spine0/1", "spine0/2"]
    assert [(link.rate_bps // 10**9, link.length_mm) for link in fabric.links] == [
        (400, 10_000),
        (200, 30_000),
        (400, 2_000),
    ]


def test_explicit_guid_is_kept_and_hca_ports_follow_it() -> None:
    fabric = _build(
        {
            "h0": {"hca": 1, "guid": "0x0002c90300001230"},
            "sw0": {"switch": 4, "guid": "2c90300001000"},
        },
        [["h0/1", "sw0/1"]],
    )
    assert [node.guid for node in fabric.nodes] == [0x0002C90300001230, 0x0002C90300001000]
    assert fabric.nodes[0].port_guids == (0x0002C90300001231,)


def test_explicit_switch_without_radix_of_any_radix_model_has_its_highest_port() -> None:
    native = Equipment.of("native_ib", "native_hca")
    fabric = _build({"h0": "hca", "sw0": "switch"}, [["h0/1", "sw0/7"]], native)
    assert fabric.nodes[1].ports == 7


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("hcaa", "'hcaa' is no kind of node; did you mean 'hca'?"),
        (3, "expected hca, switch, {hca: PORTS} or {switch: PORTS}, got 3"),
        ({}, "expected hca, switch, {hca: PORTS} or {switch: PORTS}, got {}"),
        ({"hca": 1, "switch": 2}, "expected hca, switch"),
        ({"hca": 1, "giud": "0x1"}, "unknown key 'giud'; did you mean 'guid'?"),
        ({"hca": 0}, "expected a number of ports from 1 to 2, got 0"),
        ({"hca": True}, "expected a number of ports from 1 to 2, got True"),
        ({"hca": 3}, "3 ports are more than the 2 of the model connectx7"),
        ({"switch": 65}, "65 ports are more than the 64 of the model quantum2"),
        ({"switch": 10**9}, "1000000000 ports are more than the 64 of the model quantum2"),
        ({"hca": 1, "guid": 7}, "guid must be a quoted text of up to 16 hexadecimal digits"),
        ({"hca": 1, "guid": "0xg"}, "guid must be a quoted text of up to 16 hexadecimal digits"),
        ({"hca": 1, "guid": "0x0"}, "guid must be a quoted text of up to 16 hexadecimal digits"),
    ],
)
def test_explicit_wrong_node_is_named_with_its_field(entry: Any, message: str) -> None:
    problems = _problems({"a": entry, "b": "hca"}, [["a/1", "b/1"]])
    assert problems[0].field == "fabric.topology.nodes.a"
    assert message in problems[0].message


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (7, "a link is [node/port, node/port] or"),
        (["h0/1"], "a link is [node/port, node/port] or"),
        (["h0/1", "sw0/2", {}, {}], "a link is [node/port, node/port] or"),
        (["h0/1", "sw0/2", 3], "got 3 as the third"),
        (["h1/1", "sw9/2"], "unknown node 'sw9'; did you mean 'sw0'?"),
        (["h1", "sw0/2"], "expected a port such as 'h0/1', got 'h1'"),
        (["h1/x", "sw0/2"], "expected a port such as 'h0/1', got 'h1/x'"),
        (["h1/-1", "sw0/2"], "expected a port such as 'h0/1', got 'h1/-1'"),
        ([None, "sw0/2"], "expected a port such as 'h0/1', got None"),
        (["h1/1", "sw0/2", {"rate": "200"}], "rate: expected a rate such as"),
        (["h1/1", "sw0/2", {"length": "3 miles"}], "length: expected a length such as"),
        (["h1/1", "sw0/2", {"lenght": "3m"}], "unknown key 'lenght'; did you mean 'length'?"),
        (["h1/1", "sw0/2", {"rate": "0Gb/s"}], "has a rate of 0 bit/s; it must be above 0"),
        (["h1/2", "sw0/2"], "h1 has no port 2; its only port is 1"),
        (["h1/1", "sw0/41"], "sw0 has no port 41; its ports are 1 to 40"),
        (["h1/1", "sw0/0"], "sw0 has no port 0; its ports are 1 to 40"),
        (["sw0/2", "sw0/3"], "link sw0/2 - sw0/3 joins a node to itself"),
        (["h1/1", "sw0/1"], "port sw0/1 is used twice: link h0/1 - sw0/1 has it already"),
    ],
)
def test_explicit_wrong_link_is_named_with_its_field(entry: Any, message: str) -> None:
    nodes = {"h0": "hca", "h1": "hca", "sw0": {"switch": 40}}
    problems = _problems(nodes, [["h0/1", "sw0/1"], entry])
    first = next(problem for problem in problems if problem.field == "fabric.topology.links[1]")
    assert message in first.message


def test_explicit_every_problem_is_reported_at_once_and_no_follow_up() -> None:
    problems = _problems(
        {"h0": "hcaa", "h1": "hca", "h2": "hca", "sw 0": "switch"},
        [["h1/1", "nowhere/1"], ["h2/1", "sw 0/70"]],
    )
    assert [problem.field for problem in problems] == [
        "fabric.topology.nodes.h0",
        "fabric.topology.links[0]",
        "fabric.topology.nodes.sw 0",
        "fabric.topology.links[1]",
    ]


def test_explicit_duplicate_guid_names_both_nodes() -> None:
    guid = "0x0002c90300001000"
    nodes = {"h0": {"hca": 1, "guid": guid}, "sw0": {"switch": 4, "guid": guid}}
    (problem,) = _problems(nodes, [["h0/1", "sw0/1"]])
    assert problem.field == "fabric.topology.nodes.sw0"
    assert problem.message == "duplicate GUID 0x0002c90300001000: h0 and sw0 both have it"


def test_explicit_in_two_pieces_is_refused() -> None:
    nodes = {"h0": "hca", "h1": "hca", "sw0": "switch", "sw1": "switch"}
    (problem,) = _problems(nodes, [["h0/1", "sw0/1"], ["h1/1", "sw1/1"]])
    assert problem.field == "fabric.topology"
    assert "in 2 pieces" in problem.message


def test_explicit_huge_entry_is_shown_short() -> None:
    problems = _problems({"h0": "hca", "h1": "hca"}, [["h0/1", "h1/1"], list(range(100_000))])
    assert len(problems[0].message) < 300


_TEXTS = ["hca", "switch", "a/1", "b/1", "b/2", "0x1"]
_KEYS = ["hca", "switch", "guid", "rate", "length", "x"]
_SCALARS = st.none() | st.booleans() | st.integers() | st.sampled_from(_TEXTS)
_ENTRIES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3),
    max_leaves=6,
)
_LINKS = st.lists(st.sampled_from(["a/1", "b/1", "c/2"]), min_size=2, max_size=2)


@settings(deadline=None)
@given(
    nodes=st.dictionaries(st.sampled_from(["a", "b", "c"]), _ENTRIES, min_size=1),
    links=st.lists(_ENTRIES | _LINKS, max_size=3),
)
def test_explicit_any_entries_give_a_sound_fabric_or_an_input_error(
    nodes: dict[str, Any], links: list[Any]
) -> None:
    try:
        fabric = _build(nodes, links)
    except InputError:
        return
    assert check_fabric(fabric) == []
