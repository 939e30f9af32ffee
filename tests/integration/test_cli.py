# SPDX-License-Identifier: Apache-2.0
"""The installed command, run as people and scripts run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest

from integration.terminal import run_on_terminal

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIO = """\
version: 1
name: three-hosts
seed: 3
duration: 1ms
fabric:
  technology: infiniband
  topology: {generator: single_switch, hosts: 3}
  switch_model: quantum2
  hca_model: connectx7
workload:
  - {kind: incast, name: burst, senders: [h1, h2], receiver: h0, message: 64KiB, count: 2}
"""
BYTES = 2 * 2 * 64 * 1024


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "three-hosts.yaml"
    path.write_text(SCENARIO)
    return path


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=REPOSITORY)


def _result(*arguments: str | Path) -> dict[str, Any]:
    run = _run("simulate", *arguments, "--json", "-")
    assert run.returncode == 0, run.stderr
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def test_simulate_delivers_the_workload_and_exits_0(scenario: Path) -> None:
    result = _result(scenario)
    assert result["schema"] == "fabrictwin.result/1"
    assert result["stopped"] == "idle"
    assert sum(flow["bytes"] for flow in result["flows"]) == BYTES
    assert result["wall_s"] > 0
    assert result["peak_rss_bytes"] > 2**20


def test_simulate_in_a_pipe_prints_a_plain_summary_and_no_progress(scenario: Path) -> None:
    run = _run("simulate", scenario)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert "three-hosts (seed 3)" in run.stdout
    assert all(character.isprintable() or character == "\n" for character in run.stdout)


def test_simulate_shards_give_the_same_digest(scenario: Path) -> None:
    assert _result(scenario)["digest"] == _result(scenario, "--shards", "3")["digest"]


def test_simulate_commands_does_what_people_did_to_a_live_twin(scenario: Path, tmp_path: Path) -> None:
    log = tmp_path / "commands"
    sha256 = _result(scenario)["scenario"]["sha256"]
    added = {"kind": "stream", "src": "h1", "dst": "h2", "message": "4KiB", "count": 3}
    lines: list[dict[str, Any]] = [
        {"schema": "fabrictwin.commands/1", "scenario_sha256": sha256, "version": "0.1.0"},
        {"at_ns": 1000, "seq": 1, "by": "me", "do": "workload.start", "name": "more", "workload": added},
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = _result(scenario, "--commands", log)
    assert sum(flow["bytes"] for flow in result["flows"]) == BYTES + 3 * 4096
    assert result["digest"] == _result(scenario, "--commands", log, "--shards", "2")["digest"]
    scenario.write_text(SCENARIO.replace("seed: 3", "seed: 4"))
    run = _run("simulate", scenario, "--commands", log)
    assert run.returncode == 2
    assert "another scenario" in run.stderr


def test_simulate_until_stops_there(scenario: Path) -> None:
    result = _result(scenario, "--until", "2us")
    assert result["fabric_time_ns"] == 2_000
    assert result["stopped"] == "duration"


def test_simulate_without_a_workload_runs_for_its_duration(scenario: Path) -> None:
    scenario.write_text(SCENARIO[: SCENARIO.index("workload:")])
    result = _result(scenario)
    assert (result["stopped"], result["fabric_time_ns"]) == ("duration", 1_000_000)


def test_simulate_without_a_workload_and_an_end_exits_2(scenario: Path) -> None:
    text = SCENARIO[: SCENARIO.index("workload:")].replace("duration: 1ms\n", "")
    scenario.write_text(text)
    run = _run("simulate", scenario)
    assert run.returncode == 2
    assert "give it a 'duration', or --until" in run.stderr


def test_simulate_writes_json_and_report(scenario: Path, tmp_path: Path) -> None:
    run = _run("simulate", scenario, "--json", tmp_path / "r.json", "--report", tmp_path / "r.html")
    assert run.returncode == 0, run.stderr
    assert json.loads((tmp_path / "r.json").read_text())["scenario"]["name"] == "three-hosts"
    assert "How much data arrived" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(("least", "code"), [("1Gb/s", 0), ("900Gb/s", 1)])
def test_simulate_expectation_decides_between_0_and_1(scenario: Path, least: str, code: int) -> None:
    scenario.write_text(SCENARIO + f"expect:\n  - {{path: 'flows[*].goodput_bps', min: {least}}}\n")
    run = _run("simulate", scenario)
    assert run.returncode == code, run.stderr
    assert ("expectation not met" in run.stderr) == bool(code)


def test_simulate_wrong_scenario_names_every_problem_and_exits_2(scenario: Path) -> None:
    broken = SCENARIO.replace("seed: 3", "seeed: 3").replace("quantum2", "quantum22")
    scenario.write_text(broken)
    run = _run("simulate", scenario)
    assert run.returncode == 2
    assert run.stdout == ""
    assert f"{scenario}:3:" in run.stderr
    assert f"{scenario}:8:" in run.stderr
    assert "did you mean 'quantum2'?" in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--until", "2 parsecs"],
        ["--until", "0ns"],
        ["--shards", "0"],
        ["--json", "/nowhere/at/all.json"],
        ["--report", "/nowhere/at/all.html"],
        ["--frobnicate"],
    ],
    ids=" ".join,
)
def test_simulate_wrong_argument_exits_2_before_running(scenario: Path, arguments: list[str]) -> None:
    run = _run("simulate", scenario, *arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr != ""


def test_simulate_until_after_the_end_of_the_scenario_says_so(scenario: Path) -> None:
    run = _run("simulate", scenario, "--until", "1s")
    assert run.returncode == 0
    assert run.stderr == "warning: --until: the run ends earlier, with the scenario: at 1 ms\n"


def test_simulate_more_shards_than_nodes_are_as_good_as_one(scenario: Path) -> None:
    assert _result(scenario)["digest"] == _result(scenario, "--shards", "10000")["digest"]


def _run_into(stdout: TextIO, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True)


def test_simulate_output_that_nobody_reads_ends_without_a_word(scenario: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        run = _run_into(stdout, "simulate", scenario)
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.parametrize("arguments", [[], ["--json", "-"]], ids=["summary", "json"])
def test_simulate_into_a_full_disk_says_so_in_one_line_and_exits_3(
    scenario: Path, arguments: list[str]
) -> None:
    with Path("/dev/full").open("w") as stdout:
        run = _run_into(stdout, "simulate", scenario, *arguments)
    assert (run.returncode, run.stderr) == (3, "fabrictwin failed: No space left on device\n")


def test_simulate_with_closed_output_still_writes_its_files(scenario: Path, tmp_path: Path) -> None:
    command = f"exec {PROGRAM} simulate {scenario} --json {tmp_path / 'r.json'} >&- 2>&-"
    assert subprocess.run(["sh", "-c", command]).returncode == 0
    assert json.loads((tmp_path / "r.json").read_text())["stopped"] == "idle"


def test_simulate_never_overwrites_its_scenario(scenario: Path) -> None:
    run = _run("simulate", scenario, "--json", scenario)
    assert run.returncode == 2
    assert scenario.read_text() == SCENARIO


def test_simulate_interrupted_ends_at_once_and_leaves_the_old_result(scenario: Path, tmp_path: Path) -> None:
    endless = SCENARIO.replace("count: 2", "count: forever").replace("duration: 1ms", "duration: 10s")
    scenario.write_text(endless)
    target = tmp_path / "r.json"
    target.write_text("old")
    command = [PROGRAM, "simulate", scenario, "--json", target]
    session = run_on_terminal(command, os.environ, until="simulating", keys=b"\x03")
    assert session.returncode == 130
    assert "Traceback" not in session.shown
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "three-hosts.yaml"]


def test_simulate_missing_file_exits_2() -> None:
    run = _run("simulate", "no-such-file.yaml")
    assert run.returncode == 2
    assert "no-such-file.yaml" in run.stderr


def test_validate_good_and_bad_scenarios_exit_0_and_2(scenario: Path) -> None:
    assert _run("validate", scenario).returncode == 0
    scenario.write_text(SCENARIO.replace("h1, h2", "h1, h7"))
    run = _run("validate", scenario)
    assert run.returncode == 2
    assert "h7" in run.stderr


def test_bench_unknown_case_names_the_nearest_and_exits_2() -> None:
    run = _run("bench", "--case", "permutation-129")
    assert run.returncode == 2
    assert "did you mean 'permutation-128'?" in run.stderr


def test_bench_case_prints_one_json_line_with_goal_and_peers() -> None:
    run = _run("bench", "--case", "cached-start")
    assert run.returncode == 0, run.stderr
    line = json.loads(run.stdout)
    assert {"name", "value", "unit", "goal", "met", "peers"} <= line.keys()
    assert line["name"] == "cached-start"
