# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabrictwin.cli.main import run

TREE = """\
version: 1
name: tree
duration: 1ms
fabric: {topology: {generator: fat_tree, levels: 2, leaves: 4, hosts_per_leaf: 3, spines: 3}}
routing: {engine: ftree}
workload:
  - {kind: stream, src: h0, dst: h5, message: 1MiB, count: 1}
"""
RING = """\
version: 1
name: ring
duration: 1ms
fabric: {topology: {generator: ring, switches: 5, hosts_per_switch: 2}}
workload:
  - {kind: stream, src: h0, dst: h5, message: 1MiB, count: 1}
"""
HOLE = """\
version: 1
name: hole
duration: 1ms
fabric: {topology: {generator: single_switch, hosts: 2}}
routing: {engine: explicit, tables: {sw0: {h0: 1}}}
workload:
  - {kind: stream, src: h1, dst: h0, message: 1MiB, count: 1}
"""


def _write(folder: Path, text: str) -> str:
    file = folder / "scenario.yaml"
    file.write_text(text)
    return str(file)


def _numbers(folder: Path, text: str, *options: str) -> tuple[int, dict[str, object]]:
    target = folder / "routes.json"
    code = run(["routes", _write(folder, text), "--json", str(target), *options])
    return code, json.loads(target.read_text())


def test_routes_prints_what_the_tables_are_worth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["routes", _write(tmp_path, TREE), "--check"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "engine ftree, 1 data VL" in lines
    assert "reachability 0 of 132 pairs of HCA ports unreachable" in lines
    assert "switches passed 1: 24, 3: 108" in lines
    assert "paths per link max 9, mean 9.0, std. dev. 0.0, 0 of 24 directions unused" in lines
    assert "credit loop none" in lines


def test_routes_json_has_the_same_numbers(tmp_path: Path) -> None:
    code, numbers = _numbers(tmp_path, TREE)
    assert code == 0
    assert numbers["schema"] == "fabrictwin.routes/1"
    assert numbers["reachability"] == {"pairs": 132, "unreachable": 0, "examples": []}
    assert numbers["hops"] == [{"switches": 1, "pairs": 24}, {"switches": 3, "pairs": 108}]
    assert numbers["credit_loop"] is None


def test_routes_check_of_a_credit_loop_names_the_cycle_and_returns_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["routes", _write(tmp_path, RING), "--check"]) == 1
    assert "sw0/3 vl0 -> sw1/3 vl0" in capsys.readouterr().out


def test_routes_without_check_returns_0_whatever_is_found(tmp_path: Path) -> None:
    code, numbers = _numbers(tmp_path, RING)
    assert code == 0
    assert numbers["credit_loop"] == {"cycle": [f"sw{i}/3 vl0" for i in range(5)]}


@pytest.mark.parametrize("engine", ["up_down", "ftree", "dfsssp"])
def test_routes_engine_replaces_that_of_the_scenario(tmp_path: Path, engine: str) -> None:
    code, numbers = _numbers(tmp_path, RING, "--engine", engine, "--check")
    assert code == 0
    assert numbers["engine"] == engine


def test_routes_check_of_an_unreachable_pair_names_it_and_returns_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["routes", _write(tmp_path, HOLE), "--check"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 of 2 pairs of HCA ports unreachable" in printed
    assert "h0/1 to h1/1: no route" in printed


def test_routes_unknown_engine_returns_2_and_names_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["routes", _write(tmp_path, TREE), "--engine", "min-hop"]) == 2
    assert "did you mean 'min_hop'?" in capsys.readouterr().err


def test_routes_explicit_without_tables_returns_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["routes", _write(tmp_path, TREE), "--engine", "explicit"]) == 2
    assert "needs 'tables'" in capsys.readouterr().err


def test_routes_dump_writes_both_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dump"
    assert run(["routes", _write(tmp_path, TREE), "--dump", str(folder)]) == 0
    fdbs = (folder / "opensm.fdbs").read_text().splitlines()
    assert sum(line.startswith("dump_ucast_routes: Switch 0x") for line in fdbs) == 7
    assert sum(line.endswith(" : yes") for line in fdbs) == 7 * 19
    matrix = (folder / "opensm-lid-matrix.dump").read_text().splitlines()
    assert sum(line.startswith("Switch: guid 0x") for line in matrix) == 7


def test_routes_dump_into_a_file_returns_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["routes", _write(tmp_path, TREE), "--dump", str(tmp_path / "scenario.yaml")]) == 2
    assert "expected a folder" in capsys.readouterr().err


ROCE = """\
version: 1
name: roce
duration: 1ms
fabric: {technology: roce, topology: {generator: TOPOLOGY}}
"""


def test_routes_of_roce_are_all_shortest_paths(tmp_path: Path) -> None:
    tree = ROCE.replace("TOPOLOGY", "fat_tree, levels: 2, leaves: 4, hosts_per_leaf: 3, spines: 3")
    code, numbers = _numbers(tmp_path, tree, "--check")
    assert (code, numbers["engine"], numbers["credit_loop"]) == (0, "ecmp", None)
    paths = numbers["paths_per_link"]
    assert isinstance(paths, dict)
    assert (paths["max"], paths["mean"], paths["unused"]) == (9.0, 9.0, 0)


def test_routes_of_a_roce_ring_name_the_buffers_that_wait_for_each_other(tmp_path: Path) -> None:
    ring = ROCE.replace("TOPOLOGY", "ring, switches: 5, hosts_per_switch: 1")
    code, numbers = _numbers(tmp_path, ring, "--check")
    loop = numbers["credit_loop"]
    assert code == 1
    assert isinstance(loop, dict)
    assert sorted(name.split("/")[0] for name in loop["cycle"]) == [f"sw{number}" for number in range(5)]
    assert all(name.endswith(" vl3") for name in loop["cycle"])


def test_routes_of_a_roce_ring_without_lossless_traffic_cannot_deadlock(tmp_path: Path) -> None:
    ring = ROCE.replace("TOPOLOGY", "ring, switches: 5, hosts_per_switch: 1")
    code, numbers = _numbers(tmp_path, ring + "qos: {lossless_priorities: []}\n", "--check")
    assert (code, numbers["credit_loop"]) == (0, None)


def test_routes_with_an_engine_of_the_other_technology_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = _write(tmp_path, ROCE.replace("TOPOLOGY", "single_switch, hosts: 2"))
    assert run(["routes", scenario, "--engine", "ftree"]) == 2
    expected = "'ftree' belongs to technology 'infiniband'; on RoCE use one of ecmp, explicit"
    assert expected in capsys.readouterr().err
