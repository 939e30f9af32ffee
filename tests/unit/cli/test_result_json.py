# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabrictwin.cli.result_json import check_writable, peak_rss_bytes, write_json
from fabrictwin.errors import InputError


def test_check_writable_every_bad_target_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "result.json"
    with pytest.raises(InputError) as caught:
        check_writable([tmp_path, tmp_path / "good.json", missing])
    assert [problem.file for problem in caught.value.problems] == [str(tmp_path), str(missing)]
    assert "folder" in caught.value.problems[0].message
    assert "nowhere" in caught.value.problems[1].message


def test_check_writable_good_targets_pass(tmp_path: Path) -> None:
    check_writable([tmp_path / "a.json", str(tmp_path / "b.html"), "-", None])


def test_write_json_file_reads_back(tmp_path: Path) -> None:
    write_json({"digest": "ab", "name": "ü"}, str(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text()) == {"digest": "ab", "name": "ü"}


def test_write_json_dash_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"n": 1}, "-")
    assert json.loads(capsys.readouterr().out) == {"n": 1}


def test_peak_rss_bytes_is_that_of_a_python_process() -> None:
    assert 5 * 2**20 < peak_rss_bytes() < 64 * 2**30
