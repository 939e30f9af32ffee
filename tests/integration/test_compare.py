# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin compare``, run as people run it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(sys.executable).with_name("fabrictwin")
SCENARIO = """\
version: 1
name: three-hosts
seed: 3
fabric:
  topology: {generator: single_switch, hosts: 3}
  switch_model: quantum2
  hca_model: {base: connectx7, receive_buffer: 64KiB}
workload:
  - {kind: incast, name: burst, senders: [h1, h2], receiver: h0, message: 256KiB, count: 2}
  - {kind: all_reduce, name: sums, ranks: all, bytes: 96KiB}
"""


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, its comparison, and what was printed."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "s.yaml").write_text(SCENARIO)
    run = _run(
        *("compare", folder / "s.yaml", "--sizes", "none"),
        *("--json", folder / "c.json", "--report", folder / "c.html"),
    )
    assert run.returncode == 0, run.stderr
    (folder / "c.txt").write_text(run.stdout)
    return folder


@pytest.fixture
def result(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "c.json").read_text())
    return loaded


def test_compare_runs_every_variant_in_the_order_of_the_table(result: dict[str, Any]) -> None:
    assert result["schema"] == "fabrictwin.compare/1"
    assert [one["name"] for one in result["variants"]] == [
        *("infiniband", "infiniband_no_cc", "roce", "roce_spraying", "roce_no_cc", "roce_lossy"),
    ]
    assert all(one["stopped"] == "idle" for one in result["variants"])
    assert [job["name"] for job in result["variants"][0]["jobs"]] == ["burst", "sums"]


def test_compare_own_variant_is_the_run_that_simulate_makes(folder: Path, result: dict[str, Any]) -> None:
    run = _run("simulate", folder / "s.yaml", "--json", "-")
    plain = {one["name"]: one for one in result["variants"]}["infiniband_no_cc"]
    assert plain["digest"] == json.loads(run.stdout)["digest"]


def test_compare_says_what_was_mapped_and_dropped_on_terminal_and_page(folder: Path) -> None:
    for text in ((folder / "c.txt").read_text(), (folder / "c.html").read_text()):
        assert "quantum2 → spectrum4" in text
        assert "receive_buffer" in text
        assert "100 ns-class hops" in text
        assert "adaptive routing" in text.lower()


def test_compare_page_is_complete_and_fetches_nothing(folder: Path) -> None:
    page = (folder / "c.html").read_text()
    assert page.endswith("</html>\n")
    assert page.count('class="plotly-graph-div"') == 3
    parts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="', parts)


def test_compare_again_gives_the_same_result(folder: Path, result: dict[str, Any]) -> None:
    run = _run("compare", folder / "s.yaml", "--sizes", "none", "--jobs", "1", "--json", "-")
    assert json.loads(run.stdout) == result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "64,many"), "expected numbers such as 64,128"),
        (("--sizes", "65"), "multiples of 32"),
        (("--until", "soon"), "expected a time"),
    ],
)
def test_compare_wrong_option_is_refused_before_anything_runs(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    run = _run("compare", folder / "s.yaml", *arguments)
    assert run.returncode == 2
    assert message in run.stderr


def test_compare_scenario_without_a_counterpart_is_refused_with_the_reason(tmp_path: Path) -> None:
    scenario = tmp_path / "fast.yaml"
    scenario.write_text(
        "version: 1\nname: fast\nduration: 1us\nfabric:\n  topology: {generator: single_switch, hosts: 2}\n"
        "  switch_model: native_ib\n  hca_model: native_hca\n  link: {rate: 1Tb/s}\n"
    )
    run = _run("compare", scenario)
    assert run.returncode == 2
    assert "no RoCE model stands for 'native_hca'" in run.stderr
