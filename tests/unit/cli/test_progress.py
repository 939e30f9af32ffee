# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.cli.progress import fabric_progress
from fabrictwin.units import PS_PER_MS


def test_progress_in_a_pipe_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with fabric_progress(PS_PER_MS) as observe:
        assert observe is None
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
