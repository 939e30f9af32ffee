# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin sweep``, run, killed and resumed as people do it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.study.points import expand_points
from fabrictwin.study.sweep import read_sweep
from integration.patience import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIO = """\
version: 1
name: incast
duration: {duration}
fabric:
  technology: roce
  topology: {{generator: single_switch, hosts: 4}}
  switch_model: spectrum4
  link: {{rate: 100Gb/s}}
congestion_control: {{algorithm: dcqcn, profile: paper}}
workload:
  - {{kind: incast, name: burst, senders: [h1, h2, h3], receiver: h0, message: 256KiB, count: forever}}
"""
SWEEP = """\
version: 1
name: alphas
scenario: scenario.yaml
vary:
  fabric.switch_model.alpha: [1/64, 1]
  fabric.switch_model.shared_buffer: [4MB, 8MB, 16MB]
metrics:
  - {path: 'flows[*].goodput_bps', of: sum, name: all}
  - {path: totals.pfc_pause_sent, name: pauses}
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, "sweep", *arguments], capture_output=True, text=True, cwd=folder)


def _folder(path: Path, duration: str = "300us") -> Path:
    (path / "scenario.yaml").write_text(SCENARIO.format(duration=duration))
    (path / "sweep.yaml").write_text(SWEEP)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sweep that has run, and what it printed."""
    folder = _folder(tmp_path_factory.mktemp("sweep"))
    run = _run(folder, "sweep.yaml", "--json", "first.json", "--report", "page.html")
    assert run.returncode == 0, run.stderr
    (folder / "first.txt").write_text(run.stdout)
    return folder


def test_sweep_runs_every_point_and_keeps_it(done: Path) -> None:
    result: dict[str, Any] = json.loads((done / "first.json").read_text())
    assert len(result["points"]) == len(list((done / "alphas.results").iterdir())) == 6
    pauses = {tuple(point["values"].values()): point["metrics"]["pauses"] for point in result["points"]}
    assert pauses["1/64", "4MB"] > 0
    assert pauses[1, "16MB"] == 0
    assert "6 points, 6 runs in" in (done / "first.txt").read_text()


def test_sweep_again_runs_nothing_and_says_the_same(done: Path) -> None:
    run = _run(done, "sweep.yaml", "--json", "again.json")
    assert "0 runs in" in run.stdout
    assert "6 were there already" in run.stdout
    assert (done / "again.json").read_text() == (done / "first.json").read_text()


def test_sweep_page_is_complete_and_fetches_nothing(done: Path) -> None:
    page = (done / "page.html").read_text()
    assert page.endswith("</html>\n")
    assert page.count('class="plotly-graph-div"') == 2
    parts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="', parts)


def test_sweep_runs_a_damaged_point_again_and_says_so(done: Path) -> None:
    damaged = sorted((done / "alphas.results").iterdir())[2]
    whole = damaged.read_text()
    damaged.write_text(whole[:1000])
    run = _run(done, "sweep.yaml")
    assert f"{damaged.name}: not a result" in run.stderr
    assert "1 run in" in run.stdout
    assert damaged.read_text() == whole


def test_sweep_that_is_killed_goes_on_where_it_was_and_leaves_no_process(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "20ms")
    sweep = subprocess.Popen([PROGRAM, "sweep", "sweep.yaml", "--jobs", "1"], cwd=folder)
    results = folder / "alphas.results"
    try:
        wait_until(lambda: results.is_dir() and any(results.glob("[!.]*.json")))
        workers = _children(sweep.pid)
    finally:
        sweep.send_signal(signal.SIGKILL)
        sweep.wait()
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    kept = len(list(results.glob("[!.]*.json")))
    run = _run(folder, "sweep.yaml")
    assert 1 <= kept <= 6
    assert f"{6 - kept} run" in run.stdout
    assert f"{kept} were there already" in run.stdout
    assert len(list(results.glob("[!.]*.json"))) == 6


def _children(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    direct = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return direct + [below for child in direct for below in _children(child)]


def test_sweep_with_errors_runs_nothing(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "sweep.yaml").write_text(SWEEP.replace("1/64", "1/64000").replace("8MB", "8MBB"))
    run = _run(folder, "sweep.yaml")
    assert run.returncode == 2
    assert "sweep.yaml:5: " in run.stderr
    assert "sweep.yaml:6: " in run.stderr
    assert not (folder / "alphas.results").exists()


def test_shipped_sweeps_are_valid() -> None:
    sweeps = sorted((REPOSITORY / "deploy/sweeps").glob("*.yaml"))
    assert sweeps
    for path in sweeps:
        assert len(expand_points(read_sweep(path))) > 1
