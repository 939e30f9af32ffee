# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.study.points import describe_values, expand_points, run_point, short_names
from fabrictwin.study.sweep import read_sweep
from unit.study.study_scenarios import ROCE

HEAD = "version: 1\nname: s\nscenario: scenario.yaml\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scenario.yaml").write_text(ROCE)
    return tmp_path


def _write(folder: Path, rest: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(HEAD + rest)
    return path


def _problems(folder: Path, rest: str) -> list[str]:
    with pytest.raises(InputError) as error:
        expand_points(read_sweep(_write(folder, rest)))
    return [str(problem).replace(str(folder) + "/", "") for problem in error.value.problems]


def test_sweep_makes_every_combination_in_the_order_of_the_file(folder: Path) -> None:
    rest = "vary:\n  fabric.switch_model.alpha: [1, 1/8]\n  workload[burst].message: [4KiB, 8KiB, 16KiB]\n"
    sweep = read_sweep(_write(folder, rest))
    points = expand_points(sweep)
    assert sweep.size == 6
    assert [point.values for point in points] == [
        (alpha, size) for alpha in (1, "1/8") for size in ("4KiB", "8KiB", "16KiB")
    ]
    assert len({point.key for point in points}) == 6
    assert points[4].source.value["workload"][0]["message"] == "8KiB"
    assert points[4].source.value["fabric"]["switch_model"]["alpha"] == "1/8"
    assert describe_values(sweep, points[4].values) == "alpha=1/8, message=8KiB"


def test_sweep_set_holds_in_every_point_and_vary_may_change_a_part_of_it(folder: Path) -> None:
    rest = (
        "set:\n  fabric.switch_model.ecn: {kmin: 10KB, kmax: 20KB, pmax: 0.5}\n"
        "vary:\n  fabric.switch_model.ecn.kmin: [5KB, 6KB]\n"
    )
    points = expand_points(read_sweep(_write(folder, rest)))
    ecns = [point.source.value["fabric"]["switch_model"]["ecn"] for point in points]
    assert ecns == [{"kmin": kmin, "kmax": "20KB", "pmax": 0.5} for kmin in ("5KB", "6KB")]


def test_sweep_key_of_a_point_depends_on_scenario_and_end(folder: Path) -> None:
    def keys(rest: str) -> list[str]:
        return [point.key for point in expand_points(read_sweep(_write(folder, rest)))]

    plain = keys("vary:\n  seed: [1, 2]\n")
    assert keys("vary:\n  seed: [2, 1]\nmetrics: [stopped]\n") == plain[::-1]
    assert keys("vary:\n  seed: [1, 2]\nuntil: 10us\n") != plain


def test_sweep_names_parameters_by_their_ends_unless_two_end_alike(folder: Path) -> None:
    rest = "vary:\n  fabric.switch_model.llr: [true]\n  fabric.hca_model.llr: [true]\n  seed: [1]\n"
    sweep = read_sweep(_write(folder, rest))
    assert short_names(sweep) == ["fabric.switch_model.llr", "fabric.hca_model.llr", "seed"]


def test_sweep_point_runs_to_its_end_and_metrics_read_it(folder: Path) -> None:
    rest = (
        "vary:\n  seed: [1]\nmetrics:\n  - stopped\n  - {path: 'flows[*].bytes', of: sum}\n"
        "  - {path: 'flows[burst:h1>h0].latency_ns.p99'}\n  - {path: 'jobs[*].busbw_bps', of: max}\n"
    )
    sweep = read_sweep(_write(folder, rest))
    result = run_point(expand_points(sweep)[0].source, None)
    stopped, total, latency, busbw = (metric.value(result) for metric in sweep.metrics)
    assert (stopped, total) == ("idle", 2 * 64 * 1024)
    assert latency == next(
        flow["latency_ns"]["p99"] for flow in result["flows"] if flow["name"] == "burst:h1>h0"
    )
    assert busbw is None


def test_sweep_errors_of_all_values_come_at_once_with_their_lines(folder: Path) -> None:
    problems = _problems(
        folder,
        "vary:\n  fabric.switch_model.alfa: [1]\n  fabric.switch_model.shared_buffer:\n    - 8MB\n"
        "    - 8 apples\n  congestion_control.profile: [papers]\n",
    )
    assert len(problems) == 3
    assert (
        "sweep.yaml:5: vary: fabric.switch_model.alfa: unknown key 'alfa'; did you mean 'alpha'?"
        in problems[0]
    )
    assert "sweep.yaml:8: vary: fabric.switch_model.shared_buffer: " in problems[1]
    assert "sweep.yaml:9: vary: congestion_control.profile: unknown profile 'papers'; did you" in problems[2]


def test_sweep_error_of_a_combination_says_which(folder: Path) -> None:
    (problem,) = _problems(folder, "vary:\n  fabric.switch_model.pfc_headroom: [100KB, 4MB]\n  seed: [1]\n")
    assert (
        "scenario.yaml:6: fabric.switch_model: with pfc_headroom=4MB, seed=1: headroom is larger" in problem
    )


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("", "required key 'vary' is missing"),
        ("vary: [1]\n", "sweep.yaml:4: vary: expected a mapping of keys of the scenario"),
        ("vary:\n  seed: 3\n", "sweep.yaml:5: vary.seed: expected a list of values, got 3"),
        ("vary:\n  seed: [3, 3]\n", "3 stands there twice"),
        (
            "vary:\n  workload[brst].message: [1KiB]\n",
            "'workload' has no entry 'brst'; did you mean 'burst'?",
        ),
        ("vary:\n  workload[3].message: [1KiB]\n", "'workload' has 1 entries, counted from 0; got 3"),
        ("vary:\n  'seed[': [1]\n", "expected a key of the scenario"),
        ("vary:\n  seed[0]: [1]\n", "the scenario has no list 'seed'"),
        (
            "vary:\n  fabric.switch_model: [spectrum4]\n  fabric.switch_model.alpha: [1]\n",
            "'fabric.switch_model' and 'fabric.switch_model.alpha' change the same value",
        ),
        ("set: {seed: 1}\nvary:\n  seed: [2]\n", "'seed' and 'seed' change the same value"),
        ("vary: {seed: [1]}\nmetrics: [total.packets]\n", "did you mean 'totals'?"),
        ("vary: {seed: [1]}\nmetrics: ['flows[*].bytes']\n", "add 'of': min, max, mean or sum"),
        ("vary: {seed: [1]}\nmetrics: ['flows[x].bytes']\n", "unknown flow 'x'"),
        ("vary: {seed: [1]}\nmetrics: [{path: stopped, of: sum}]\n", "leave 'of' out"),
        ("vary: {seed: [1]}\nmetrics: [totals]\n", "say what of totals: packets"),
        ("vary: {seed: [1]}\nuntill: 1ms\n", "unknown key 'untill'; did you mean 'until'?"),
        (
            "vary:\n  seed: [" + ", ".join(map(str, range(200))) + "]\n"
            "  fabric.mtu: [" + ", ".join(map(str, range(100))) + "]\n",
            "20,000 points; the most is 10,000",
        ),
    ],
)
def test_sweep_file_that_is_wrong_is_refused_with_what_was_expected(
    folder: Path, rest: str, message: str
) -> None:
    assert any(message in problem for problem in _problems(folder, rest))


def test_sweep_of_a_scenario_that_is_not_there_says_where_it_was_looked_for(tmp_path: Path) -> None:
    problems = _problems(tmp_path, "vary: {seed: [1]}\n")
    assert problems == ["sweep.yaml:3: scenario: no such file: scenario.yaml"]
