# SPDX-License-Identifier: Apache-2.0
"""What a runner leaves behind when it is interrupted or killed, and what it says of what it cannot do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from integration.machine import REPOSITORY, WITHIN_S, Machine, machine
from integration.patience import wait_until

pytestmark = pytest.mark.drills

LONG = """\
version: 1
title: A cable goes down for long
description: So long that the runner can be stopped meanwhile.
scenario: SCENARIO
lease: 3ms
steady-state-hypothesis:
  title: All cables are up
  probes: [{type: probe, name: up, provider: {func: ports_down}, tolerance: 0}]
method:
  - type: action
    name: cut
    provider: {func: inject_fault, arguments: {kind: link_down, link: [leaf0/5, spine0/1]}}
    pauses: {after: PAUSE}
MORE
rollbacks:
  - {type: action, name: mend, provider: {func: clear_fault, arguments: {action: cut}}}
expect:
  detection: [{event: trap, within: 200us}]
  recovery: 2ms
"""
SCENARIO = REPOSITORY / "deploy" / "drills" / "scenarios" / "fat-tree.yaml"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Machine]:
    with machine() as place:
        place.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
        yield place
        assert place.leftovers() == []


def _drill(folder: Path, pause: str = "800ms", more: str = "") -> Path:
    path = folder / "long.yaml"
    path.write_text(LONG.replace("SCENARIO", str(SCENARIO)).replace("PAUSE", pause).replace("MORE\n", more))
    return path


def _director(place: Machine) -> str:
    state = json.loads((place.folder / "fabrictwin" / "fat-tree" / "twin.json").read_text())
    return str(state["director"])


def _faults(place: Machine, *twin: str) -> list[dict[str, Any]]:
    run = place.run("fault", "list", *twin, "--json", "-")
    faults: list[dict[str, Any]] = json.loads(run.stdout)["faults"] if run.returncode == 0 else []
    return faults


def _start(place: Machine, drill: Path, *arguments: str) -> Popen[str]:
    """Starts a drill, and waits until its fault is active."""
    runner = place.start("drill", "run", drill, "--json", "-", *arguments)
    twin = arguments or ("--twin", f"drill-{runner.pid}")
    wait_until(lambda: any(fault["state"] == "active" for fault in _faults(place, *twin)))
    return runner


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_runner_rolls_back_and_says_so(
    place: Machine, tmp_path: Path, number: signal.Signals
) -> None:
    runner = _start(place, _drill(tmp_path))
    runner.send_signal(number)
    journal = json.loads(runner.communicate(timeout=WITHIN_S)[0])
    assert runner.returncode == journal["exit_code"] == 4
    assert journal["verdict"] == "ABORTED"
    assert [each["ok"] for each in journal["activities"] if each["part"] == "rollbacks"] == [True]
    assert journal["rollback"]["left_overs"] == []


def test_next_start_lists_and_clears_what_a_killed_runner_has_left(place: Machine, tmp_path: Path) -> None:
    runner = _start(place, _drill(tmp_path))
    runner.kill()
    runner.communicate(timeout=WITHIN_S)
    assert place.leftovers() != []
    run = place.run("drill", "run", "credit-loop")
    assert run.returncode == 0, run.stderr
    assert f"twin drill-{runner.pid} is ended" in run.stderr


def test_lease_ends_the_fault_of_a_killed_runner_on_a_twin_elsewhere(place: Machine, tmp_path: Path) -> None:
    place.do("up", SCENARIO)
    director = _director(place)
    where = ("--director", director)
    runner = _start(place, _drill(tmp_path), *where)
    runner.kill()
    runner.communicate(timeout=WITHIN_S)
    (fault,) = _faults(place, *where)
    place.do("resume", *where)
    place.do("wait", "--until", f"{fault['end_ps'] // 1000 + 1}ns", *where)
    assert [each["state"] for each in _faults(place, *where)] == ["over"]
    place.do("down")
    run = place.run("drill", "run", "credit-loop")
    assert "cannot clear" in run.stderr


def test_twin_elsewhere_is_left_as_it_was_found(place: Machine, tmp_path: Path) -> None:
    place.do("up", SCENARIO)
    director = _director(place)
    run = place.run("drill", "run", _drill(tmp_path, "500us"), "--director", director, "--json", "-")
    assert run.returncode == 0, (run.stdout, run.stderr)
    assert place.status()["state"] == "running"
    assert place.status()["active_faults"] == 0
    run = place.run("drill", "run", "credit-loop", "--director", director)
    assert run.returncode == 2
    assert "the twin runs another scenario" in run.stderr
    place.do("down")


def test_injection_that_is_refused_makes_the_drill_invalid(place: Machine, tmp_path: Path) -> None:
    entry = "{kind: link_degraded, link: [leaf0/5, spine0/1], width: 1x}"
    twice = "".join(
        f"  - {{type: action, name: {name}, provider: {{func: inject_fault, arguments: {entry}}}}}\n"
        for name in ("one", "two")
    )
    run = place.run("drill", "run", _drill(tmp_path, "100us", twice), "--json", "-")
    journal = json.loads(run.stdout)
    assert run.returncode == 3
    assert journal["verdict"] == "INVALID"
    assert any("two could not be done" in reason and "overlaps" in reason for reason in journal["reasons"])
    assert journal["rollback"]["left_overs"] == []


def test_red_baseline_makes_the_drill_invalid_and_injects_nothing(place: Machine, tmp_path: Path) -> None:
    path = _drill(tmp_path)
    path.write_text(path.read_text().replace("tolerance: 0}]", "tolerance: 7}]"))
    run = place.run("drill", "run", path, "--json", "-")
    journal = json.loads(run.stdout)
    assert (run.returncode, journal["verdict"]) == (3, "INVALID")
    assert journal["activities"][0]["part"] == "rollbacks"
    assert "the baseline is red" in journal["reasons"][0]


def test_same_drill_gives_the_same_digest(place: Machine, tmp_path: Path) -> None:
    journals = [
        json.loads(place.do("drill", "run", _drill(tmp_path, "500us"), "--json", "-")) for _ in range(2)
    ]
    first, second = ([journal["determinism"], journal["findings"]] for journal in journals)
    assert first == second


def test_chaos_toolkit_runs_an_exported_drill(place: Machine, tmp_path: Path) -> None:
    place.do("up", SCENARIO)
    experiment, journal = tmp_path / "experiment.json", tmp_path / "journal.json"
    place.do("drill", "export", _drill(tmp_path, "500us"), "-o", experiment)
    chaos = Path(sys.executable).with_name("chaos")
    command = [chaos, "--no-version-check", "run", f"--journal-path={journal}", experiment]
    environment = place.environment | {"FABRICTWIN_DIRECTOR": _director(place)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    told = json.loads(journal.read_text())
    assert (told["status"], told["deviated"]) == ("completed", False)
    (fault,) = _faults(place)
    assert (fault["owner"], fault["state"]) == ("chaostoolkit", "cleared")
    place.do("down")


def test_drill_by_the_wall_clock_lets_the_twin_run_meanwhile(place: Machine, tmp_path: Path) -> None:
    path = _drill(tmp_path, "1s")
    text = path.read_text().replace("recovery: 2ms", "recovery: 500ms").replace("lease: 3ms", "lease: 10s")
    path.write_text(text + "  budget: 10s\n" + "clock: wall\nevery: 250ms\n")
    journal = json.loads(place.do("drill", "run", path, "--json", "-"))
    assert journal["verdict"] == "PASS"
    assert journal["env"]["clock"] == "wall"
    spans_ns = {sample["span_ns"] for sample in journal["samples"]}
    assert len(spans_ns) > 3
