# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from fabrictwin.drills.drill import Clock, Verdict
from fabrictwin.drills.load import load_drill
from fabrictwin.drills.variant import make_negative
from fabrictwin.errors import InputError, Problem
from unit.drills.drill_files import DRILL, write_drill


def _problems(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        load_drill(path)
    return caught.value.problems


def test_drill_of_few_words_is_read_with_its_defaults(tmp_path: Path) -> None:
    drill = load_drill(write_drill(tmp_path))
    assert (drill.name, drill.clock, drill.seed) == ("cut", Clock.FABRIC, 3)
    (goodput,) = drill.hypothesis
    assert goodput.tolerance is not None
    assert goodput.tolerance.least == 100e9
    (cut,) = drill.method
    assert (cut.func, cut.after_ps) == ("inject_fault", 10**9)
    assert drill.expect.detection[0].event == "trap"


def test_seed_of_a_drill_is_that_of_its_scenario(tmp_path: Path) -> None:
    drill = load_drill(write_drill(tmp_path, ("scenario: scenario", "seed: 77\nscenario: scenario")))
    assert drill.scenario.seed == 77
    assert drill.changes == {"seed": 77}


@pytest.mark.parametrize(
    ("old", "new", "message", "field"),
    [
        ("method:", "metod:", "unknown key 'metod'; did you mean 'method'?", "metod"),
        ("flow_goodput", "flow_godput", "unknown probe 'flow_godput'; did you mean 'flow_goodput'?", "func"),
        ("inject_fault", "inject_falt", "unknown action 'inject_falt'; did you mean 'inject_fault'?", "func"),
        ("link_down", "link_dwn", "unknown kind of fault 'link_dwn'; did you mean 'link_down'?", "kind"),
        ("leaf0/3, spine0", "leaf0/3, spin0", "unknown node 'spin0'; did you mean 'spine0'?", "link"),
        ("{flow: s0}", "{flow: s9}", "unknown flow 's9'; did you mean 's0'?", "flow"),
        ("{flow: s0}", "{flow: 'x*'}", "no flow begins with 'x'", "flow"),
        ("event: trap", "event: trapp", "unknown event 'trapp'; did you mean 'trap'?", "event"),
        ("100Gb/s", "fast", "expected a rate such as", "range"),
        ("100Gb/s", "100", "expected a rate such as '100Gb/s', got 100", "range"),
        ("{type: range, range: [100Gb/s, null]}", "'yes'", "expected a rate", "tolerance"),
        ("[100Gb/s, null]", "[null, null]", "expected a least or a largest value", "range"),
        ("{action: cut}", "{action: cat}", "before this one 'cat'; did you mean 'cut'?", "action"),
        ("without: [cut]", "without: [cat]", "unknown activity 'cat'; did you mean 'cut'?", "without"),
        ("scenario.yaml", "other.yaml", "other.yaml", "scenario"),
        ("after: 1ms", "after: 1mss", "expected a time such as", "after"),
        ("title: A cable goes down", "title: A\ntitle: B", "duplicate key", "title"),
        ("link_down, link", "link_down, at: 1ms, link", "'at' is given by the drill", "at"),
    ],
)
def test_wrong_word_is_refused_with_its_line_and_what_is_near(
    tmp_path: Path, old: str, new: str, message: str, field: str
) -> None:
    path = write_drill(tmp_path, (old, new))
    problems = _problems(path)
    (found,) = [problem for problem in problems if message in problem.message]
    assert found.file == str(path)
    line = path.read_text().splitlines()[found.line - 1]
    assert field in found.field
    assert new.splitlines()[-1] in line


def test_alias_is_refused(tmp_path: Path) -> None:
    path = write_drill(tmp_path, ("title: Traffic flows", "title: &a Traffic\n  probs: *a"))
    assert any("alias '*a' is not allowed" in problem.message for problem in _problems(path))


def test_every_problem_is_shown_at_once(tmp_path: Path) -> None:
    path = write_drill(tmp_path, ("event: trap", "event: tarp"), ("{flow: s0}", "{flow: s9}"), ("1ms", "1"))
    assert len(_problems(path)) == 3


def test_drill_that_expects_nothing_is_refused(tmp_path: Path) -> None:
    expected = "  detection:\n    - {event: trap, within: 200us}\n"
    problems = _problems(write_drill(tmp_path, (expected, "  recovery: 1ms\n")))
    assert any("cannot fail" in problem.message for problem in problems)


def test_second_activity_of_a_name_is_refused(tmp_path: Path) -> None:
    problems = _problems(write_drill(tmp_path, ("name: mend", "name: cut")))
    assert [problem.message for problem in problems] == ["a second activity with the name 'cut'"]


def test_negative_leaves_out_its_activity(tmp_path: Path) -> None:
    drill = load_drill(write_drill(tmp_path))
    negative = make_negative(drill, "not-cut")
    assert negative.method == ()
    assert drill.negatives[0].verdict is Verdict.FAIL_DETECT


def test_negative_with_another_scenario_has_it(tmp_path: Path) -> None:
    path = write_drill(tmp_path, ("without: [cut]", "scenario: {subnet_manager.trap_latency: 7ms}"))
    negative = make_negative(load_drill(path), "not-cut")
    assert negative.scenario.subnet_manager.trap_latency_ps == 7 * 10**9


def test_negative_whose_scenario_is_none_is_refused(tmp_path: Path) -> None:
    path = write_drill(tmp_path, ("without: [cut]", "scenario: {routing.engine: ftre}"))
    assert any("did you mean 'ftree'?" in problem.message for problem in _problems(path))


def test_unknown_negative_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no negative 'not-cat'; did you mean 'not-cut'"):
        make_negative(load_drill(write_drill(tmp_path)), "not-cat")


def test_drill_text_holds_what_the_cases_change() -> None:
    assert DRILL.count("{flow: s0}") == 1
