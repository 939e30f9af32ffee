# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabrictwin.cli.sweep_folder import SweepFolder
from fabrictwin.errors import InputError

KEY = "ab" * 32
RESULT = {"stopped": "idle", "flows": [{"name": "a", "goodput_bps": 1.5}]}


def _only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_folder_gives_back_what_was_kept_and_is_made_by_the_first(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path / "a" / "b")
    assert folder.find(KEY) is None
    assert not (tmp_path / "a").exists()
    folder.keep(KEY, "seed=1", RESULT)
    assert SweepFolder(tmp_path / "a" / "b").find(KEY) == RESULT
    assert folder.bad == []


def _cut(text: str) -> str:
    return text[: len(text) // 2]


def _changed(**changes: Any) -> Callable[[str], str]:
    return lambda text: json.dumps(json.loads(text) | changes)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut, "not a result"),
        (lambda text: "", "not a result"),
        (lambda text: "[]", "not a fabrictwin.sweep-point/1"),
        (_changed(schema="other/1"), "not a fabrictwin.sweep-point/1"),
        (_changed(key="cd" * 32), "of another point"),
        (_changed(result={}), "its result is not what was written"),
    ],
)
def test_folder_notices_a_file_that_is_not_whole(
    tmp_path: Path, damage: Callable[[str], str], message: str
) -> None:
    folder = SweepFolder(tmp_path)
    folder.keep(KEY, "seed=1", RESULT)
    file = _only_file(tmp_path)
    file.write_text(damage(file.read_text()))
    assert folder.find(KEY) is None
    assert message in folder.bad[0]
    folder.keep(KEY, "seed=1", RESULT)
    assert folder.find(KEY) == RESULT


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="expected a folder"):
        SweepFolder(tmp_path / "file")
