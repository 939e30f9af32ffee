# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabrictwin.cli.memory import peak_rss_bytes
from fabrictwin.cli.output_file import check_folder, check_writable, write_json, write_text
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


def test_check_writable_refuses_an_input_and_the_same_file_twice(tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text("version: 1\n")
    other_name = tmp_path / "link.yaml"
    other_name.symlink_to(scenario)
    with pytest.raises(InputError) as caught:
        check_writable([other_name, tmp_path / "r", tmp_path / "." / "r"], inputs=[scenario])
    assert [problem.message for problem in caught.value.problems] == [
        "would overwrite the file that is read",
        "two outputs would be written to the same file",
    ]


def test_check_writable_names_what_the_system_says(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check_writable([Path("/proc/result.json"), tmp_path / ("x" * 300)])
    messages = [problem.message for problem in caught.value.problems]
    assert messages[0].startswith("cannot be written: ")
    assert messages[1] == "cannot be written: File name too long"
    assert list(tmp_path.iterdir()) == []


def test_check_folder_may_be_made_later_but_not_below_a_file(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "below")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="expected a folder to write to, this is a file"):
        check_folder(tmp_path / "file")
    with pytest.raises(InputError, match="cannot be written"):
        check_folder(tmp_path / "file" / "below")


def test_write_text_replaces_the_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "real").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_write_text_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(target, "half of it, and then \ud800")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.json", "old")]


def test_write_text_goes_straight_to_a_device() -> None:
    write_text(Path("/dev/null"), "gone")
    with pytest.raises(OSError, match="No space left on device"):
        write_text(Path("/dev/full"), "no room")
    assert not Path("/dev/null").is_file()
