# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabrictwin.cli.main import run

FILE = """\
Ca\t1 "H-0000000000000a00"\t\t# "a"
[1](a01) \t"H-0000000000000b00"[1] (b01) \t\t# lid 1 lmc 0 "b" lid 2 4xXDR

Ca\t2 "H-0000000000000b00"\t\t# "b"
[1](b01) \t"H-0000000000000a00"[1] (a01) \t\t# lid 2 lmc 0 "a" lid 1 4xXDR
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clusters" / "real.ibnetdiscover"
    path.parent.mkdir()
    path.write_text(FILE, encoding="ascii")
    return path


def test_import_writes_a_scenario_that_names_the_file_from_its_own_folder(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "scenarios" / "mine.yaml"
    scenario.parent.mkdir()
    assert run(["import", "ibnetdiscover", str(file), "-o", str(scenario)]) == 0
    text = scenario.read_text(encoding="utf-8")
    assert '{import: ibnetdiscover, file: "../clusters/real.ibnetdiscover"}' in text
    assert "\nname: mine\n" in text
    words = capsys.readouterr().out.split()
    assert words[:4] == ["switches", "0", "HCAs", "2"]
    assert str(scenario) in "".join(words)


def test_import_shows_the_first_warnings_and_their_number(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("ibwarn: [7] \x1b[2J\n" * 25 + FILE, encoding="ascii")
    assert run(["import", "ibnetdiscover", str(file), "-o", str(tmp_path / "s.yaml")]) == 0
    error = capsys.readouterr().err
    assert error.count("warning: ") == 20
    assert "and 5 more warnings" in error
    assert "\x1b" not in error


def test_import_json_on_standard_output_is_nothing_but_json(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("ibwarn: [7] slow\n" + FILE, encoding="ascii")
    assert run(["import", "ibnetdiscover", str(file), "-o", str(tmp_path / "s.yaml"), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": "fabrictwin.import/1",
        "file": str(file),
        "switches": 0,
        "hcas": 2,
        "links": [{"rate_bps": 800_000_000_000, "count": 1}],
        "warnings": [{"line": 1, "message": "the tool said: ibwarn: [7] slow"}],
    }


def test_import_of_garbage_returns_2_and_writes_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("hello\n", encoding="ascii")
    scenario = tmp_path / "s.yaml"
    assert run(["import", "ibnetdiscover", str(file), "-o", str(scenario)]) == 2
    assert f"error: {file}:1: not a line of ibnetdiscover output" in capsys.readouterr().err
    assert not scenario.exists()


def test_import_of_a_fabric_in_pieces_returns_2_and_writes_nothing(file: Path, tmp_path: Path) -> None:
    second = FILE.replace("a0", "e0").replace("b0", "f0")
    file.write_text(FILE + "\n" + second, encoding="ascii")
    scenario = tmp_path / "s.yaml"
    assert run(["import", "ibnetdiscover", str(file), "-o", str(scenario)]) == 2
    assert not scenario.exists()


def test_import_over_its_own_file_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "ibnetdiscover", str(file), "-o", str(file)]) == 2
    assert "would overwrite the file that is read" in capsys.readouterr().err
    assert file.read_text(encoding="ascii") == FILE


def test_import_into_a_missing_folder_returns_2(file: Path, tmp_path: Path) -> None:
    assert run(["import", "ibnetdiscover", str(file), "-o", str(tmp_path / "none" / "s.yaml")]) == 2
