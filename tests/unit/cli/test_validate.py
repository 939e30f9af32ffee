# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabrictwin.cli.main import run
from fabrictwin.model.scenario import load_scenario

SCENARIO = """\
version: 1
name: example
duration: 2ms
fabric: {topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
workload:
  - {kind: all_to_all, name: shuffle, ranks: all, bytes: 1MiB}
faults:
  - {kind: link_down, link: [leaf0/3, spine0/1], at: 500us, duration: 1ms}
expect:
  - {path: totals.dropped_packets, equals: 0}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "example.yaml"
    file.write_text(SCENARIO)
    return file


def test_validate_sound_scenario_says_what_it_holds_and_returns_0(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", str(scenario)]) == 0
    printed = capsys.readouterr()
    lines = [" ".join(line.split()) for line in printed.out.splitlines()]
    assert lines[0] == "example is valid (seed 1)"
    assert "duration 2 ms" in lines
    assert "links 8 at 400 Gb/s" in lines
    assert "workload shuffle: all_to_all, 12 flows, 4 ranks" in lines
    assert "fault link_down0: link_down leaf0/3 - spine0/1 at 500 us, over at 1.5 ms" in lines
    assert "expectation totals.dropped_packets" in lines
    assert printed.err == ""


def test_validate_json_on_standard_output_is_nothing_but_json(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", str(scenario), "--json", "-"]) == 0
    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert summary["schema"] == "fabrictwin.scenario/1"
    assert summary["sha256"] == load_scenario(scenario).sha256
    assert summary["fabric"]["switches"] == 4
    assert summary["jobs"] == [{"name": "shuffle", "kind": "all_to_all", "flows": 12, "ranks": 4}]
    assert "is valid" in printed.err


def test_validate_wrong_scenario_shows_every_problem_and_returns_2(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario.write_text(SCENARIO.replace("all_to_all", "all_to_al").replace("spine0/1", "spine9/1"))
    assert run(["validate", str(scenario)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    first, second, last = printed.err.splitlines()
    assert first.startswith(f"error: {scenario}:6: workload[0].kind: unknown kind of workload 'all_to_al'")
    assert second.startswith(
        f"error: {scenario}:8: faults[0].link[1]: unknown node 'spine9'; did you mean 'spine"
    )
    assert last == "2 errors"


def test_validate_absent_file_returns_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "absent.yaml"
    assert run(["validate", str(file)]) == 2
    assert capsys.readouterr().err == f"error: {file}: no such file\n"


def test_validate_unwritable_target_returns_2_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", str(tmp_path / "absent.yaml"), "--json", str(tmp_path)]) == 2
    assert "this is a folder" in capsys.readouterr().err


def test_validate_warns_about_an_odd_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).resolve().parents[3] / "deploy" / "scenarios" / "hdr_fat_tree.ibnetdiscover"
    # A node without a single cable: left out, and said so.
    extra = 'caguid=0x99\nCa\t1 "H-0000000000000099"\t\t# "lonely HCA-1"\n'
    (tmp_path / "fabric.txt").write_text(source.read_text() + "\n" + extra)
    file = tmp_path / "s.yaml"
    file.write_text(
        "version: 1\nname: t\nfabric:\n  topology: {import: ibnetdiscover, file: fabric.txt}\n"
        "  switch_model: quantum_hdr\n  hca_model: connectx6\n"
    )
    assert run(["validate", str(file)]) == 0
    assert "warning: " in capsys.readouterr().err
