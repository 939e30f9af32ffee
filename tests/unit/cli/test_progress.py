# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import sys
from contextlib import suppress

import pytest

from fabrictwin.cli.progress import fabric_progress
from fabrictwin.engine.simulation import Progress
from fabrictwin.units import PS_PER_MS, PS_PER_US


def test_progress_in_a_pipe_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with fabric_progress(PS_PER_MS) as observe:
        assert observe is None
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def _shown(end_ps: int | None, columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The last line of a bar on a terminal of some width."""
    here, there = os.openpty()
    with os.fdopen(there, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        with fabric_progress(end_ps) as observe:
            assert observe is not None
            observe(Progress(0, 0))
            observe(Progress(250 * PS_PER_US, 1_000_000))
    written = _read_all(here)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    return next(line for line in reversed(re.split(r"[\r\n]", text)) if line.strip())


def _read_all(terminal: int) -> str:
    """What was written to a terminal whose other end is closed."""
    written = b""
    with os.fdopen(terminal, "rb", buffering=0) as stream, suppress(OSError):
        while part := stream.read(1 << 12):
            written += part
    return written.decode()


def test_progress_of_a_known_end_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    line = _shown(PS_PER_MS, 130, monkeypatch)
    assert "simulating" in line
    assert "250 us of 1 ms" in line
    assert "packet-hops/s" in line


def test_progress_of_work_without_a_known_end_shows_the_clock_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    line = _shown(None, 130, monkeypatch)
    assert "250 us" in line
    assert " of " not in line


@pytest.mark.parametrize("columns", [30, 59, 60, 80, 119, 120])
def test_progress_keeps_its_clock_whole_on_a_narrow_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _shown(PS_PER_MS, columns, monkeypatch)
    assert "250 us of 1 ms" in line
    assert "…" not in line
    assert len(line) <= columns
