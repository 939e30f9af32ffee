# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrictwin.errors import InputError
from fabrictwin.model.check import NODE_NAME
from fabrictwin.model.fabric import Fabric, Link, NodeKind
from fabrictwin.model.ibnetdiscover import MAX_BYTES, ImportResult, parse, read_file, scenario_yaml
from fabrictwin.model.ibnetdiscover.lines import MAX_LINES
from fabrictwin.model.ibnetdiscover.survey import MAX_NODES, MAX_PORTS
from fabrictwin.model.topology import Equipment
from unit.model.ibnetdiscover_text import plain_form, ports_form, tree

SCENARIOS = Path(__file__).resolve().parents[3] / "deploy" / "scenarios"
NATIVE = Equipment.of("native_ib", "native_hca")

PLAIN = """\
#
# Topology file: generated on Tue Dec  1 07:49:15 2026
#
# Initiated from node 0000000000000a00 port 0000000000000a01

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x1
switchguid=0x1(1)
Switch\t4 "S-0000000000000001"\t\t# "MF0;leaf-01:MQM8700/U1" enhanced port 0 lid 7 lmc 0
[1]\t"H-0000000000000a00"[1](a01) \t\t# "node001 mlx5_0" lid 5 4xHDR
[2]\t"H-0000000000000b00"[2](b02) \t\t# "node002 mlx5_0" lid 6 2xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xa00
caguid=0xa00
Ca\t1 "H-0000000000000a00"\t\t# "node001 mlx5_0"
[1](a01) \t"S-0000000000000001"[1]\t\t# lid 5 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 7 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xb00
caguid=0xb00
Ca\t2 "H-0000000000000b00"\t\t# "node002 mlx5_0"
[2](b02) \t"S-0000000000000001"[2]\t\t# lid 6 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 7 2xHDR
"""

PORTS = """\
DR path slid 0; dlid 0; 0 -> new Channel Adapter {0000000000000a00} portnum 1 lid 0-0 ""
CA     5  1 0x0000000000000a01 4x HDR - SW     7  1 0x0000000000000001 ( 'node001 mlx5_0' - 'leaf-01' )
CA     6  2 0x0000000000000b02 2x HDR - SW     7  2 0x0000000000000001 ( 'node002 mlx5_0' - 'leaf-01' )
CA     0  1 0x0000000000000b01 4x SDR                                    'node002 mlx5_0'
SW     7  4 0x0000000000000001 ?? ???                                    'leaf-01'
SW     7  3 0x0000000000000001 4x SDR                                    'leaf-01'
SW     7  2 0x0000000000000001 2x HDR - CA     6  2 0x0000000000000b02 ( 'leaf-01' - 'node002 mlx5_0' )
SW     7  1 0x0000000000000001 4x HDR - CA     5  1 0x0000000000000a01 ( 'leaf-01' - 'node001 mlx5_0' )
"""


def _counts(result: ImportResult) -> tuple[int, int, int]:
    return result.count(NodeKind.SWITCH), result.count(NodeKind.HCA), len(result.links)


def _cables(result: ImportResult) -> set[str]:
    names = [node.name for node in result.nodes]
    return {" - ".join(f"{names[end.node]}/{end.port}" for end in (link.a, link.b)) for link in result.links}


def _errors(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(text, "f")
    return [str(problem) for problem in caught.value.problems]


def test_plain_form_is_read_with_names_guids_lids_and_rates() -> None:
    result = parse(PLAIN, "f")
    switch, first, second = result.nodes
    assert [(node.name, node.kind, node.guid, node.ports) for node in result.nodes] == [
        ("leaf-01", NodeKind.SWITCH, 1, 4),
        ("node001-mlx5_0", NodeKind.HCA, 0xA00, 1),
        ("node002-mlx5_0", NodeKind.HCA, 0xB00, 2),
    ]
    assert switch.description == "MF0;leaf-01:MQM8700/U1"
    assert (first.port_guids, second.port_guids) == ((0xA01,), (0xB01, 0xB02))
    assert result.lids == {1: 7, 0xA01: 5, 0xB02: 6}
    assert _cables(result) == {"leaf-01/1 - node001-mlx5_0/1", "leaf-01/2 - node002-mlx5_0/2"}
    assert [link.rate_bps for link in result.links] == [200_000_000_000, 100_000_000_000]
    assert list(result.warnings) == []


def test_ports_form_of_the_same_fabric_gives_the_same_cables_and_lids() -> None:
    plain, ports = parse(PLAIN), parse(PORTS, "f")
    assert _counts(ports) == _counts(plain)
    rates = {node.name: node.ports for node in ports.nodes}
    assert rates == {"leaf-01": 4, "node001-mlx5_0": 1, "node002-mlx5_0": 2}
    assert ports.lids == plain.lids
    assert sorted(link.rate_bps for link in ports.links) == sorted(link.rate_bps for link in plain.links)
    (warning,) = ports.warnings
    assert str(warning) == "f:4: port 1 of HCA 'node002 mlx5_0' has no neighbour"


def test_fabric_has_the_models_and_the_length_that_the_file_does_not_tell() -> None:
    fabric = parse(PLAIN).fabric(Equipment.of("quantum_hdr", "connectx6", length_mm=3_000))
    assert [node.model for node in fabric.nodes] == ["quantum_hdr", "connectx6", "connectx6"]
    assert [(link.rate_bps, link.length_mm) for link in fabric.links] == [
        (200_000_000_000, 3_000),
        (100_000_000_000, 3_000),
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "ibwarn: [1234] mad_rpc: _do_madrpc failed; dport (DR path 0,1)",
        "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1,19) bad status 110; Connection timed out",
        "ibnetdiscover: iberror: failed: discover failed",
        "-W- something",
        "WARNING: a setting is deprecated",
    ],
)
@pytest.mark.parametrize("text", [PLAIN, PORTS])
def test_message_of_the_tool_is_a_warning(text: str, noise: str) -> None:
    result = parse(f"{noise}\n{text}{noise}\n", "f")
    assert _counts(result) == (1, 2, 2)
    said = [str(warning) for warning in result.warnings if "the tool said" in warning.message]
    assert len(said) == 2
    assert said[0].startswith("f:1: the tool said: ")


def test_chassis_headings_external_ports_and_link_codes_are_read_over() -> None:
    text = PLAIN.replace("vendid=0x2c9\ndevid=0xd2f0", "Chassis 1 (guid 0x1)\n# Spine Nodes\nvendid=0x2c9")
    text = text.replace("switchguid=0x1(1)", "switchguid=0x1(1)\t# ISR9024 Spine 1 Chip 1")
    text = text.replace("[1]\t", "[1][ext 17]\t").replace("4xHDR", "4xHDR s=4 w=2 v=4")
    text = text.replace("\nvendid=0x2c9\ndevid=0x101b", "\nNon-Chassis Nodes\n\nvendid=0x2c9", 1)
    result = parse(text)
    assert _counts(result) == (1, 2, 2)
    assert list(result.warnings) == []


@pytest.mark.parametrize("text", [PLAIN, PORTS])
def test_windows_line_ends_and_trailing_blanks_do_not_matter(text: str) -> None:
    assert _counts(parse(text.replace("\n", "  \r\n"))) == (1, 2, 2)


def test_cable_named_by_one_side_only_is_taken_with_a_warning() -> None:
    text = PLAIN.replace('[1](a01) \t"S-0000000000000001"[1]', '# [1](a01) \t"S-0000000000000001"[1]')
    result = parse(text, "f")
    assert _counts(result) == (1, 2, 2)
    (warning,) = result.warnings
    assert warning.line == 11
    assert "is named by one side only; taken as it stands" in warning.message


def test_cable_whose_sides_disagree_is_left_out_with_a_warning() -> None:
    text = PLAIN.replace('[1](a01) \t"S-0000000000000001"[1]', '[1](a01) \t"S-0000000000000001"[2]')
    result = parse(text, "f")
    assert _cables(result) == {"leaf-01/2 - node002-mlx5_0/2"}
    messages = [warning.message for warning in result.warnings]
    assert sum("the other side names another neighbour" in message for message in messages) == 2
    assert "hca 'node001 mlx5_0' is left out: it has no cable that is up" in messages


def test_two_sides_of_different_speed_take_the_lower_with_a_warning() -> None:
    result = parse(PLAIN.replace("lid 5 4xHDR", "lid 5 4xEDR"))
    assert [link.rate_bps for link in result.links] == [100_000_000_000, 100_000_000_000]
    assert "give different speeds; the lower is taken" in result.warnings[0].message


def test_speed_unknown_to_one_side_is_the_other_sides() -> None:
    result = parse(PLAIN.replace("lid 5 4xHDR", "lid 5 4x???"))
    assert result.links[0].rate_bps == 200_000_000_000
    assert list(result.warnings) == []


def test_cable_that_is_down_is_left_out_with_a_warning() -> None:
    text = PLAIN.replace("lid 5 4xHDR", "lid 5 ?????").replace("lid 7 4xHDR", "lid 7 ?????")
    result = parse(text)
    assert _counts(result) == (1, 1, 1)
    assert "is down, or its speed is unknown" in result.warnings[0].message


@pytest.mark.parametrize("ends", [[(3, 4), (4, 3)], [(4, 4)]])
def test_loop_back_cable_is_left_out_with_one_warning(ends: list[tuple[int, int]]) -> None:
    loop = "".join(
        f'[{port}]\t"S-0000000000000001"[{peer}]\t\t# "MF0;leaf-01:MQM8700/U1" lid 7 4xHDR\n'
        for port, peer in ends
    )
    result = parse(PLAIN.replace("2xHDR\n\nvendid", f"2xHDR\n{loop}\nvendid", 1))
    assert _counts(result) == (1, 2, 2)
    (warning,) = result.warnings
    assert "loop-back cable" in warning.message


def test_cable_to_management_port_0_is_left_out_with_a_warning() -> None:
    line = '[0]\t"H-0000000000000a00"[1](a01) \t\t# "node001 mlx5_0" lid 5 4xHDR\n'
    result = parse(PLAIN.replace("2xHDR\n\nvendid", f"2xHDR\n{line}\nvendid", 1))
    assert _counts(result) == (1, 2, 2)
    assert "management port 0" in result.warnings[0].message


def test_router_is_left_out_with_its_cables() -> None:
    line = '[3]\t"R-0000000000000c00"[1](c01) \t\t# "router" lid 9 4xHDR\n'
    router = (
        'rtguid=0xc00\nRt\t1 "R-0000000000000c00"\t\t# "router"\n'
        '[1](c01) \t"S-0000000000000001"[3]\t\t# lid 9 lmc 0 "leaf" lid 7 4xHDR\n'
    )
    result = parse(PLAIN.replace("2xHDR\n\nvendid", f"2xHDR\n{line}\nvendid", 1) + "\n" + router)
    assert _counts(result) == (1, 2, 2)
    assert len(result.warnings) == 2


def test_two_hcas_without_a_switch_are_read() -> None:
    text = """\
Ca\t1 "H-0000000000000a00"\t\t# "a"
[1](a01) \t"H-0000000000000b00"[1] (b01) \t\t# lid 1 lmc 0 "b" lid 2 4xXDR

Ca\t1 "H-0000000000000b00"\t\t# "b"
[1](b01) \t"H-0000000000000a00"[1] (a01) \t\t# lid 2 lmc 0 "a" lid 1 4xXDR
"""
    result = parse(text)
    assert _counts(result) == (0, 2, 1)
    assert result.links[0].rate_bps == 800_000_000_000
    assert result.lids == {0xA01: 1, 0xB01: 2}


def test_equal_descriptions_get_their_guids_whatever_the_order() -> None:
    text = PLAIN.replace("node001 mlx5_0", "MT4123").replace("node002 mlx5_0", "MT4123")
    names = [node.name for node in parse(text).nodes]
    assert names == ["leaf-01", "MT4123-0000000000000a00", "MT4123-0000000000000b00"]


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("MF0;sx6518-a:SX6518/L01/U1", "sx6518-a-L01-U1"),
        ("Voltaire 4036 # 4036-8C5C", "Voltaire-4036-4036-8C5C"),
        ('a "quoted" # name', "a-quoted-name"),
        ("../../etc/passwd", "etc-passwd"),
        ("", "hca-0000000000000a00"),
        ("\u00e4\u00f6", "hca-0000000000000a00"),
    ],
)
def test_description_becomes_a_valid_name_and_is_kept(description: str, name: str) -> None:
    node = parse(PLAIN.replace("node001 mlx5_0", description)).nodes[1]
    assert (node.name, node.description) == (name, description)


def test_names_that_would_collide_with_a_made_up_name_stay_unique() -> None:
    text = PLAIN.replace("MF0;leaf-01:MQM8700/U1", "x-0000000000000a00")
    text = text.replace("node001 mlx5_0", "x").replace("node002 mlx5_0", "x")
    names = [node.name for node in parse(text).nodes]
    assert len(set(names)) == 3


def test_port_guid_that_the_file_does_not_tell_never_takes_anothers() -> None:
    text = PLAIN.replace("a00", "b01").replace("a01", "b01")
    result = parse(text)
    assert result.nodes[2].port_guids == (0x0200_0003_0000_0001, 0xB02)
    result.fabric(NATIVE)


def test_ports_form_puts_ports_with_other_descriptions_on_hcas_of_their_own() -> None:
    text = PORTS.replace("0x0000000000000b02", "0x0000000000000a02")
    result = parse(text)
    hcas = [node for node in result.nodes if node.kind is NodeKind.HCA]
    assert [node.guid for node in hcas] == [0xA01, 0xA02]


@pytest.mark.parametrize("text", [PLAIN, PORTS])
@pytest.mark.parametrize("share", [0.45, 0.6, 0.75, 0.9])
def test_truncated_file_is_refused_with_file_and_line(text: str, share: float) -> None:
    cut = text[: int(len(text) * share)]
    assert cut[-1] != "\n"
    for error in _errors(cut):
        assert error.startswith("f:")


@pytest.mark.parametrize(("text", "marker"), [(PLAIN, "\ncaguid=0xb00"), (PORTS, "\nSW     7  4")])
def test_file_truncated_between_lines_is_refused_because_a_neighbour_is_missing(
    text: str, marker: str
) -> None:
    errors = _errors(text[: text.index(marker) + 1])
    assert all("is not described in the file: is it truncated?" in error for error in errors)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "DR path slid 0; dlid 0; 0 -> x\n"])
def test_file_without_nodes_is_refused(text: str) -> None:
    assert _errors(text) == ["f: no node found: expected the output of ibnetdiscover"]


def test_garbage_is_refused_with_one_message() -> None:
    assert _errors("hello\nworld\n") == ["f:1: not a line of ibnetdiscover output, or cut off: 'hello'"]


def test_garbage_inside_is_refused_with_every_line_up_to_a_bound() -> None:
    errors = _errors(PLAIN + "oops\n" * 3)
    assert [error.split(": ")[0] for error in errors] == ["f:27", "f:28", "f:29"]
    assert len(_errors(PLAIN + "oops\n" * 1000)) == 20


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Switch\t4", "Switch\t400", "f:10: a node has 1 to 254 ports, got 400"),
        ("Switch\t4", "Switch\t0", "f:10: a node has 1 to 254 ports, got 0"),
        ("Switch\t4", "Switch\t999999999", "f:10: a node has 1 to 254 ports, got 999999999"),
        ("[2]\t", "[5]\t", "f:12: the node has ports 1 to 4, not 5"),
        ("[2]\t", "[1]\t", "f:12: port 1 of 0x0000000000000001 is used twice: line 11 has it already"),
        ("\n[2](b02)", "\n[3](b02)", "f:26: the node has ports 1 to 2, not 3"),
        ('"S-0000000000000001"[1]', '"S-0000000000000001"[9]', "has ports 1 to 4, not 9"),
        ("Ca\t2", 'Ca\t2 "X-', "f:25: not a line of ibnetdiscover output"),
        ('Ca\t1 "H-', 'Ca\t1 "S-', "f:18: not a line of ibnetdiscover output"),
        (" lid 5 4xHDR", "", "f:11: not a line of ibnetdiscover output"),
        ("[1]\t", "x" * 3_000 + "\n[1]\t", "f:11: the line is longer than 2,000 characters"),
    ],
)
def test_contradiction_is_refused_with_its_line(old: str, new: str, expected: str) -> None:
    assert any(expected in error for error in _errors(PLAIN.replace(old, new, 1)))


def test_duplicate_guid_names_the_first_line() -> None:
    block = PLAIN[PLAIN.index("Ca\t1") : PLAIN.index("\nvendid", PLAIN.index("Ca\t1"))]
    assert _errors(PLAIN + block) == ["f:27: duplicate GUID 0x0000000000000a00: line 18 has it already"]


def test_port_used_twice_in_ports_form_names_the_first_line() -> None:
    (error,) = _errors(PORTS + PORTS.splitlines()[-1] + "\n")
    assert error == "f:9: port 1 of 0x0000000000000001 is used twice: line 8 has it already"


def test_fabric_in_two_pieces_is_refused_with_the_file() -> None:
    second = PLAIN.replace("0000000000000001", "0000000000000011")
    second = second.replace("a00", "e00").replace("a01", "e01").replace("b00", "f00").replace("b02", "f02")
    result = parse(PLAIN + second, "f")
    with pytest.raises(InputError, match=r"f: the fabric is in 2 pieces"):
        result.fabric(NATIVE)


def test_duplicate_port_guid_is_refused_with_its_line() -> None:
    result = parse(PLAIN.replace("b02", "a01"), "f")
    with pytest.raises(InputError, match=r"f:25: duplicate GUID 0x0000000000000a01"):
        result.fabric(NATIVE)


def test_too_much_text_is_refused() -> None:
    assert "the most is" in _errors("#" * (MAX_BYTES + 1))[0]


def test_largest_cluster_that_matters_is_within_the_bounds() -> None:
    """11,664 HCAs; a ports form twice as full as theirs would still be."""
    hosts, switches, cabled = 36**3 // 4, 5 * 36**2 // 4, 6 * 36**3 // 4
    assert hosts + switches < MAX_NODES / 2
    assert cabled < MAX_PORTS * 0.75
    assert 7 * hosts + switches * (36 + 6) < MAX_LINES * 0.75


@pytest.mark.parametrize("write", [plain_form, ports_form])
def test_generated_tree_is_read_back_as_it_was(write: Callable[[Fabric], str]) -> None:
    fabric = tree(8)
    result = parse(write(fabric), "f")
    back = result.fabric(Equipment.of("native_ib", "native_hca"))
    assert (result.count(NodeKind.SWITCH), result.count(NodeKind.HCA)) == (80, 128)
    assert {_named(fabric, link) for link in fabric.links} == {_named(back, link) for link in back.links}
    assert list(result.warnings) == []


def _named(fabric: Fabric, link: Link) -> tuple[str, ...]:
    ends = (fabric.port_name(end).replace("-mlx5_0", "") for end in (link.a, link.b))
    return tuple(sorted(ends))


_EMOJI = "\U0001f600"
HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "lines": (lambda: "\n" * (MAX_LINES + 1), f"more than {MAX_LINES:,} lines"),
    "nodes": (
        lambda: "".join(f'Ca\t1 "H-{node:016x}"\t\t# "h"\n' for node in range(1, MAX_LINES)),
        f"more than {MAX_NODES:,} nodes",
    ),
    "nodes of the ports form": (
        lambda: "".join(f"CA 1 1 0x{node:016x} 4x SDR 'h'\n" for node in range(1, MAX_PORTS)),
        f"more than {MAX_NODES:,} nodes",
    ),
    "ports": (lambda: _switches(MAX_PORTS // 254 + 1), f"more than {MAX_PORTS:,} ports"),
    "rows": (
        lambda: "".join(
            f"SW 1 {row % 254 + 1} 0x{row // 254 + 1:016x} 4x SDR 's'\n" for row in range(190_000)
        ),
        f"more than {MAX_PORTS:,} ports",
    ),
    "one port again and again": (
        lambda: (
            'Switch\t9 "S-0000000000000001"\t\t# "s"\n'
            + '[1]\t"S-0000000000000001"[1]\t\t# "s" lid 1 4xNDR\n' * 190_000
        ),
        "is used twice",
    ),
    "a large fabric with one neighbour missing": (
        lambda: ports_form(tree(36)) + f"CA 1 1 0x{7:016x} 4x NDR - SW 1 1 0x{8:016x} ( 'a' - 'b' )\n",
        "is not described in the file",
    ),
    "messages of the tool": (lambda: "ibwarn: [1] slow\n" * (MAX_LINES - 1), "no node found"),
    "one long line": (lambda: "x" * MAX_BYTES, "the line is longer than"),
    "long lines of spaces": (lambda: ("[1]" + " " * 1_900 + "x\n") * 8_000, "not a line of ibnetdiscover"),
    "long lines of quotes": (
        lambda: (
            ("SW 1 1 0x0000000000000001 4x NDR - SW 1 1 0x0000000000000001 ( '" + "' - '" * 380 + "\n")
            * 8_000
        ),
        "not a line of ibnetdiscover",
    ),
    "wide characters": (lambda: f"# {_EMOJI * 1_990}\n" * 2_000, "no node found"),
}


def _switches(count: int) -> str:
    """Switches that are all cabled to a neighbour without a block."""
    return "".join(
        f'Switch\t254 "S-{switch:016x}"\t\t# "s"\n'
        + "".join(f'[{port}]\t"S-{switch:016x}"[{port}]\t\t# "s" lid 1 4xNDR\n' for port in range(1, 255))
        for switch in range(1, count + 1)
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_fast_and_small(name: str) -> None:
    write, expected = HOSTILE[name]
    text = write()
    before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.process_time()
    assert expected in _errors(text)[0]
    assert time.process_time() - began < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before_bytes < 200 * (1 << 20)


def test_read_file_larger_than_allowed_or_binary_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "f"
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match="is larger than 16,777,216 bytes"):
        read_file(file)
    file.write_bytes(b"\x7fELF\0\0")
    with pytest.raises(InputError, match="is binary"):
        read_file(file)


def test_read_file_description_of_other_encoding_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "latin1"
    file.write_bytes(PLAIN.replace("node001", "n\u00e4he").encode("latin-1"))
    assert _counts(parse(read_file(file))) == (1, 2, 2)


def test_shipped_file_is_the_fat_tree_that_its_script_describes() -> None:
    result = parse(read_file(SCENARIOS / "hdr_fat_tree.ibnetdiscover"))
    fabric = result.fabric(Equipment.of("quantum_hdr", "connectx6"))
    assert _counts(result) == (18, 160, 320)
    assert list(result.warnings) == []
    assert {link.rate_bps for link in result.links} == {200_000_000_000}
    assert len(result.lids) == 178
    degrees = Counter(end.node for link in fabric.links for end in (link.a, link.b))
    assert Counter(degrees[index] for index in fabric.switches) == {40: 8, 16: 10}
    assert {"node001-mlx5_0", "node160-mlx5_0", "leaf-01", "spine-10"} <= set(fabric.index_of)


@pytest.mark.parametrize(
    ("name", "switches", "hcas", "links", "rates"),
    [
        ("topograph_ndr_2025.ibnetdiscover", 40, 582, 1114, {400: 1114}),
        ("hpctoolset_x5.ibnetdiscover", 11, 89, 159, {32: 136, 16: 23}),
        ("loginoff_topo.ibnetdiscover", 8, 144, 192, {40: 47, 32: 145}),
        ("hwloc_avakas.ibnetdiscover-ps.txt", 25, 281, 569, {32: 568, 16: 1}),
    ],
)
def test_real_cluster_is_imported_whole(
    shared_data: Path, name: str, switches: int, hcas: int, links: int, rates: dict[int, int]
) -> None:
    result = parse(read_file(shared_data / "ibnet" / name), name)
    fabric = result.fabric(NATIVE)
    assert _counts(result) == (switches, hcas, links)
    assert Counter(link.rate_bps // 10**9 for link in result.links) == rates
    assert list(result.warnings) == []
    assert all(NODE_NAME.match(node.name) for node in fabric.nodes)
    assert all(node.description for node in fabric.nodes)
    cabled = {fabric.nodes[end.node].port_guid(end.port) for link in fabric.links for end in (link.a, link.b)}
    assert set(result.lids) == cabled


@pytest.mark.parametrize(
    ("speed", "switch_model", "hca_model"),
    [
        ("QDR", "infiniscale4", "native_hca"),
        ("FDR", "native_ib", "native_hca"),
        ("EDR", "native_ib", "native_hca"),
        ("HDR", "quantum_hdr", "connectx6"),
        ("NDR", "quantum2", "connectx7"),
        ("XDR", "quantum_x800", "connectx8"),
    ],
)
def test_scenario_takes_the_models_of_the_fastest_link(speed: str, switch_model: str, hca_model: str) -> None:
    text = scenario_yaml(parse(PLAIN.replace("4xHDR", f"4x{speed}").replace("2xHDR", "1xSDR")), "f", "x")
    assert f"switch_model: {switch_model} " in text
    assert f"hca_model: {hca_model}\n" in text


def test_scenario_quotes_the_file_and_repairs_the_name() -> None:
    text = scenario_yaml(parse(PLAIN), 'a "b" #1.ibnetdiscover', "my cluster: 1")
    assert 'file: "a \\"b\\" #1.ibnetdiscover"' in text
    assert "\nname: my-cluster-1\n" in text
    assert text.startswith("# 1 switches, 2 HCAs, 2 links (1 at 200 Gb/s, 1 at 100 Gb/s)\n")


@settings(deadline=None)
@given(
    text=st.sampled_from([PLAIN, PORTS]),
    start=st.integers(0, len(PLAIN)),
    length=st.integers(0, 40),
    insert=st.text(max_size=20),
)
def test_any_damage_gives_a_fabric_or_an_input_error(text: str, start: int, length: int, insert: str) -> None:
    damaged = text[:start] + insert + text[start + length :]
    try:
        fabric = parse(damaged).fabric(NATIVE)
    except InputError:
        return
    assert fabric.links


def test_warnings_without_end_are_not_all_kept() -> None:
    assert len(parse("ibwarn: [7] slow\n" * 10_001 + PLAIN).warnings) == 10_000
