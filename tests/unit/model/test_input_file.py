# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.input_file import read_bytes


def _problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_bytes(path, largest_bytes=100)
    (problem,) = caught.value.problems
    assert problem.file == str(path)
    return problem.message


def test_file_as_large_as_allowed_is_read(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 100)
    assert read_bytes(file, largest_bytes=100) == b"x" * 100


def test_file_larger_than_allowed_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "f"
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    assert _problem(file) == "is larger than 100 bytes"


def test_what_is_no_file_is_refused_without_reading(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert _problem(tmp_path / "absent") == "no such file"
    assert _problem(tmp_path) == "a folder, not a file"
    assert _problem(pipe) == "not a regular file"
    assert _problem(Path("/dev/zero")) == "not a regular file"
    assert _problem(tmp_path / "below" / ("x" * 5_000)) == "cannot be read: File name too long"
